/** Random subscriptions and random streams of changes, beside a model that evaluates everything. */

import { readStoredCriteria } from '@rollcall/core/events/criteria'
import { deriveEvents, RecordState } from '@rollcall/core/events/derive'
import { keysOfFilter } from '@rollcall/core/events/filing'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { canonicalJson, type JsonObject } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { insertSubscription } from '../../test/subscriptions.ts'
import { recordChanges } from './record-changes.ts'
import { compiledFiltersOf } from './recording.ts'

let database: TestDatabase
let registry: Registry
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(() => database.close())

const DAY = '2026-06-15'
const now = new Date(`${DAY}T09:00:00Z`)
const limits = DEFAULT_LIMITS
const PEOPLE = ['U-1', 'U-2']

interface Subscriber {
  readonly event: string
  readonly filter: JsonObject | null
}
/** A change of one person's record; null: it is deleted. */
interface Step {
  readonly uin: string
  readonly members: JsonObject | null
}

const uin = fc.constantFrom(...PEOPLE)
const [sex, surname] = [fc.constantFrom('F', 'M'), fc.constantFrom('Okoro', 'Ade')]
const condition: fc.Arbitrary<JsonObject> = fc.oneof(
  uin.map((eq) => ({ uin: { eq } })),
  fc.tuple(fc.constantFrom('eq', 'ne'), sex).map(([operator, value]) => ({ sex: { [operator]: value } })),
  surname.map((eq) => ({ surname: { eq } })),
  fc.constant({ age: { ge: 18 } }),
)
const filter: fc.Arbitrary<JsonObject> = fc.oneof(
  condition,
  fc
    .tuple(fc.constantFrom('$and', '$or'), fc.array(condition, { minLength: 2, maxLength: 3 }))
    .map(([word, of]) => ({ [word]: of })),
)
const subscriber = fc.record<Subscriber>({
  event: fc.constantFrom('Death', 'Death', 'UPDATE', 'REGISTER', 'Marriage'),
  filter: fc.option(filter),
})
const members = fc.record(
  {
    sex,
    name: surname.map((surname) => ({ surname })),
    birth_date: fc.constantFrom('1985-05-20', '2020-01-01'),
    death_date: fc.constantFrom('2026-06-01', '2026-06-02'),
    marriage_date: fc.constantFrom('2010-01-01', '2011-01-01'),
  },
  { requiredKeys: [] },
)
const step = fc.record<Step>({ uin, members: fc.option(members, { freq: 6 }) })

const criteriaOf = ({ event, filter }: Subscriber): string =>
  canonicalJson({ reg_event_type: event, notify_record_type: 'Person', ...(filter && { filter_type: 'expression', filter }) })
const isPerson = ({ filter }: Subscriber): boolean => filter !== null && 'uin' in filter

function stateOf(document: JsonObject | null): RecordState | null {
  return document && new RecordState(registry.kind, registry.kind.record_types[0], document)
}

interface Change {
  readonly record: string
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

/** The stream as changes; a person who is entered after a deletion is another record. */
function changesOf(steps: readonly Step[]): readonly Change[] {
  const known = new Map<string, { record: string; document: JsonObject }>()
  return steps.flatMap(({ uin, members }, at) => {
    const { record = String(at), document: before = null } = known.get(uin) ?? {}
    const after = members && { identifier: [{ identifier_type: 'UIN', identifier_value: uin }], ...members }
    if (after === null) known.delete(uin)
    else known.set(uin, { record, document: after })
    return before === null && after === null ? [] : [{ record, before, after }]
  })
}

/** The notified subscribers of each change, each as a text. */
function model(subscribers: readonly Subscriber[], changes: readonly Change[]): string[][] {
  const { kind, time_zone } = registry
  const recordType = kind.record_types[0]
  const settings = { kind, recordType, time_zone, now, birth_span: limits.birth_span }
  const filters = subscribers.map((one) => readStoredCriteria(kind, criteriaOf(one)).predicate)
  const fulfils = (at: number, state: RecordState | null): boolean => {
    const predicate = filters[at] ?? null
    return state !== null && (predicate === null || matches(replaceAgesByDates(predicate, recordType, DAY), state.extracted))
  }
  const ended = new Set<number>()
  const receivers = new Map<string, Set<number>>()
  return changes.map((change) => {
    const [before, after] = [stateOf(change.before), stateOf(change.after)]
    const isSame = canonicalJson(change.before) === canonicalJson(change.after)
    const notified: string[] = []
    for (const { event_type, correction_type } of isSame ? [] : deriveEvents(settings, { before, after })) {
      const earlier = `${event_type} ${change.record}`
      for (const [at, subscriber] of subscribers.entries()) {
        const [was, is] = [fulfils(at, before), fulfils(at, after)]
        if (correction_type !== undefined) {
          if (!receivers.get(earlier)?.has(at)) continue
          notified.push(`${at} ${correction_type} ${is ? 'stayed' : 'left'}`)
          if (correction_type === 'CANCEL') ended.delete(at)
        } else if (subscriber.event === event_type && !ended.has(at) && (was || is)) {
          notified.push(`${at} ${event_type} ${was ? (is ? 'stayed' : 'left') : 'entered'}`)
          receivers.set(earlier, (receivers.get(earlier) ?? new Set()).add(at))
          if (event_type === 'Death' && isPerson(subscriber)) ended.add(at)
        }
      }
      if (correction_type === 'CANCEL') receivers.delete(earlier)
    }
    return notified.toSorted()
  })
}

/** The same of the server, in transactions that leave nothing behind. */
async function served(subscribers: readonly Subscriber[], changes: readonly Change[]): Promise<string[][]> {
  const { pool } = database.db
  const [client, filters] = [await pool.connect(), compiledFiltersOf(pool)]
  const text = (document: JsonObject | null): string | null => document && canonicalJson(document)
  await client.query('begin')
  try {
    const ids: number[] = []
    for (const one of subscribers) {
      const criteria = criteriaOf(one)
      const filed = { event_type: one.event, record_type: 'Person', person: isPerson(one) }
      const id = await insertSubscription(client, registry.id, filed, criteria)
      const keys = keysOfFilter(readStoredCriteria(registry.kind, criteria).predicate)
      for (const { key, whole } of keys) {
        await client.query('insert into subscription_key values ($1, $2, $3, $4, $5, $6)', [
          ...[registry.id, one.event, 'Person', key, id, whole],
        ])
      }
      ids.push(id)
    }
    const notified: string[][] = []
    for (const { record, before, after } of changes) {
      const change = { record_type: 'Person', record, before: text(before), after: text(after) }
      const events = await recordChanges(client, { registry, records: recordsOf(database.db, registry), now, limits, filters }, [
        change,
      ])
      const { rows } = await client.query<{ subscription: number; event_type: string; presence: string }>(
        `select subscription, event_type, presence from notification join event on event.id = event
         where event = any($1::bigint[])`,
        [events.map(({ id }) => id)],
      )
      expect(events.reduce((sum, { matched }) => sum + matched, 0)).toBe(rows.length)
      notified.push(
        rows.map(({ subscription, event_type, presence }) => `${ids.indexOf(subscription)} ${event_type} ${presence}`).toSorted(),
      )
    }
    return notified
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('random streams of changes notify random subscriptions as the model has it', { timeout: 300_000 }, async () => {
  const subscribers = fc.array(subscriber, { minLength: 1, maxLength: 12 })
  const steps = fc.array(step, { minLength: 1, maxLength: 12 })
  const agree = fc.asyncProperty(subscribers, steps, async (given, stream) => {
    const changes = changesOf(stream)
    expect(await served(given, changes)).toEqual(model(given, changes))
  })
  await fc.assert(agree, { numRuns: 100 })
})
