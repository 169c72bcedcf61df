/** Us and a floor answering later, in turns: what each round measures, how rounds are summed up and told. */
import { writeResult } from '../shared/results.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { median, rounded } from '../shared/statistics.ts'
import type { Receiver } from './receiver.ts'
import { flood, inFlight, oneByOne, type Question, senderTo, within } from './send.ts'

export interface Plan {
  readonly rounds: number
  /** As fast as they are accepted, and so many again with `connections` of them in flight. */
  readonly requests: number
  /** One by one. */
  readonly idle: number
  readonly connections: number
}

export interface Side {
  readonly process: ServerProcess
  readonly url: string
  headers(): Promise<Record<string, string>>
}

/** One way to ask, and the least share of the floor's rate that is wanted. */
export interface Variant {
  readonly name: string
  readonly bar: number
  readonly ours: Side
  readonly floor: Side
  questions(count: number): Promise<readonly Question[]>
}

const MEMBERS = [
  'accepted_per_second',
  'ack_p50_ms',
  'ack_p99_ms',
  'delivered_per_second',
  'cpu_us_per_request',
  'in_flight_per_second',
  'in_flight_p50_ms',
  'in_flight_p99_ms',
  'idle_p50_ms',
  'idle_p99_ms',
] as const
type Round = Readonly<Record<(typeof MEMBERS)[number], number>>

/** Milliseconds from request to callback, one request at a time, that ours may take in the median. */
const IDLE_BAR = 30
/** Seconds for a part of a round. */
const PATIENCE = 120

/** Measures, prints and writes `bench/results/async.json`; false when a bar is missed. */
export async function compareVariants(
  variants: readonly Variant[],
  receiver: Receiver,
  { rounds, ...plan }: Plan,
): Promise<boolean> {
  const found = variants.map((variant) => ({ variant, ours: [] as Round[], floor: [] as Round[] }))
  for (let number = 0; number <= rounds; number += 1) {
    for (const { variant, ours, floor } of found) {
      const sides = {
        floor: await measure(variant, variant.floor, receiver, plan),
        ours: await measure(variant, variant.ours, receiver, plan),
      }
      // The first one warms both up.
      if (number === 0) continue
      floor.push(sides.floor)
      ours.push(sides.ours)
      console.log(`round ${number}, ${variant.name}`)
      for (const [side, round] of Object.entries(sides)) console.log(`  ${side.padEnd(6)}${told(round)}`)
    }
  }
  const summed = found.map(({ variant, ours, floor }) => summary(variant, ours, floor))
  for (const { name, median: middle, ratios, bar, passed } of summed) {
    console.log(`median, ${name}`)
    for (const [side, round] of Object.entries(middle)) console.log(`  ${side.padEnd(6)}${told(round)}`)
    const ratio = `${ratios.delivered.toFixed(2)}, with ${plan.connections} in flight ${ratios.in_flight.toFixed(2)}`
    console.log(`  ratio: accepted ${ratios.accepted.toFixed(2)}; delivered ${ratio}`)
    console.log(`  at least ${bar} of both, and an idle median under ${IDLE_BAR} ms: ${passed ? 'passed' : 'MISSED'}`)
  }
  const passed = summed.every((variant) => variant.passed)
  await writeResult('async', { ...plan, rounds, idle_bar_ms: IDLE_BAR, passed, variants: summed })
  return passed
}

async function measure(
  variant: Variant,
  { process, url, headers }: Side,
  receiver: Receiver,
  { requests, idle, connections }: Omit<Plan, 'rounds'>,
): Promise<Round> {
  const [flooding, flying, single] = [
    await variant.questions(requests),
    await variant.questions(requests),
    await variant.questions(idle),
  ]
  const sender = senderTo(url, { headers: await headers(), connections, receiver })
  const before = await process.usage()
  const flooded = await within(PATIENCE, receiver, flood(sender, flooding, connections))
  const after = await process.usage()
  const flown = await within(PATIENCE, receiver, inFlight(sender, flying, connections))
  const alone = await within(PATIENCE, receiver, oneByOne(sender, single))
  await sender.close()
  return {
    ...flooded,
    cpu_us_per_request: rounded((after.cpu_us - before.cpu_us) / requests, 0),
    in_flight_per_second: flown.per_second,
    in_flight_p50_ms: flown.p50_ms,
    in_flight_p99_ms: flown.p99_ms,
    idle_p50_ms: alone.p50_ms,
    idle_p99_ms: alone.p99_ms,
  }
}

function summary({ name, bar }: Variant, ours: readonly Round[], floor: readonly Round[]) {
  const middle = { floor: medians(floor), ours: medians(ours) }
  const ratioOf = (member: keyof Round): number =>
    rounded(median(ours.map((round, at) => round[member] / (floor[at]?.[member] ?? Number.NaN))), 3)
  const ratios = {
    accepted: ratioOf('accepted_per_second'),
    delivered: ratioOf('delivered_per_second'),
    in_flight: ratioOf('in_flight_per_second'),
  }
  const fast = ratios.delivered >= bar && ratios.in_flight >= bar
  const passed = fast && middle.ours.idle_p50_ms < IDLE_BAR
  return { name, bar, ratios, passed, median: middle, ours, floor }
}

function medians(rounds: readonly Round[]): Round {
  const entries = MEMBERS.map((member) => [member, rounded(median(rounds.map((round) => round[member])), 2)])
  return Object.fromEntries(entries) as Round
}

function told(round: Round): string {
  const accepted = `accepted ${round.accepted_per_second}/s (p50 ${round.ack_p50_ms} ms, p99 ${round.ack_p99_ms} ms)`
  const delivered = `delivered ${round.delivered_per_second}/s (${round.cpu_us_per_request} µs of processor each)`
  const flown = `in flight ${round.in_flight_per_second}/s (p50 ${round.in_flight_p50_ms} ms, p99 ${round.in_flight_p99_ms} ms)`
  return `${accepted}; ${delivered}; ${flown}; idle p50 ${round.idle_p50_ms} ms, p99 ${round.idle_p99_ms} ms`
}
