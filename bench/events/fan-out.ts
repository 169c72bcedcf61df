/**
 * From the commit of events until their notifications are received: one event to many subscribers, and many events to one.
 * Beside it `floors/notify.ts` posts ready-made envelopes of the same sizes to the same addresses: with a job of graphile-worker for
 * each, and without.
 */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { referenceIdSql } from '../../packages/delivery/src/store/events/events.ts'
import { makeFloorDatabase } from '../async/floor-database.ts'
import type { EventsPlan } from '../events.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { databaseTime } from '../shared/database-time.ts'
import { databaseRow, type Row, ratioRow } from '../shared/results.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { median, rounded } from '../shared/statistics.ts'
import { type CountingReceiver, countingReceiver } from './receiver.ts'
import { ANNOUNCE, makeEvents, makeSubscribers } from './subscribers.ts'

interface Variant {
  readonly name: string
  /** The least share of the rate of the floor with jobs that ours must reach, in envelopes a second. */
  readonly bar: number
  /** Envelopes that the floor sends at a time: to one subscriber they go in order. */
  readonly atOnce: number
  /** The number of published events; each goes to each subscriber. */
  readonly events: number
}

interface Measured {
  readonly seconds: number
  readonly envelopes: number
  readonly bytes: number
  /** Microseconds of processor time of the sending process for each envelope, and of PostgreSQL. */
  readonly cpu_us: number
  readonly database_us: number
}

export async function fanOut(
  { db, owner, start }: BenchDatabase,
  registry: Registry,
  plan: EventsPlan,
): Promise<{ readonly rows: readonly Row[]; readonly result: object }> {
  await makeFloorDatabase(db, owner, 1)
  const receiver = await countingReceiver()
  const floor = await start('floors/notify', { BENCH_RECEIVER: receiver.url })
  const worker = await start('servers/rollcall', { ROLLCALL_ROLE: 'worker' })
  const sides = { db, registry, receiver, worker, floor }
  const result: Record<string, object> = {}
  const rows: Row[] = []
  try {
    for (const variant of variants(plan)) {
      const { subscribers, addresses } = plan
      const one = variant.name === 'many-to-one'
      await makeSubscribers(db, registry, receiver.url, {
        participants: one ? 1 : Math.ceil(subscribers / addresses),
        addresses: one ? 1 : addresses,
      })
      const rounds: { ours: Measured; jobs: Measured; posts: Measured }[] = []
      for (let round = 1 - plan['warm-up']; round <= plan.rounds; round += 1) {
        const ours = await measureOurs(sides, variant)
        const jobs = await measureFloor(sides, ours, variant.atOnce, 'jobs')
        const posts = await measureFloor(sides, ours, variant.atOnce, 'send')
        if (round >= 1) rounds.push({ ours, jobs, posts })
      }
      const ratioTo = (side: 'jobs' | 'posts') => rounded(median(rounds.map((each) => rate(each.ours) / rate(each[side]))), 2)
      const ratio = ratioTo('jobs')
      const ours = middleOf(rounds.map((each) => each.ours))
      const jobs = middleOf(rounds.map((each) => each.jobs))
      const posts = middleOf(rounds.map((each) => each.posts))
      const what = `events, ${variant.name}`
      rows.push(ratioRow(what, ratio, variant.bar, described(ours), described(jobs)), databaseRow(what, used(ours), used(jobs)), {
        what: `${what}, a bare POST`,
        ours: '',
        floor: described(posts),
        figure: ratioTo('posts'),
        wanted: '',
        passed: true,
      })
      result[variant.name] = { ratio, bar: variant.bar, ours, floor: jobs, posts, rounds }
    }
  } finally {
    await receiver.close()
  }
  return { rows, result }
}

interface Sides {
  readonly db: Database
  readonly registry: Registry
  readonly receiver: CountingReceiver
  readonly worker: ServerProcess
  readonly floor: ServerProcess
}

/** The medians of rounds. */
function middleOf(rounds: readonly Measured[]) {
  const of = (value: (round: Measured) => number): number => Math.round(median(rounds.map(value)))
  return {
    envelopes_a_second: of(rate),
    envelopes: of(({ envelopes }) => envelopes),
    bytes: of(({ bytes, envelopes }) => bytes / envelopes),
    cpu_us: of(({ cpu_us }) => cpu_us),
    database_us: of(({ database_us }) => database_us),
  }
}

const described = ({ envelopes_a_second, bytes, cpu_us, database_us }: ReturnType<typeof middleOf>): string =>
  `${envelopes_a_second} envelopes/s of ${bytes} bytes, ${cpu_us} + ${database_us} µs`

const used = ({ database_us }: ReturnType<typeof middleOf>) => ({ database_us_per_request: database_us })

const rate = ({ envelopes, seconds }: Measured): number => envelopes / seconds

const variants = ({ events, variants: wanted }: EventsPlan): readonly Variant[] =>
  [
    { name: 'one-to-many', bar: 1, atOnce: 96, events: 1 },
    { name: 'many-to-one', bar: 0.5, atOnce: 1, events },
  ].filter(({ name }) => wanted?.includes(name) ?? true)

/**
 * Each event to each subscriber, in one transaction.
 * @param before what is measured right before its commit
 */
async function publish<Before>(
  db: Database,
  registry: Registry,
  count: number,
  before: () => Promise<Before>,
): Promise<{ readonly items: number; readonly before: Before; readonly committed: number }> {
  const events = await makeEvents(db, registry, count)
  const client = await db.pool.connect()
  try {
    await client.query('begin')
    const { rowCount } = await client.query(
      `insert into notification (mailbox, event, subscription, presence, reference_id, due_at)
        select mailbox.id, told.event, subscription.id, 'entered', ${referenceIdSql('mailbox', 'told.event')}, statement_timestamp()
        from unnest($1::bigint[]) with ordinality as told (event, nth),
          subscription join mailbox on mailbox.id = subscription.mailbox
        order by nth, subscription.id`,
      [events],
    )
    await client.query(ANNOUNCE)
    const measured = await before()
    const committed = performance.now()
    await client.query('commit')
    return { items: rowCount ?? 0, before: measured, committed }
  } finally {
    client.release()
  }
}

async function measureOurs({ db, registry, receiver, worker }: Sides, { events }: Variant): Promise<Measured> {
  const used = async () => ({ worker: (await worker.usage()).cpu_us, database: await databaseTime(db) })
  receiver.begin()
  const { items, before, committed } = await publish(db, registry, events, used)
  const at = await receiver.awaitItems(items)
  const after = await used()
  const { envelopes, bytes } = receiver.counted()
  return {
    seconds: (at - committed) / 1_000,
    envelopes,
    bytes,
    cpu_us: (after.worker - before.worker) / envelopes,
    database_us: (after.database - before.database) / envelopes,
  }
}

async function measureFloor(
  { db, receiver, floor }: Sides,
  { envelopes, bytes }: Measured,
  atOnce: number,
  path: 'jobs' | 'send',
): Promise<Measured> {
  const size = Math.round(bytes / envelopes)
  const query = new URLSearchParams({ envelopes: String(envelopes), size: String(size), at_once: String(atOnce) })
  const call = async (called: string): Promise<void> => {
    const response = await fetch(`${floor.url}/${called}?${query}`, { method: 'POST' })
    if (!response.ok) throw new Error('the floor failed')
  }
  if (path === 'jobs') await call('envelopes')
  const used = async () => ({ floor: (await floor.usage()).cpu_us, database: await databaseTime(db) })
  receiver.begin()
  const before = await used()
  const began = performance.now()
  await call(path)
  const at = await receiver.awaitItems(envelopes)
  const after = await used()
  const sent = receiver.counted()
  return {
    seconds: (at - began) / 1_000,
    envelopes: sent.envelopes,
    bytes: sent.bytes,
    database_us: (after.database - before.database) / sent.envelopes,
    cpu_us: (after.floor - before.floor) / sent.envelopes,
  }
}
