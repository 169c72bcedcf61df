/** Us and a floor, loaded in turns: short rounds, so that other work on the machine meets both sides. */

import type { Database } from '@rollcall/database/database'
import { databaseTime } from './database-time.ts'
import { type Load, type Loaded, load } from './load.ts'
import type { PlanNumber } from './options.ts'
import { databaseRow, type Row, ratioRow, writeResult } from './results.ts'
import type { ServerProcess } from './server-process.ts'
import { median, rounded } from './statistics.ts'

export interface Side {
  readonly process: ServerProcess
  /**
   * Gets a round ready: nothing that it does is measured.
   * @param requests more than the server can answer in the round
   */
  prepare(requests: number): Promise<Omit<Load, keyof LoadPlan>>
}

export interface Sides {
  readonly ours: Side
  readonly floor: Side
}

/** Numbers of a bench that loads, each an option of it. */
export const LOAD = {
  /** Seconds of a round. */
  seconds: [3, 1],
  rounds: [9, 1],
  connections: [32, 2],
  /** Requests of a round; 0: as many as are answered in its seconds. */
  requests: [0, 20],
  /**
   * Requests that a side has answered before it is measured: by then the code that it runs through is compiled. On a busy machine
   * a few seconds are far fewer requests, and the side with more code was measured while half of it was interpreted.
   */
  'warm-up': [20_000, 0],
} as const satisfies Readonly<Record<string, PlanNumber>>

type Plan = Readonly<Record<keyof typeof LOAD, number>>
type LoadPlan = Pick<Plan, 'seconds' | 'connections' | 'requests'>

interface Round extends Loaded {
  /** Processor time of the server's process, PostgreSQL's not counted. */
  readonly cpu_us_per_request: number
  /** Processor time of PostgreSQL; NaN where it cannot be read. */
  readonly database_us_per_request: number
  /** Delay of the server's event loop, in milliseconds: 99th percentile of a probe each millisecond. */
  readonly event_loop_delay_p99_ms: number
}

/** Seconds of a round before the measured ones. */
const WARM_UP_SECONDS = 3
/** More requests a second than either side answers on any machine that this was run on. */
const FAST = 10_000

/** Measures, prints and writes `<bench>.json`. */
export async function compare(
  bench: string,
  db: Database,
  sides: Sides,
  { bar, ...plan }: Plan & { readonly bar: number },
): Promise<readonly Row[]> {
  const ours = side(db, sides.ours, plan)
  const floor = side(db, sides.floor, plan)
  for (const one of [floor, ours]) {
    for (let answered = 0; answered < plan['warm-up']; ) answered += (await one(WARM_UP_SECONDS)).requests
  }
  const rounds: { ours: Round; floor: Round }[] = []
  for (let number = 1; number <= plan.rounds; number += 1) {
    const round = { floor: await floor(plan.seconds), ours: await ours(plan.seconds) }
    rounds.push(round)
    const ratio = ratioOf(round).toFixed(3)
    console.log(`round ${number}: floor ${told(round.floor)}; ours ${told(round.ours)}; ratio ${ratio}`)
  }
  const found = { ours: rounds.map((round) => round.ours), floor: rounds.map((round) => round.floor) }
  const middle = { ours: medians(found.ours), floor: medians(found.floor) }
  const ratio = rounded(median(rounds.map(ratioOf)), 2)
  console.log(`event loop delay of ours under load, p99: ${middle.ours.event_loop_delay_p99_ms} ms`)
  await writeResult(bench, { ...plan, ratio, bar, passed: ratio >= bar, median: middle, ...found })
  return [ratioRow(bench, ratio, bar, told(middle.ours), told(middle.floor)), databaseRow(bench, middle.ours, middle.floor)]
}

/** A side to be loaded round after round. */
function side(db: Database, { process, prepare }: Side, plan: Plan): (seconds: number) => Promise<Round> {
  return async (seconds) => {
    const { connections, requests } = plan
    const prepared = await prepare(requests > 0 ? requests + connections : FAST * seconds)
    const measure = async () => ({ ...(await process.usage()), database_us: await databaseTime(db) })
    const before = await measure()
    const loaded = await load({ ...prepared, connections, seconds, requests })
    const after = await measure()
    const each = (member: 'cpu_us' | 'database_us') => rounded((after[member] - before[member]) / loaded.requests, 0)
    return {
      ...loaded,
      cpu_us_per_request: each('cpu_us'),
      database_us_per_request: each('database_us'),
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
  'database_us_per_request',
  'event_loop_delay_p99_ms',
] as const satisfies readonly (keyof Round)[]

function medians(rounds: readonly Round[]): Round {
  const entries = MEMBERS.map((member) => [member, rounded(median(rounds.map((round) => round[member])), 2)])
  return Object.fromEntries(entries) as Round
}

const ratioOf = ({ ours, floor }: { ours: Round; floor: Round }): number => ours.requests_per_second / floor.requests_per_second

const told = (round: Round): string =>
  `${round.requests_per_second}/s (p50 ${round.p50_ms} ms, p99 ${round.p99_ms} ms), ` +
  `${round.cpu_us_per_request} + ${round.database_us_per_request} µs`
