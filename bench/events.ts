/**
 * How fast events become notifications; each part beside a floor or a bound of its own. docs/benchmarks.md says more.
 *
 *     npm run bench -- events --part fan-out
 */
import { parseArgs } from 'node:util'
import type { Registry } from '@rollcall/core/model/registry'
import { fanOut } from './events/fan-out.ts'
import { importWithEvents } from './events/import.ts'
import { match } from './events/match.ts'
import { tick } from './events/tick.ts'
import { filledRegistry } from './search/registry.ts'
import { type BenchDatabase, PLACE_OPTIONS, withBenchDatabase } from './shared/bench-database.ts'
import { wholeNumber } from './shared/options.ts'
import { writeResult } from './shared/results.ts'

const OPTIONS = {
  part: { type: 'string', multiple: true },
  variant: { type: 'string', multiple: true },
  records: { type: 'string', default: '10000' },
  rounds: { type: 'string', default: '5' },
  subscribers: { type: 'string', default: '10000' },
  addresses: { type: 'string', default: '10' },
  events: { type: 'string', default: '10000' },
  subscriptions: { type: 'string', default: '100000' },
  ...PLACE_OPTIONS,
} as const

type Numbers = Readonly<Record<'rounds' | 'subscribers' | 'addresses' | 'events' | 'subscriptions' | 'records', number>>

interface Plan extends Numbers {
  /** Of part `fan-out`; all of them by default. */
  readonly variants?: readonly string[]
}

type Part = (
  database: BenchDatabase,
  registry: Registry,
  plan: Plan,
) => Promise<{ readonly reached: boolean; readonly result: object }>

const PARTS: Readonly<Record<string, Part>> = { match, 'fan-out': fanOut, tick, import: importWithEvents }

/** Measures, prints and writes `bench/results/events-<part>.json`; false when a bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const number = (name: keyof Numbers): number => wholeNumber(name, values[name])
  const plan: Plan = {
    rounds: number('rounds'),
    subscribers: number('subscribers'),
    addresses: number('addresses'),
    events: number('events'),
    subscriptions: number('subscriptions'),
    records: number('records'),
    ...(values.variant !== undefined && { variants: values.variant }),
  }
  let all = true
  for (const name of values.part ?? Object.keys(PARTS)) {
    const part = PARTS[name]
    if (part === undefined) throw new Error(`--part must be one of ${Object.keys(PARTS).join(', ')}`)
    const { reached, result } = await withBenchDatabase(values, async (database) =>
      part(database, await filledRegistry(database.db, plan.records), plan),
    )
    await writeResult(`events-${name}`, { plan, ...result })
    all &&= reached
  }
  return all
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
