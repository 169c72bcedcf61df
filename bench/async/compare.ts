/** Us and a floor answering later, in turns: what each round measures, how rounds are summed up and told. */
import type { Database } from '@rollcall/database/database'
import { databaseTime } from '../shared/database-time.ts'
import { databaseRow, type Row, ratioRow, writeResult } from '../shared/results.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { median, rounded } from '../shared/statistics.ts'
import type { Receiver } from './receiver.ts'
import { flood, inFlight, oneByOne, type Question, senderTo, within } from './send.ts'

export interface Plan {
  readonly rounds: number
  /** The number of requests sent as fast as they are accepted, and again with `connections` in flight. */
  readonly requests: number
  /** The number of requests that are sent one by one. */
  readonly idle: number
  readonly connections: number
  /** Rounds that are not counted. */
  readonly 'warm-up': number
}

export interface Side {
  readonly process: ServerProcess
  readonly url: string
  headers(): Promise<Record<string, string>>
}

/** A way to ask, which is compared with others. */
export interface Variant {
  readonly name: string
  readonly ours: Side
  readonly floor: Side
  questions(count: number): Promise<readonly Question[]>
}

/** Conditions under which both sides run. */
interface Around {
  readonly db: Database
  readonly receiver: Receiver
}

const MEMBERS = [
  'accepted_per_second',
  'ack_p50_ms',
  'ack_p99_ms',
  'delivered_per_second',
  'cpu_us_per_request',
  'database_us_per_request',
  'in_flight_per_second',
  'in_flight_p50_ms',
  'in_flight_p99_ms',
  'idle_p50_ms',
  'idle_p99_ms',
] as const
type Round = Readonly<Record<(typeof MEMBERS)[number], number>>

/** Milliseconds from request to callback, one request at a time, that ours may take in the median. */
const IDLE_BAR = 10
/** Seconds for a part of a round. */
const PATIENCE = 120

/**
 * Measures, prints and writes `async.json`.
 * @param bar the least share of the floor's rate that is wanted
 */
export async function compareVariants(
  variants: readonly Variant[],
  bar: number,
  { db, receiver }: Around,
  { rounds, ...plan }: Plan,
): Promise<readonly Row[]> {
  const found = variants.map((variant) => ({ variant, ours: [] as Round[], floor: [] as Round[] }))
  for (let number = 1 - plan['warm-up']; number <= rounds; number += 1) {
    for (const { variant, ours, floor } of found) {
      const sides = {
        floor: await measure(variant, variant.floor, { db, receiver }, plan),
        ours: await measure(variant, variant.ours, { db, receiver }, plan),
      }
      if (number < 1) continue
      floor.push(sides.floor)
      ours.push(sides.ours)
      console.log(`round ${number}, ${variant.name}`)
      for (const [side, round] of Object.entries(sides)) console.log(`  ${side.padEnd(6)}${told(round)}`)
    }
  }
  const summed = found.map(({ variant, ours, floor }) => summary(variant, ours, floor))
  await writeResult('async', { ...plan, rounds, bar, idle_bar_ms: IDLE_BAR, variants: summed })
  return summed.flatMap((variant) => rowsOf(variant, bar, plan))
}

function rowsOf(
  { name, ratios, median: { ours, floor } }: ReturnType<typeof summary>,
  bar: number,
  plan: Omit<Plan, 'rounds'>,
): Row[] {
  const delivered = (round: Round) =>
    `${round.delivered_per_second}/s, ${round.cpu_us_per_request} + ${round.database_us_per_request} µs`
  const flown = (round: Round) => `${round.in_flight_per_second}/s (p50 ${round.in_flight_p50_ms} ms)`
  return [
    ratioRow(`async, ${name}`, ratios.delivered, bar, delivered(ours), delivered(floor)),
    databaseRow(`async, ${name}`, ours, floor),
    ratioRow(`async, ${name}, ${plan.connections} in flight`, ratios.in_flight, bar, flown(ours), flown(floor)),
    {
      what: `async, ${name}, one at a time`,
      ours: `p50 ${ours.idle_p50_ms} ms`,
      floor: `p50 ${floor.idle_p50_ms} ms`,
      figure: `${ours.idle_p50_ms} ms`,
      wanted: `under ${IDLE_BAR} ms`,
      passed: ours.idle_p50_ms < IDLE_BAR,
    },
  ]
}

async function measure(
  variant: Variant,
  { process, url, headers }: Side,
  { db, receiver }: Around,
  { requests, idle, connections }: Omit<Plan, 'rounds'>,
): Promise<Round> {
  const [flooding, flying, single] = [
    await variant.questions(requests),
    await variant.questions(requests),
    await variant.questions(idle),
  ]
  const sender = senderTo(url, { headers: await headers(), connections, receiver })
  const used = async () => ({ ...(await process.usage()), database_us: await databaseTime(db) })
  const before = await used()
  const flooded = await within(PATIENCE, receiver, flood(sender, flooding, connections))
  const after = await used()
  const flown = await within(PATIENCE, receiver, inFlight(sender, flying, connections))
  const alone = await within(PATIENCE, receiver, oneByOne(sender, single))
  await sender.close()
  return {
    ...flooded,
    cpu_us_per_request: rounded((after.cpu_us - before.cpu_us) / requests, 0),
    database_us_per_request: rounded((after.database_us - before.database_us) / requests, 0),
    in_flight_per_second: flown.per_second,
    in_flight_p50_ms: flown.p50_ms,
    in_flight_p99_ms: flown.p99_ms,
    idle_p50_ms: alone.p50_ms,
    idle_p99_ms: alone.p99_ms,
  }
}

function summary({ name }: Variant, ours: readonly Round[], floor: readonly Round[]) {
  const middle = { floor: medians(floor), ours: medians(ours) }
  const ratioOf = (member: keyof Round): number =>
    rounded(median(ours.map((round, at) => round[member] / (floor[at]?.[member] ?? Number.NaN))), 2)
  const ratios = {
    accepted: ratioOf('accepted_per_second'),
    delivered: ratioOf('delivered_per_second'),
    in_flight: ratioOf('in_flight_per_second'),
  }
  return { name, ratios, median: middle, ours, floor }
}

function medians(rounds: readonly Round[]): Round {
  const entries = MEMBERS.map((member) => [member, rounded(median(rounds.map((round) => round[member])), 2)])
  return Object.fromEntries(entries) as Round
}

function told(round: Round): string {
  const accepted = `accepted ${round.accepted_per_second}/s (p50 ${round.ack_p50_ms} ms, p99 ${round.ack_p99_ms} ms)`
  const delivered = `delivered ${round.delivered_per_second}/s (${round.cpu_us_per_request} + ${round.database_us_per_request} µs)`
  const flown = `in flight ${round.in_flight_per_second}/s (p50 ${round.in_flight_p50_ms} ms, p99 ${round.in_flight_p99_ms} ms)`
  return `${accepted}; ${delivered}; ${flown}; idle p50 ${round.idle_p50_ms} ms, p99 ${round.idle_p99_ms} ms`
}
