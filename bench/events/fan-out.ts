/**
 * From the commit of events until their notifications are received: one event to many subscribers, and many events to one.
 * Beside it `floors/notify.ts` signs ready-made envelopes of the same sizes and posts them to the same addresses.
 */
import type { Database, Registry } from '@rollcall/server'
import type { BenchDatabase } from '../shared/bench-database.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { median, rounded } from '../shared/statistics.ts'
import { type CountingReceiver, countingReceiver } from './receiver.ts'
import { ANNOUNCE, makeEvents, makeSubscribers } from './subscribers.ts'

/** What ours must reach of the floor, in envelopes a second. */
const BAR = 0.5

export interface FanOutPlan {
  readonly rounds: number
  /** Subscribers of the one event, and events of the one subscriber. */
  readonly subscribers: number
  readonly events: number
  /** Addresses of each participant. */
  readonly addresses: number
}

interface Variant {
  readonly name: string
  /** Envelopes that the floor sends at a time: to one subscriber they go in order. */
  readonly atOnce: number
  /** Commits what is to be sent; answers how many items that are. */
  readonly publish: () => Promise<number>
}

interface Measured {
  readonly seconds: number
  readonly envelopes: number
  readonly bytes: number
}

export async function fanOut(
  { db, start }: BenchDatabase,
  registry: Registry,
  plan: FanOutPlan,
): Promise<{ readonly reached: boolean; readonly result: object }> {
  const receiver = await countingReceiver()
  const floor = await start('floors/notify.ts', { BENCH_RECEIVER: receiver.url })
  await start('servers/rollcall.ts', { ROLLCALL_ROLE: 'worker' })
  const result: Record<string, object> = {}
  let reached = true
  try {
    for (const variant of variants(db, registry, plan)) {
      const { subscribers, addresses } = plan
      const one = variant.name === 'many-to-one'
      await makeSubscribers(db, registry, receiver.url, {
        participants: one ? 1 : Math.ceil(subscribers / addresses),
        addresses: one ? 1 : addresses,
      })
      const ratios: number[] = []
      const rounds: { ours: Measured; floor: Measured }[] = []
      // The first round warms both up.
      for (let round = 0; round <= plan.rounds; round += 1) {
        const ours = await measureOurs(receiver, variant)
        const beside = await measureFloor(receiver, floor, ours, variant.atOnce)
        if (round === 0) continue
        rounds.push({ ours, floor: beside })
        ratios.push(rate(ours) / rate(beside))
      }
      const ratio = rounded(median(ratios), 2)
      reached &&= ratio >= BAR
      const [ours, beside] = [
        median(rounds.map((one) => rate(one.ours))),
        median(rounds.map((one) => rate(one.floor))),
      ]
      console.log(
        `${variant.name}: ${Math.round(ours)} envelopes a second, floor ${Math.round(beside)}, ratio ${ratio} (bar ${BAR})`,
      )
      result[variant.name] = { ratio, bar: BAR, envelopes_a_second: ours, floor: beside, rounds }
    }
  } finally {
    await receiver.close()
  }
  return { reached, result }
}

const rate = ({ envelopes, seconds }: Measured): number => envelopes / seconds

function variants(db: Database, registry: Registry, { events }: FanOutPlan): readonly Variant[] {
  return [
    { name: 'one-to-many', atOnce: 96, publish: () => publish(db, registry, 1) },
    { name: 'many-to-one', atOnce: 1, publish: () => publish(db, registry, events) },
  ]
}

/** Each event to each subscriber, in one transaction. */
async function publish(db: Database, registry: Registry, count: number): Promise<number> {
  const events = await makeEvents(db, registry, count)
  const { rowCount } = await db.pool.query(
    `insert into notification (mailbox, event, subscription, presence, due_at)
      select mailbox, event, subscription.id, 'entered', statement_timestamp()
      from unnest($1::bigint[]) with ordinality as told (event, nth), subscription order by nth, subscription.id`,
    [events],
  )
  await db.pool.query(ANNOUNCE)
  return rowCount ?? 0
}

async function measureOurs(receiver: CountingReceiver, { publish }: Variant): Promise<Measured> {
  receiver.begin()
  const items = await publish()
  const committed = performance.now()
  const at = await receiver.awaitItems(items)
  return { seconds: (at - committed) / 1_000, ...receiver.counted() }
}

async function measureFloor(
  receiver: CountingReceiver,
  floor: ServerProcess,
  { envelopes, bytes }: Measured,
  atOnce: number,
): Promise<Measured> {
  receiver.begin()
  const size = Math.round(bytes / envelopes)
  const query = new URLSearchParams({
    envelopes: String(envelopes),
    size: String(size),
    at_once: String(atOnce),
  })
  const began = performance.now()
  const response = await fetch(`${floor.url}/send?${query}`, { method: 'POST' })
  if (!response.ok) throw new Error('the floor failed')
  const at = await receiver.awaitItems(envelopes)
  return { seconds: (at - began) / 1_000, ...receiver.counted() }
}
