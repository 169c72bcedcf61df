/**
 * Whether one bad partner hurts the others: nine participants whose requests are answered by callbacks, with and
 * without a tenth whose receiver hangs, or is slow, in phases that take turns. docs/benchmarks.md says more.
 *
 *     npm run bench -- fairness --data /var/tmp/rollcall-bench
 */
import { type Phase, phases } from './async/phases.ts'
import { startReceiver } from './async/receiver.ts'
import { type Called, DEFAULT_CALLBACKS, registerCalled, searchAddress, startRollcall } from './async/setting.ts'
import { filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { endless } from './search/setting.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'
import { median, rounded } from './shared/statistics.ts'

const NUMBERS = {
  records: [100_000, 50],
  rounds: [6, 1],
  /** Milliseconds of a phase. */
  milliseconds: [8_000, 1],
  'in-flight': [2, 2],
  /** Milliseconds until what was begun for a tenth is over: every attempt, and what comes of a request. */
  over: [2_500, 1],
} as const

/** The most that a tenth participant may change for the others. */
const BARS = { throughput: 1.2, p50: 1.2, p99: 2, p99_ms: 50 }
const HEALTHY = 9
const BAD = ['hangs', 'slow'] as const

/** Measures, prints and writes `fairness.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { records, rounds, milliseconds, over } = plan
  const receiver = await startReceiver()
  try {
    return await withBenchDatabase(place, async (database) => {
      const { db } = database
      const identifiers = endless(await shuffledIdentifiers(db, await filledRegistry(db, records)))
      const rollcall = await startRollcall(database)
      const register = (name: string): Promise<Called> =>
        registerCalled(db, rollcall, receiver, `${name}.bench.example`, DEFAULT_CALLBACKS)
      const healthy: Called[] = []
      for (let number = 1; number <= HEALTHY; number += 1) healthy.push(await register(`healthy-${number}`))
      const url = searchAddress(rollcall)
      const inFlight = plan['in-flight']
      const run = phases({ db, receiver, url, identifiers, healthy, milliseconds, inFlight, over })

      const runBeside = async (manner: Bad): Promise<Phase> => {
        // Another one each time: that it is bad has to be found out anew.
        const tenth = await register(`${manner}-${Date.now()}`)
        receiver.behave(tenth.sender_id, manner)
        return run(tenth)
      }
      const found: Record<Bad, Pair[]> = { hangs: [], slow: [] }
      // The first one warms up.
      await run(null)
      for (let round = 1; round <= rounds; round += 1) {
        console.log(`round ${round}`)
        for (const manner of BAD) {
          const badFirst = round % 2 === 0
          const pair = await inTurns(badFirst, run, () => runBeside(manner))
          found[manner].push(pair)
          console.log(`  without  ${told(pair.without)}\n  ${manner.padEnd(9)}${told(pair.beside)}`)
        }
      }
      // The node would wait for the last of them when it stops.
      receiver.hangUp()
      return await judge(found, plan)
    })
  } finally {
    await receiver.close()
  }
}

type Bad = (typeof BAD)[number]

/** Two phases that follow each other directly. */
interface Pair {
  readonly without: Phase
  readonly beside: Phase
}

/** Runs both phases in the given order. Callers alternate the order, so that other load of the machine affects both. */
async function inTurns(badFirst: boolean, run: (tenth: null) => Promise<Phase>, runBeside: () => Promise<Phase>): Promise<Pair> {
  if (!badFirst) return { without: await run(null), beside: await runBeside() }
  const beside = await runBeside()
  return { without: await run(null), beside }
}

async function judge(found: Record<Bad, readonly Pair[]>, plan: object): Promise<readonly Row[]> {
  const changes = BAD.map((manner) => {
    const middle = (change: (pair: Pair) => number): number => median(found[manner].map(change))
    const change = {
      throughput: rounded(
        middle(({ without, beside }) => without.per_second / beside.per_second),
        2,
      ),
      p50: rounded(
        middle(({ without, beside }) => beside.p50_ms / without.p50_ms),
        2,
      ),
      p99: rounded(
        middle(({ without, beside }) => beside.p99_ms / without.p99_ms),
        2,
      ),
      p99_ms: rounded(
        middle(({ without, beside }) => beside.p99_ms - without.p99_ms),
        1,
      ),
    }
    const passed =
      change.throughput < BARS.throughput && change.p50 < BARS.p50 && (change.p99 < BARS.p99 || change.p99_ms < BARS.p99_ms)
    return { manner, ...change, passed }
  })
  await writeResult('fairness', { ...plan, healthy: HEALTHY, bars: BARS, changes, found })
  return changes.map(({ manner, throughput, p50, p99, p99_ms, passed }) => {
    const beside = median(found[manner].map(({ beside }) => beside.per_second))
    const without = median(found[manner].map(({ without }) => without.per_second))
    return {
      what: `fairness, the tenth ${manner === 'hangs' ? 'hangs' : 'is slow'}`,
      ours: `${rounded(beside, 0)}/s`,
      floor: `${rounded(without, 0)}/s without it`,
      figure: `throughput ${throughput}, median ${p50}, p99 ${p99} (${p99_ms} ms)`,
      wanted: `under ${BARS.throughput}, ${BARS.p50}, ${BARS.p99} (or ${BARS.p99_ms} ms)`,
      passed,
    }
  })
}

function told({ per_second, p50_ms, p99_ms, tenth }: Phase): string {
  return `${per_second}/s (p50 ${p50_ms} ms, p99 ${p99_ms} ms); of the tenth ${tenth.accepted} accepted, ${tenth.arrived} arrived`
}
