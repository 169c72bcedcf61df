/**
 * The query compiler on populations of growing size: each kind of search as compiled and run by us, beside the SQL
 * that a hand would write for it, prepared once; and how both grow from the smallest population to the largest at
 * the same number of hits. And what costs no database: reading a query, refusing one, matching a record.
 *
 *     npm run bench -- query --data /var/tmp/rollcall-bench
 *     npm run bench -- query --records 10000,1000000,10000000 --data /var/tmp/rollcall-bench
 */
import { makeRecordQuery } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn } from '@rollcall/protocol'
import type { Context } from '@rollcall/server/app/context'
import { createContext } from '@rollcall/server/app/context'
import { readConfig } from '@rollcall/settings/config'
import type pg from 'pg'
import { CASES, type Case, type Question } from './query/cases.ts'
import { type Beside, beside } from './query/measure.ts'
import { type Population, population } from './query/populations.ts'
import { measurePure } from './query/pure.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions, wholeNumber } from './shared/options.ts'
import { type Row, ratioRow, writeResult } from './shared/results.ts'
import { rounded } from './shared/statistics.ts'

/** Turns of each case, and how much of the work without a database is measured, in percent. */
const NUMBERS = { times: [600, 1], pure: [100, 1] } as const

/** The share of the hand-written statement's speed that compiling and running must reach. */
const RATIO_BAR = 0.75

interface Measured extends Beside {
  readonly case: string
  readonly records: number
}

/** Measures, prints and writes `query.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place, values } = readOptions(args, NUMBERS, { records: { type: 'string' } })
  const { times } = plan
  const smallest = place.smallest === true
  const sizes = (values.records ?? (smallest ? '200' : '10000,1000000')).split(',').map((text) => wholeNumber('records', text))
  const pure = measurePure(plan.pure / 100)
  const measured = await withBenchDatabase(place, async ({ db, env }) => {
    const context = await createContext(readConfig(env), db)
    const found: Measured[] = []
    // The first pass warms the process and is thrown away, else the smallest population looks slow and growth small.
    if (!smallest) await measureSize(context, Math.min(...sizes), times)
    for (const size of sizes) found.push(...(await measureSize(context, size, times)))
    return found
  })
  const rows = [...pure.rows, ...rowsOf(measured, sizes)]
  await writeResult('query', { sizes, times, rows, measured, pure: pure.figures })
  return rows
}

async function measureSize(context: Context, size: number, times: number): Promise<Measured[]> {
  const found = await population(context.db, size)
  const client = await context.db.pool.connect()
  try {
    const measured: Measured[] = []
    for (const row of CASES.filter(({ least = 0 }) => least <= size)) {
      const result = await measureCase(context, client, found, row, times)
      measured.push({ case: row.name, records: size, ...result })
      console.log(
        `${size} records, ${row.name}: ours p50 ${result.ours.p50_ms} ms, p99 ${result.ours.p99_ms} ms; ` +
          `by hand p50 ${result.floor.p50_ms} ms, p99 ${result.floor.p99_ms} ms; ratio ${result.ratio}`,
      )
    }
    return measured
  } finally {
    client.release()
  }
}

async function measureCase(
  context: Context,
  client: pg.PoolClient,
  asked: Population,
  row: Case,
  times: number,
): Promise<Beside> {
  const questions = await row.questions(context.db, asked)
  const text = row.sql(asked)
  const name = `hand ${asked.records} ${row.name}`
  const { limits } = context
  const reader = context.recordsOf(asked.registry).reader('sync')
  const ours = async ({ criteria }: Question) => {
    const read = readSearchCriteria(asked.registry.kind, { search_criteria: criteria }, limits)
    const query = makeRecordQuery(read, dayIn('UTC', Date.now()), { cap: limits.search_results })
    return reader.find(asked.registry, query)
  }
  const floor = async ({ values }: Question) => {
    const { rows } = await client.query({ name, text, values: [...values] })
    return { total: rows[0]?.total ?? 0, records: rows }
  }
  for (const question of questions) {
    checkSame(row, asked.records, await ours(question), await floor(question), limits.search_results)
  }
  return beside(questions, times, {
    ours: async (question) => void (await ours(question)),
    floor: async (question) => void (await floor(question)),
  })
}

interface Answer {
  readonly total: number
  readonly records: readonly { readonly document: string }[]
}

const textOf = ({ records }: Answer): string => records.map(({ document }) => document).join()

/** Records of the smallest population in which each case finds as many as it is about. */
const ENOUGH = 10_000

/** Throws an Error unless both found the same, and as many as the case is about. */
function checkSame(row: Case, records: number, ours: Answer, floor: Answer, cap: number): void {
  const [least, most] = records < ENOUGH ? [0, records] : row.hits === 'more' ? [cap + 1, cap + 1] : row.hits
  if (ours.total < least || ours.total > most) throw new Error(`${row.name}: found ${ours.total}`)
  if (ours.total !== Number(floor.total)) throw new Error(`${row.name}: by hand ${floor.total}, not ${ours.total}`)
  const same = row.hits === 'more' || textOf(ours) === textOf(floor)
  if (!same) throw new Error(`${row.name}: other records than by hand`)
}

function rowsOf(measured: readonly Measured[], sizes: readonly number[]): Row[] {
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)]
  const of = (row: Case, size: number) => measured.find((candidate) => candidate.case === row.name && candidate.records === size)
  const told = ({ p50_ms, p99_ms }: Measured['ours']) => `p50 ${p50_ms} ms, p99 ${p99_ms} ms`
  return CASES.flatMap((row) => {
    const large = of(row, largest)
    if (large === undefined) return []
    const what = `query, ${row.name}, ${largest} records`
    const rows = [ratioRow(what, rounded(large.ratio, 2), RATIO_BAR, told(large.ours), `${told(large.floor)} by hand`)]
    const most = (what: string, floor: string, figure: number, bar: number) =>
      rows.push({ what, ours: told(large.ours), floor, figure, wanted: `at most ${bar}`, passed: figure <= bar })
    const small = of(row, smallest)
    if (row.growth !== null && small !== undefined && small !== large) {
      const growth = rounded(large.ours.p50_ms / small.ours.p50_ms, 2)
      most(`${what}, growth`, `${told(small.ours)} of ${smallest}`, growth, row.growth)
    }
    if (row.bar_ms !== undefined) most(`${what}, milliseconds`, '', large.ours.p50_ms, row.bar_ms)
    return rows
  })
}
