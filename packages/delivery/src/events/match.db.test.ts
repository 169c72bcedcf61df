import { keysOfFilter } from '@rollcall/core/events/filing'
import type { FilterTransition } from '@rollcall/core/model/event'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { Registry } from '@rollcall/core/model/registry'
import { type RecordValues, readRecordValues } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import type { RecordType } from '@rollcall/protocol'
import fc from 'fast-check'
import type { ClientBase } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documents, named } from '../../../core/test/agreement/documents.ts'
import { everything } from '../../../core/test/agreement/everything.ts'
import { predicates } from '../../../core/test/agreement/predicates.ts'
import { TODAYS } from '../../../core/test/agreement/raw-values.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { insertSubscription, StoredFilters } from '../../test/subscriptions.ts'
import { CompiledFilterCache, type EventToMatch, matchEvents } from './match.ts'

const kind = everything
const recordType: RecordType = kind.record_types[0]
const registry: Registry = {
  id: 1,
  namespace: 'everything',
  kind,
  sender_id: 'everything.example',
  aliases: [],
  demo: false,
  environment: 'live' as const,
  time_zone: 'UTC',
  majority_age: 18,
  web_origins: [],
  reg_type_aliases: [],
  qualified_kids: false,
  own_records: true,
  source: null,
  unfilled: new Map(),
}
const EVENT = { event_type: 'UPDATE', record_type: recordType.name }

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

/** Work in a transaction that leaves nothing behind. */
async function rolledBack<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> {
  const client = await database.db.pool.connect()
  await client.query('begin')
  try {
    return await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** The presence by event and subscription, and the number of pages that matching took. */
async function matched(client: ClientBase, filters: StoredFilters, events: readonly EventToMatch[], day: string = TODAYS[0]) {
  const found = new Map<string, FilterTransition>()
  const unreadable: number[] = []
  let pages = 0
  const compiled = new CompiledFilterCache(filters.compile)
  for await (const page of matchEvents(client, { registry, day, compiled }, events)) {
    pages += 1
    unreadable.push(...page.unreadable)
    for (const { at, subscription, presence } of page.matches) {
      expect(found.has(`${at} ${subscription}`)).toBe(false)
      found.set(`${at} ${subscription}`, presence)
    }
  }
  return { found, unreadable, pages }
}

/** Every subscription's whole filter on every event. */
function obvious(
  all: readonly (readonly [id: number, predicate: Predicate | null])[],
  events: readonly EventToMatch[],
  day: string,
): Map<string, FilterTransition> {
  const found = new Map<string, FilterTransition>()
  const fulfilled = (predicate: Predicate | null, record: RecordValues | null): boolean =>
    record !== null && (predicate === null || matches(replaceAgesByDates(predicate, recordType, day), record))
  for (const [at, { before, after }] of events.entries()) {
    for (const [id, predicate] of all) {
      const [was, is] = [fulfilled(predicate, before), fulfilled(predicate, after)]
      if (was || is) found.set(`${at} ${id}`, was ? (is ? 'stayed' : 'left') : 'entered')
    }
  }
  return found
}

const extracted = documents(kind, recordType).map((document) =>
  readRecordValues(kind, recordType, named(recordType, document, 7)),
)
const change = fc.tuple(fc.option(extracted), fc.option(extracted)).map(([before, after]): EventToMatch => {
  return { event_type: EVENT.event_type, recordType, before, after }
})

test('indexed matching is the same as evaluating every subscription', { timeout: 300_000 }, async () => {
  const any = predicates(kind, recordType)
  const filters = fc.array(
    fc.oneof<fc.MaybeWeightedArbitrary<Predicate | null>[]>(
      { weight: 6, arbitrary: fc.option(any, { freq: 20 }) },
      { weight: 1, arbitrary: any.map((of): Predicate => ({ is: 'not', of })) },
      { weight: 2, arbitrary: fc.array(any, { minLength: 1, maxLength: 4 }).map((of): Predicate => ({ is: 'or', of })) },
    ),
    { minLength: 1, maxLength: 30 },
  )
  const changes = fc.array(change, { minLength: 1, maxLength: 6 })
  const agree = fc.asyncProperty(filters, changes, fc.constantFrom(...TODAYS), (given, events, day) =>
    rolledBack(async (client) => {
      const stored = new StoredFilters()
      const ids = await stored.subscribe(
        client,
        registry.id,
        given.map((predicate) => ({ ...EVENT, predicate })),
      )
      const all = ids.map((id, at) => [id, given[at] ?? null] as const)
      const { found } = await matched(client, stored, events, day)
      expect(found).toEqual(obvious(all, events, day))
    }),
  )
  await fc.assert(agree, { numRuns: 60 })
})

const text = recordType.attributes.find(({ name }) => name === 'one_folded')
const sex = recordType.attributes.find(({ name }) => name === 'sex')
if (text === undefined || sex === undefined) throw new Error('the test needs both attributes')
const female: Predicate = { is: 'compare', attribute: sex, operator: 'eq', value: 'female' }
const after = readRecordValues(kind, recordType, named(recordType, { sex: 'female', one_folded: 'Okoro' }, 7))
const event: EventToMatch = { event_type: EVENT.event_type, recordType, before: null, after }

test('100,000 subscriptions on one value, each with another remainder: page by page', { timeout: 120_000 }, async () => {
  await rolledBack(async (client) => {
    const count = 100_000
    await insertSubscription(client, registry.id, EVENT, 'none')
    const [filed] = keysOfFilter(female)
    const stored = new StoredFilters()
    for (let at = 0; at < count; at += 1) {
      const beginning = String.fromCodePoint(97 + (at % 26))
      const rest: Predicate = { is: 'compare', attribute: text, operator: 'starts_with', value: beginning }
      stored.add({ is: 'and', of: [female, rest] })
    }
    const { rows } = await client.query<{ id: number; criteria: string }>(
      `with made as (
         insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
           transaction_id, correlation_id, reference_id)
         select 'SUB-' || n, 1, registry, mailbox, event_type, record_type, decode(md5(n::text), 'hex'), n::text,
           't', gen_random_uuid(), 'r'
         from subscription, generate_series(0, $1 - 1) as n where criteria = 'none'
         returning id, registry, event_type, record_type, criteria
       ), filed as (
         insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
         select registry, event_type, record_type, $2, id, false from made
       )
       select id, criteria from made where criteria::int % 26 = ascii('o') - ascii('a')`,
      [count, filed?.key],
    )
    const { found, pages } = await matched(client, stored, [event])
    expect(found).toEqual(new Map(rows.map(({ id }) => [`0 ${id}`, 'entered'])))
    expect(pages).toBeGreaterThan(10)
  })
})

test('a filter that cannot be read any more matches nothing and is named; one without a remainder is not read', async () => {
  await rolledBack(async (client) => {
    const stored = new StoredFilters()
    const id = await insertSubscription(client, registry.id, EVENT, StoredFilters.UNREADABLE)
    const another = await insertSubscription(client, registry.id, EVENT, StoredFilters.UNREADABLE)
    await client.query(`insert into subscription_key values ($1, $2, $3, '', $4, false), ($1, $2, $3, '', $5, true)`, [
      registry.id,
      EVENT.event_type,
      EVENT.record_type,
      id,
      another,
    ])
    const { found, unreadable } = await matched(client, stored, [event])
    expect({ found, unreadable }).toEqual({ found: new Map([[`0 ${another}`, 'entered']]), unreadable: [id] })
  })
})

test('another type of event, another record type and another registry are other subscriptions', async () => {
  await rolledBack(async (client) => {
    const stored = new StoredFilters()
    await stored.subscribe(client, registry.id, [
      { ...EVENT, event_type: 'Death', predicate: null },
      { ...EVENT, record_type: 'Group', predicate: null },
    ])
    await stored.subscribe(client, registry.id + 1, [{ ...EVENT, predicate: null }])
    expect(await matched(client, stored, [event])).toEqual({ found: new Map(), unreadable: [], pages: 0 })
  })
})
