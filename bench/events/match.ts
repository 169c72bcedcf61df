/**
 * Matching one event with stored subscriptions: how long it takes beside 10,000, 100,000 and 1,000,000 of them, and beside
 * as many that are all filed under one value.
 */

import { readStoredCriteria } from '@rollcall/core/events/criteria'
import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Registry } from '@rollcall/core/model/registry'
import { readRecordValues } from '@rollcall/core/query/memory/extract-record'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { type Kind, parseJson } from '@rollcall/protocol'
import { CompiledFilterCache, type EventToMatch, matchEvents } from '../../packages/delivery/src/events/match.ts'
import type { EventsPlan } from '../events.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import type { Row } from '../shared/results.ts'
import { median, percentile, rounded } from '../shared/statistics.ts'
import { forgetEvents } from './subscribers.ts'

/** Milliseconds of the median at the largest size, and how often that of the smallest size it may be. */
const BAR = 3
const GROWTH = 1.5

/** People to whom things happen in turns: their first events are not counted. */
const PEOPLE = 100
const ONE_VALUE_EVENTS = 5

/** Subscriptions of one place: an event concerns as many, however many subscriptions there are. */
const PER_PLACE = 10

/** Subscriptions of one sort, as SQL over `nth`. */
interface Sort {
  /** The share of the events, from and to; `nth` runs through it. */
  readonly share: readonly [from: number, to: number]
  readonly event_type: string
  readonly filter: string
  /** The parts of its key, as `filing.ts` writes them. */
  readonly key: string
  readonly whole: boolean
}

const key = (about: string, name: string, value: string): string =>
  `substring(sha256(convert_to('${about}', 'UTF8') || '\\x00' || convert_to('${name}', 'UTF8') || '\\x00'
    || convert_to(${value}, 'UTF8')) from 1 for 16)`

const identifier = { filter: `'{"uin":{"eq":"U-' || nth || '"}}'`, key: key('identifier', 'UIN', `'U-' || nth`), whole: true }
const MIXED: readonly Sort[] = [
  { ...identifier, share: [0, 0.8], event_type: 'UPDATE' },
  {
    share: [0.8, 0.95],
    event_type: 'UPDATE',
    filter: `'{"$and":[{"location":{"eq":"place ' || nth / ${PER_PLACE} || '"}},{"sex":{"eq":"' ||
      case nth % 2 when 0 then 'female' else 'male' end || '"}}]}'`,
    key: key('attribute', 'location', `'place ' || nth / ${PER_PLACE}`),
    whole: false,
  },
  { ...identifier, share: [0.95, 1], event_type: 'Death' },
]
/** All of them are candidates, and half of them match. */
const ONE_VALUE: readonly Sort[] = [
  {
    share: [0, 1],
    event_type: 'UPDATE',
    filter: `'{"$and":[{"sex":{"eq":"female"}},{"surname":{"ge":"' || case nth % 2 when 0 then 'a' else 'z' end || nth || '"}}]}'`,
    key: key('attribute', 'sex', `'female'`),
    whole: false,
  },
]

export async function match(
  { db }: BenchDatabase,
  registry: Registry,
  { size, matched }: EventsPlan,
): Promise<{ readonly rows: readonly Row[]; readonly result: object }> {
  const people = Math.min(PEOPLE, matched)
  const mixed = await measured(db, registry, MIXED, [size / 100, size / 10, size], matched, people)
  const one_value = await measured(db, registry, ONE_VALUE, [size / 10], Math.min(ONE_VALUE_EVENTS, matched), 1)
  const [smallest, largest] = [mixed[0]?.p50_ms ?? Number.NaN, mixed.at(-1)?.p50_ms ?? Number.NaN]
  const growth = rounded(largest / smallest, 2)
  const row = {
    what: `events, match beside ${size} subscriptions`,
    ours: `p50 ${largest} ms`,
    floor: `p50 ${smallest} ms beside ${size / 100}`,
    figure: `${largest} ms, ${growth} times`,
    wanted: `under ${BAR} ms, at most ${GROWTH} times`,
    passed: largest < BAR && growth <= GROWTH,
  }
  return { rows: [row], result: { mixed, one_value, growth } }
}

/** All sizes stand in one table, each in a registry of its own, and events happen to them in turns. */
async function measured(
  db: Database,
  { kind, ...registry }: Registry,
  sorts: readonly Sort[],
  sizes: readonly number[],
  events: number,
  people: number,
) {
  await forgetEvents(db)
  const sides = sizes.map((size, at) => {
    return { size, registry: { ...registry, kind, id: registry.id + at }, times: [] as number[], matches: 0 }
  })
  for (const side of sides) await fill(db, side.registry, sorts, side.size)
  await db.pool.query('vacuum analyze subscription, subscription_key')
  await checkFiled(db, kind, sorts.length)
  const compiled = new CompiledFilterCache(readStoredCriteria)
  for (let at = 0; at < people + events; at += 1) {
    for (const side of sides) {
      const matching = { registry: side.registry, day: '2026-06-15', compiled }
      const [time, found] = await matchOne(db, matching, eventOf(kind, side.size, at % people))
      if (at < people) continue
      side.times.push(time)
      side.matches += found
    }
  }
  return sides.map(({ size, times, matches }) => {
    const result = {
      subscriptions: size,
      p50_ms: rounded(median(times), 3),
      p99_ms: rounded(percentile(times, 0.99), 3),
      matches_each: rounded(matches / times.length, 1),
    }
    console.log(JSON.stringify(result))
    return result
  })
}

/** A person of the identifiers and of the places that somebody has subscribed to, who has moved there. */
function eventOf(kind: Kind, size: number, person: number): EventToMatch {
  const nth = (person * 7_919) % Math.floor(size * 0.8)
  const located = Math.floor(size * 0.8) + (nth % Math.floor(size * 0.15))
  const recordType = kind.record_types[0]
  const living = (place: number) =>
    readRecordValues(
      kind,
      recordType,
      parseJson(
        JSON.stringify({
          identifier: [{ identifier_type: 'UIN', identifier_value: `U-${nth}` }],
          name: { surname: 'Okoro', given_name: 'Ada' },
          sex: 'female',
          birth_date: '1985-05-20',
          address: { locality: `place ${Math.floor(place / PER_PLACE)}` },
        }),
      ),
    )
  return { event_type: 'UPDATE', recordType, before: living(located + PER_PLACE), after: living(located) }
}

async function matchOne(
  db: Database,
  matching: Parameters<typeof matchEvents>[1],
  event: EventToMatch,
): Promise<[milliseconds: number, matches: number]> {
  return withTransaction(db.pool, async (client) => {
    const start = performance.now()
    let found = 0
    for await (const { matches } of matchEvents(client, matching, [event])) found += matches.length
    return [performance.now() - start, found]
  })
}

async function fill(db: Database, registry: Registry, sorts: readonly Sort[], size: number): Promise<void> {
  await db.pool.query('insert into mailbox (participant, registry) values (1, $1)', [registry.id])
  for (const { share, event_type, filter, key, whole } of sorts) {
    const [from, to] = share.map((part) => Math.round(part * size))
    await db.pool.query(
      `with made as (
          insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
            transaction_id, correlation_id, reference_id)
          select 'SUB-' || $1::integer || '-' || nth, 1, $1, mailbox.id, $2, 'Person', int4send(nth),
            '{"reg_event_type":"' || $2 || '","notify_record_type":"Person","filter_type":"expression","filter":' || ${filter} || '}',
            nth::text, gen_random_uuid(), 'r'
          from mailbox, generate_series($3::integer, $4::integer - 1) as nth where mailbox.registry = $1
          returning id, transaction_id::integer as nth
        )
        insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
        select $1, $2, 'Person', ${key}, id, $5 from made`,
      [registry.id, event_type, from, to, whole],
    )
  }
}

/** The SQL files them as the server does. */
async function checkFiled(db: Database, kind: Kind, sorts: number): Promise<void> {
  const { rows } = await db.pool.query<{ criteria: string; key: Buffer; whole: boolean }>(
    `select distinct on (filed.event_type, whole) criteria, key, whole
     from subscription join subscription_key as filed on subscription = id order by filed.event_type, whole, id`,
  )
  const filed = rows.every(({ criteria, key, whole }) => {
    const [found, ...others] = keysOfFilter(readStoredCriteria(kind, criteria).predicate)
    return others.length === 0 && found?.whole === whole && key.equals(found.key)
  })
  if (!filed || rows.length !== sorts) throw new Error('the subscriptions are not filed as the server files them')
}
