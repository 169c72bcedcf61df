/**
 * How fast enrolment is; each part beside a floor of its own. docs/benchmarks.md says more.
 *
 *     npm run bench -- enrolment --part enrolled
 */
import { enrolled } from './enrolment/enrolled.ts'
import { updates } from './enrolment/updates.ts'
import { type BenchDatabase, withBenchDatabase } from './shared/bench-database.ts'
import { chosen, readOptions } from './shared/options.ts'
import type { Row } from './shared/results.ts'
import { LOAD } from './shared/rounds.ts'

const NUMBERS = { ...LOAD, records: [100_000, 50], batch: [100, 5], batches: [10, 1] } as const

export type EnrolmentPlan = Readonly<Record<keyof typeof NUMBERS, number>>

/** Measures, prints and writes `enrolment-<part>.json`. */
type Part = (database: BenchDatabase, plan: EnrolmentPlan) => Promise<readonly Row[]>

const PARTS: Readonly<Record<string, Part>> = { enrolled, updates }

export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place, values } = readOptions(args, NUMBERS, { part: { type: 'string', multiple: true } })
  const rows: Row[] = []
  for (const [, part] of chosen(PARTS, values.part)) {
    rows.push(...(await withBenchDatabase(place, (database) => part(database, plan))))
  }
  return rows
}
