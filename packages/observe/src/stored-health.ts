/** Adds gauges whose values are read from the database. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import { BREAKER_STATES } from '@rollcall/core/model/breaker'
import type { DeliveryHealth, ExchangeHealth, GrantOrKeyExpiry, MirrorHealth, OutboxHealth } from '@rollcall/core/model/health'
import type { SchemaLead } from '@rollcall/database/schema-version'
import { Gauge, type Registry } from 'prom-client'

/** Reads the values of the gauges from the database. */
export interface StoredHealthReader {
  /** The state of deliveries and mailboxes, for the participants with any that wait or have failed. */
  deliveries(): Promise<readonly DeliveryHealth[]>
  /** The state of the event outbox; null when unknown. */
  outbox(): Promise<OutboxHealth | null>
  /** The accepted requests that wait; null when unknown. */
  exchanges(): Promise<ExchangeHealth | null>
  /** The grants and keys of participants that end soon. */
  ends(): Promise<readonly GrantOrKeyExpiry[]>
  /** For each registry that copies its records from a live database, how far the copy is behind. */
  mirrors(): Promise<readonly MirrorHealth[]>
  /** How many versions the database is ahead of this node. */
  schema(): Promise<Pick<SchemaLead, 'ahead'>>
}

export const NO_STORED_HEALTH: StoredHealthReader = {
  deliveries: async () => [],
  outbox: async () => null,
  exchanges: async () => null,
  ends: async () => [],
  mirrors: async () => [],
  schema: async () => ({ ahead: 0 }),
}

/** Milliseconds for which a value is reused, so that all gauges of one collection share a query. */
const GAUGE_READING_REUSE_MS = 1_000

/** Milliseconds after which a gauge has no value, because the database does not answer. Prometheus waits for ten seconds. */
const LONGEST_GAUGE_READING_MS = 2_000

/** One value of a gauge, with its labels. */
interface GaugeReading {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Adds the gauges. When the database does not answer, they have no values, and all other metrics are there. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of gauges
export function addStoredHealthGauges(register: Registry, stored: StoredHealthReader, { now }: Pick<Clock, 'now'>): void {
  const once = <Row>(read: () => Promise<readonly Row[]>): (() => Promise<readonly Row[]>) => {
    const readInTime = () =>
      Promise.race([read().catch((): readonly Row[] => []), sleep<readonly Row[]>(LONGEST_GAUGE_READING_MS, [], { ref: false })])
    const { get } = createShortLivedCache(readInTime, { maxAge: GAUGE_READING_REUSE_MS, now })
    return () => get('all')
  }
  const gauge = <Row>(
    name: string,
    help: string,
    labelNames: readonly string[],
    rows: () => Promise<readonly Row[]>,
    readings: (row: Row) => readonly GaugeReading[],
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [register],
      async collect() {
        const found = await rows()
        this.reset()
        if (labelNames.length === 0 && found.length === 0) this.remove()
        for (const { labels, value } of found.flatMap(readings)) this.set(labels, value)
      },
    })
  }

  const deliveries = once(stored.deliveries)
  const ofDeliveries = (name: string, help: string, value: (health: DeliveryHealth) => number): void =>
    gauge(name, help, ['participant'], deliveries, (health) => [
      { labels: { participant: health.sender_id }, value: value(health) },
    ])
  ofDeliveries('rollcall_deliveries_pending', 'Deliveries that wait for an attempt', ({ pending }) => pending)
  ofDeliveries('rollcall_delivery_oldest_seconds', 'Age of the oldest pending delivery', ({ oldest }) => oldest)
  ofDeliveries('rollcall_deliveries_dead', 'Deliveries given up within a day', ({ dead }) => dead)
  ofDeliveries('rollcall_delivery_breaker', 'Worst breaker of its destinations: 0 closed, 1 open, 2 probing', ({ breaker }) =>
    BREAKER_STATES.indexOf(breaker),
  )
  ofDeliveries(
    'rollcall_delivery_breakers_open',
    'Destinations of the participant whose breaker is not closed',
    ({ breakers_open }) => breakers_open,
  )
  ofDeliveries(
    'rollcall_notifications_waiting',
    'Notifications that wait in mailboxes',
    ({ notifications_waiting }) => notifications_waiting,
  )
  ofDeliveries(
    'rollcall_mailboxes_closed',
    'Mailboxes closed because nothing could be delivered',
    ({ mailboxes_closed }) => mailboxes_closed,
  )

  const outbox = once(async () => listOfOneOrNone(await stored.outbox()))
  gauge(
    'rollcall_outbox_rows',
    'Rows of the outbox: waiting, or failed because they cannot be published',
    ['state'],
    outbox,
    ({ waiting, failed }) => [
      { labels: { state: 'waiting' }, value: waiting },
      { labels: { state: 'failed' }, value: failed },
    ],
  )
  const single = (value: number): readonly GaugeReading[] => [{ labels: {}, value }]
  const oldestRow = 'Age of the oldest row of the outbox that waits'
  gauge('rollcall_outbox_oldest_seconds', oldestRow, [], outbox, ({ oldest }) => single(oldest))

  const exchanges = once(async () => listOfOneOrNone(await stored.exchanges()))
  const waiting = 'Accepted requests that are due and that no node has claimed'
  gauge('rollcall_exchanges_waiting', waiting, [], exchanges, (found) => single(found.waiting))
  const oldest = 'Time since the oldest of them is due'
  gauge('rollcall_exchange_oldest_seconds', oldest, [], exchanges, (found) => single(found.oldest))

  const schema = once(async () => [await stored.schema()])
  const lead = 'Versions by which the tables of the database are ahead of this node: with 1 it works, with more it stops'
  gauge('rollcall_schema_versions_ahead', lead, [], schema, ({ ahead }) => single(ahead))

  const mirrors = once(stored.mirrors)
  const ofMirrors = (name: string, help: string, value: (health: MirrorHealth) => number | null): void =>
    gauge(name, help, ['registry'], mirrors, (health) => {
      const found = value(health)
      return found === null ? [] : [{ labels: { registry: health.namespace }, value: found }]
    })
  ofMirrors('rollcall_mirror_lag_seconds', 'Seconds for which changes of the source may be missing in its copy', ({ lag }) => lag)
  ofMirrors('rollcall_mirror_behind_rows', 'Rows that are known to have changed and are not written yet', ({ behind }) => behind)
  ofMirrors(
    'rollcall_mirror_rejected_rows',
    'Rows of the source that are no record, or not as they are now',
    ({ rejects }) => rejects,
  )
  ofMirrors('rollcall_mirror_failing', 'Whether the source cannot be followed now: 0 or 1', ({ failure }) =>
    failure === null ? 0 : 1,
  )

  const ends = once(stored.ends)
  const ofEnds = (name: string, help: string, what: GrantOrKeyExpiry['what'], label: string): void =>
    gauge(name, help, ['participant', label], ends, (end) =>
      end.what === what ? [{ labels: { participant: end.sender_id, [label]: end.of }, value: end.ends }] : [],
    )
  const soon = 'Unix time in seconds, if it is within 30 days, at which'
  ofEnds('rollcall_grant_end_seconds', `${soon} a grant ends and no other follows`, 'grant', 'registry')
  ofEnds(
    'rollcall_participant_key_end_seconds',
    `${soon} the last key of a participant for a use ends`,
    ...(['key', 'use'] as const),
  )
}

const listOfOneOrNone = <Row>(row: Row | null): readonly Row[] => (row === null ? [] : [row])
