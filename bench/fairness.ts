/**
 * Whether one bad partner hurts the others: nine participants whose requests are answered by callbacks, with and
 * without a tenth whose receiver hangs, or is slow, in phases that take turns. docs/benchmarks.md says more.
 *
 *     npm run bench -- fairness --data /var/tmp/rollcall-bench
 */
import { parseArgs } from 'node:util'
import { type Phase, phases } from './async/phases.ts'
import { startReceiver } from './async/receiver.ts'
import { type Called, DEFAULT_CALLBACKS, registerCalled, searchAddress, startRollcall } from './async/setting.ts'
import { filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { endless } from './search/setting.ts'
import { PLACE_OPTIONS, withBenchDatabase } from './shared/bench-database.ts'
import { wholeNumber } from './shared/options.ts'
import { writeResult } from './shared/results.ts'
import { median, rounded } from './shared/statistics.ts'

const OPTIONS = {
  records: { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '6' },
  seconds: { type: 'string', default: '8' },
  'in-flight': { type: 'string', default: '2' },
  ...PLACE_OPTIONS,
} as const

/** What a tenth may change for the others. */
const BARS = { throughput: 1.2, p50: 1.2, p99: 2, p99_ms: 50 }
const HEALTHY = 9
const BAD = ['hangs', 'slow'] as const

/** Measures, prints and writes `bench/results/fairness.json`; false when a bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const records = wholeNumber('records', values.records)
  const rounds = wholeNumber('rounds', values.rounds)
  const plan = {
    seconds: wholeNumber('seconds', values.seconds),
    inFlight: wholeNumber('in-flight', values['in-flight']),
  }
  const receiver = await startReceiver()
  try {
    return await withBenchDatabase(values, async (database) => {
      const { db } = database
      const identifiers = endless(await shuffledIdentifiers(db, await filledRegistry(db, records)))
      const rollcall = await startRollcall(database)
      const register = (name: string): Promise<Called> =>
        registerCalled(db, rollcall, receiver, `${name}.bench.example`, DEFAULT_CALLBACKS)
      const healthy: Called[] = []
      for (let number = 1; number <= HEALTHY; number += 1) healthy.push(await register(`healthy-${number}`))
      const run = phases({ db, receiver, url: searchAddress(rollcall), identifiers, healthy, ...plan })

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
      return await judge(found, { rounds, ...plan })
    })
  } finally {
    await receiver.close()
  }
}

type Bad = (typeof BAD)[number]

/** Two phases, one right after the other. */
interface Pair {
  readonly without: Phase
  readonly beside: Phase
}

/** In turns in one order and in the other: what the machine does meanwhile meets both. */
async function inTurns(
  badFirst: boolean,
  run: (tenth: null) => Promise<Phase>,
  runBeside: () => Promise<Phase>,
): Promise<Pair> {
  if (!badFirst) return { without: await run(null), beside: await runBeside() }
  const beside = await runBeside()
  return { without: await run(null), beside }
}

async function judge(found: Record<Bad, readonly Pair[]>, plan: object): Promise<boolean> {
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
      change.throughput < BARS.throughput &&
      change.p50 < BARS.p50 &&
      (change.p99 < BARS.p99 || change.p99_ms < BARS.p99_ms)
    console.log(
      `${manner}: throughput by a factor of ${change.throughput}, median ${change.p50}, p99 ${change.p99} ` +
        `(${change.p99_ms} ms): ${passed ? 'passed' : 'MISSED'}`,
    )
    return { manner, ...change, passed }
  })
  const passed = changes.every((change) => change.passed)
  await writeResult('fairness', { ...plan, healthy: HEALTHY, bars: BARS, passed, changes, found })
  return passed
}

function told({ per_second, p50_ms, p99_ms, tenth }: Phase): string {
  return `${per_second}/s (p50 ${p50_ms} ms, p99 ${p99_ms} ms); of the tenth ${tenth.accepted} accepted, ${tenth.arrived} arrived`
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
