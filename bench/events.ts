/**
 * How fast events become notifications; each part beside a floor or a bound of its own. docs/benchmarks.md says more.
 *
 *     npm run bench -- events --part fan-out
 */
import type { Registry } from '@rollcall/core/model/registry'
import { fanOut } from './events/fan-out.ts'
import { importWithEvents } from './events/import.ts'
import { match } from './events/match.ts'
import { forgetEvents } from './events/subscribers.ts'
import { tick } from './events/tick.ts'
import { filledRegistry } from './search/registry.ts'
import { type BenchDatabase, withBenchDatabase } from './shared/bench-database.ts'
import { chosen, readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'

const NUMBERS = {
  records: [10_000, 50],
  rounds: [5, 1],
  /** Rounds of `fan-out` that are not counted. */
  'warm-up': [1, 0],
  subscribers: [10_000, 4],
  addresses: [10, 2],
  events: [10_000, 4],
  /** Subscriptions in part `tick`. */
  subscriptions: [100_000, 20],
  /** Milliseconds of searches before the tick, and the least from the commit of what is held to the tick. */
  before: [3_000, 1],
  held: [3_000, 500],
  /** Subscriptions of the largest size of `match`; the others are a tenth and a hundredth of it. */
  size: [1_000_000, 1_000],
  /** Events that `match` measures with the mix. */
  matched: [1_500, 2],
} as const

const OPTIONS = { part: { type: 'string', multiple: true }, variant: { type: 'string', multiple: true } } as const

export interface EventsPlan extends Readonly<Record<keyof typeof NUMBERS, number>> {
  /** Variants of part `fan-out`; undefined: all. */
  readonly variants: readonly string[] | undefined
}

type Part = (
  database: BenchDatabase,
  registry: Registry,
  plan: EventsPlan,
) => Promise<{ readonly rows: readonly Row[]; readonly result: object }>

const PARTS: Readonly<Record<string, Part>> = { match, 'fan-out': fanOut, tick, import: importWithEvents }

/** Measures, prints and writes `events-<part>.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place, values } = readOptions(args, NUMBERS, OPTIONS)
  const found: Row[] = []
  for (const [name, part] of chosen(PARTS, values.part)) {
    const { rows, result } = await withBenchDatabase(place, async (database) => {
      // A worker would match what another part left in the stored database, with all of its subscriptions.
      await forgetEvents(database.db)
      return part(database, await filledRegistry(database.db, plan.records), { ...plan, variants: values.variant })
    })
    await writeResult(`events-${name}`, { plan, ...result })
    found.push(...rows)
  }
  return found
}
