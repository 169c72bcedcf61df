/** Us and a floor, loaded in turns: short rounds, so that other work on the machine meets both sides. */
import { type Load, type Loaded, load } from './load.ts'
import { writeResult } from './results.ts'
import type { ServerProcess } from './server-process.ts'
import { median, rounded } from './statistics.ts'

export interface Side {
  readonly process: ServerProcess
  /**
   * Gets a round ready: nothing that it does is measured.
   * @param requests more than the server can answer in the round
   */
  prepare(requests: number): Promise<Omit<Load, 'seconds' | 'connections'>>
}

export interface Sides {
  readonly ours: Side
  readonly floor: Side
}

export interface Plan {
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
}

interface Round extends Loaded {
  /** Processor time of the server's process, PostgreSQL's not counted. */
  readonly cpu_us_per_request: number
  /** How late the server's event loop came to its work, 99th percentile of a probe each millisecond. */
  readonly event_loop_delay_p99_ms: number
}

/** Seconds of a round before the measured ones. */
const WARM_UP_SECONDS = 3
/**
 * Requests that a side has answered before it is measured: by then the code that it runs through is compiled. On a busy machine a
 * few seconds are far fewer requests, and the side with more code was measured while half of it was interpreted.
 */
const WARM_UP_REQUESTS = 20_000
/** More requests a second than either side answers on any machine that this was run on. */
const FAST = 10_000

/** Measures, prints and writes `bench/results/<bench>.json`; false when ours is slower than `bar` times the floor. */
export async function compare(
  bench: string,
  sides: Sides,
  { bar, ...plan }: Plan & { readonly bar: number },
): Promise<boolean> {
  const ours = side(sides.ours, plan)
  const floor = side(sides.floor, plan)
  await warmUp(floor)
  await warmUp(ours)
  const rounds: { ours: Round; floor: Round }[] = []
  for (let number = 1; number <= plan.rounds; number += 1) {
    const round = { floor: await floor(plan.seconds), ours: await ours(plan.seconds) }
    rounds.push(round)
    const ratio = ratioOf(round).toFixed(3)
    console.log(`round ${number}: floor ${told(round.floor)}; ours ${told(round.ours)}; ratio ${ratio}`)
  }
  const found = { ours: rounds.map((round) => round.ours), floor: rounds.map((round) => round.floor) }
  const middle = { ours: medians(found.ours), floor: medians(found.floor) }
  const ratio = rounded(median(rounds.map(ratioOf)), 3)
  const passed = ratio >= bar
  console.log(`median: floor ${told(middle.floor)}; ours ${told(middle.ours)}`)
  console.log(`event loop delay of ours under load, p99: ${middle.ours.event_loop_delay_p99_ms} ms`)
  console.log(`ratio ${ratio.toFixed(2)}, at least ${bar} is wanted: ${passed ? 'passed' : 'MISSED'}`)
  await writeResult(bench, { ...plan, ratio, bar, passed, median: middle, ...found })
  return passed
}

async function warmUp(round: (seconds: number) => Promise<Round>): Promise<void> {
  let answered = 0
  while (answered < WARM_UP_REQUESTS) answered += (await round(WARM_UP_SECONDS)).requests
}

/** A side to be loaded round after round. */
function side({ process, prepare }: Side, { connections }: Plan): (seconds: number) => Promise<Round> {
  return async (seconds) => {
    const prepared = await prepare(FAST * seconds)
    const before = await process.usage()
    const loaded = await load({ ...prepared, connections, seconds })
    const after = await process.usage()
    return {
      ...loaded,
      cpu_us_per_request: rounded((after.cpu_us - before.cpu_us) / loaded.requests, 0),
      event_loop_delay_p99_ms: rounded(after.event_loop_delay_p99_ms, 2),
    }
  }
}

const MEMBERS = [
  'requests',
  'requests_per_second',
  'p50_ms',
  'p99_ms',
  'cpu_us_per_request',
  'event_loop_delay_p99_ms',
] as const satisfies readonly (keyof Round)[]

function medians(rounds: readonly Round[]): Round {
  const entries = MEMBERS.map((member) => [member, rounded(median(rounds.map((round) => round[member])), 2)])
  return Object.fromEntries(entries) as Round
}

const ratioOf = ({ ours, floor }: { ours: Round; floor: Round }): number =>
  ours.requests_per_second / floor.requests_per_second

function told({ requests_per_second, p50_ms, p99_ms, cpu_us_per_request }: Round): string {
  return `${requests_per_second}/s (p50 ${p50_ms} ms, p99 ${p99_ms} ms, ${cpu_us_per_request} µs of processor each)`
}
