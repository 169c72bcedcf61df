/**
 * Records of a registry office's own database. Part `live`: look-ups and searches in that database, beside SQL written by hand; part
 * `mariadb`: the same in MariaDB, where it is installed. Part `mirror`: a copy that follows it, beside an import of the same records.
 *
 *     npm run bench -- source
 *     npm run bench -- source --part mirror
 */

import type pg from 'pg'
import { type BenchDatabase, withBenchDatabase } from './shared/bench-database.ts'
import { chosen, readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'
import { live, liveMariadb } from './source/live.ts'
import { mirror } from './source/mirror.ts'

const NUMBERS = {
  /** Numbers of the parts `live` and `mariadb`. */
  records: [200_000, 200],
  times: [2_000, 2],
  questions: [200, 2],
  /** Records of `mirror`. */
  mirrored: [50_000, 20],
  rounds: [3, 1],
  /** A second, for so many seconds. */
  changes: [500, 10],
  seconds: [30, 1],
} as const

export type SourcePlan = Readonly<Record<keyof typeof NUMBERS, number>>

type Part = (database: BenchDatabase, plan: SourcePlan) => Promise<{ readonly rows: readonly Row[]; readonly result: object }>

const PARTS: Readonly<Record<string, Part>> = { live, mariadb: liveMariadb, mirror }

/** Measures, prints and writes `source-<part>.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place, values } = readOptions(args, NUMBERS, { part: { type: 'string', multiple: true } } as const)
  const found: Row[] = []
  for (const [name, part] of chosen(PARTS, values.part)) {
    const { rows, result } = await withBenchDatabase(place, (database) => part(database, plan))
    await writeResult(`source-${name}`, { plan, ...result })
    found.push(...rows)
  }
  return found
}

/** The address of a PostgreSQL by its connection. */
export function addressOf({ connectionString, host, port, user, password, database }: pg.ClientConfig): string {
  if (connectionString !== undefined) return connectionString
  const url = new URL(`postgresql://localhost/${database}`)
  for (const [name, value] of Object.entries({ host, port, user, password })) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url.href
}
