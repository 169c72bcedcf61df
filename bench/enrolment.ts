/**
 * How fast enrolment is; each part beside a floor of its own. docs/benchmarks.md says more.
 *
 *     npm run bench -- enrolment --part enrolled
 */
import { parseArgs } from 'node:util'
import { enrolled } from './enrolment/enrolled.ts'
import { updates } from './enrolment/updates.ts'
import { type BenchDatabase, PLACE_OPTIONS, withBenchDatabase } from './shared/bench-database.ts'
import { wholeNumber } from './shared/options.ts'
import type { Plan } from './shared/rounds.ts'

const OPTIONS = {
  part: { type: 'string', multiple: true },
  records: { type: 'string', default: '100000' },
  seconds: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '15' },
  connections: { type: 'string', default: '32' },
  ...PLACE_OPTIONS,
} as const

/** Measures, prints and writes `bench/results/enrolment-<part>.json`; false when its bar is missed. */
type Part = (database: BenchDatabase, plan: Plan & { readonly records: number }) => Promise<boolean>

const PARTS: Readonly<Record<string, Part>> = { enrolled, updates }

/** False when a bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const plan = {
    records: wholeNumber('records', values.records),
    seconds: wholeNumber('seconds', values.seconds),
    rounds: wholeNumber('rounds', values.rounds),
    connections: wholeNumber('connections', values.connections),
  }
  let all = true
  for (const name of values.part ?? Object.keys(PARTS)) {
    const part = PARTS[name]
    if (part === undefined) throw new Error(`--part must be one of ${Object.keys(PARTS).join(', ')}`)
    const reached = await withBenchDatabase(values, (database) => part(database, plan))
    all &&= reached
  }
  return all
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
