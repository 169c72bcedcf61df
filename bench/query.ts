/**
 * The query compiler on populations of growing size: each kind of search as compiled and run by us, beside the SQL
 * that a hand would write for it, prepared once; and how both grow from the smallest population to the largest at
 * the same number of hits. And what costs no database: reading a query, refusing one, matching a record.
 *
 *     npm run bench -- query --data /var/tmp/rollcall-bench
 *     npm run bench -- query --records 10000,1000000,10000000 --data /var/tmp/rollcall-bench
 */
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { recordQuery } from '@rollcall/core/query/at-day'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { migrate } from '@rollcall/database/database'
import { dayIn } from '@rollcall/protocol'
import { readConfig } from '@rollcall/settings/config'
import { openStorage } from '@rollcall/settings/storage'
import type pg from 'pg'
import type { Context } from '../packages/server/src/app/context.ts'
import { createContext } from '../packages/server/src/app/context.ts'
import { CASES, type Case, type Question } from './query/cases.ts'
import { type Bar, type Beside, beside } from './query/measure.ts'
import { type Population, population } from './query/populations.ts'
import { measurePure } from './query/pure.ts'
import { wholeNumber } from './shared/options.ts'
import { serverEnvironment, temporaryDirectory } from './shared/place.ts'
import { writeResult } from './shared/results.ts'
import { rounded } from './shared/statistics.ts'

const OPTIONS = {
  records: { type: 'string', default: '10000,1000000' },
  times: { type: 'string', default: '600' },
  data: { type: 'string' },
  'database-url': { type: 'string' },
} as const

/** What compiling and running must reach of the hand-written statement. */
const RATIO_BAR = 0.75

interface Measured extends Beside {
  readonly case: string
  readonly records: number
}

/** Measures, prints and writes `bench/results/query.json`; false when a bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const sizes = values.records.split(',').map((text) => wholeNumber('records', text))
  const times = wholeNumber('times', values.times)
  const pure = measurePure()
  const measured = await withContext(values, async (context) => {
    const found: Measured[] = []
    // The first pass warms the process and is thrown away, else the smallest population looks slow and growth small.
    for (const size of sizes.slice(0, 1)) await measureSize(context, size, times)
    for (const size of sizes) found.push(...(await measureSize(context, size, times)))
    return found
  })
  const bars = [...pure.bars, ...barsOf(measured, sizes)]
  for (const { what, is, bar, passed } of bars) {
    console.log(`${what}: ${is}, ${bar} is wanted: ${passed ? 'passed' : 'MISSED'}`)
  }
  const passed = bars.every((bar) => bar.passed)
  await writeResult('query', { sizes, times, passed, bars, measured, pure: pure.figures })
  return passed
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
  const reader = context.records.reader('sync')
  const ours = async ({ criteria }: Question) => {
    const read = readSearchCriteria(asked.registry.kind, { search_criteria: criteria }, limits)
    const query = recordQuery(read, dayIn('UTC', Date.now()), { cap: limits.search_results })
    return reader.find(asked.registry, query)
  }
  const floor = async ({ values }: Question) => {
    const { rows } = await client.query({ name, text, values: [...values] })
    return { total: rows[0]?.total ?? 0, records: rows }
  }
  for (const question of questions) checkSame(row, await ours(question), await floor(question), limits.search_results)
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

/** Throws an Error unless both found the same, and as many as the case is about. */
function checkSame(row: Case, ours: Answer, floor: Answer, cap: number): void {
  const [least, most] = row.hits === 'more' ? [cap + 1, cap + 1] : row.hits
  if (ours.total < least || ours.total > most) throw new Error(`${row.name}: found ${ours.total}`)
  if (ours.total !== Number(floor.total)) throw new Error(`${row.name}: by hand ${floor.total}, not ${ours.total}`)
  const same = row.hits === 'more' || textOf(ours) === textOf(floor)
  if (!same) throw new Error(`${row.name}: other records than by hand`)
}

function barsOf(measured: readonly Measured[], sizes: readonly number[]): Bar[] {
  const [smallest = 0, largest = 0] = [Math.min(...sizes), Math.max(...sizes)]
  const of = (row: Case, size: number) =>
    measured.find((candidate) => candidate.case === row.name && candidate.records === size)
  return CASES.flatMap((row) => {
    const [small, large] = [of(row, smallest), of(row, largest)]
    if (small === undefined || large === undefined) return []
    const bars: Bar[] = [
      {
        what: `${row.name}, of the hand-written statement at ${largest} records`,
        is: large.ratio,
        bar: `at least ${RATIO_BAR}`,
        passed: large.ratio >= RATIO_BAR,
      },
    ]
    if (row.growth !== null && smallest !== largest) {
      const growth = rounded(large.ours.p50_ms / small.ours.p50_ms, 2)
      bars.push({
        what: `${row.name}, growth from ${smallest} to ${largest} records`,
        is: growth,
        bar: `at most ${row.growth}`,
        passed: growth <= row.growth,
      })
    }
    if (row.bar_ms !== undefined) {
      bars.push({
        what: `${row.name}, milliseconds at ${largest} records`,
        is: large.ours.p50_ms,
        bar: `at most ${row.bar_ms}`,
        passed: large.ours.p50_ms <= row.bar_ms,
      })
    }
    return bars
  })
}

interface Place {
  readonly data?: string | undefined
  readonly 'database-url'?: string | undefined
}

/** A context over the database that the command line names, or one that is removed afterwards. */
async function withContext<Result>(place: Place, use: (context: Context) => Promise<Result>): Promise<Result> {
  const temporary = place.data === undefined ? await temporaryDirectory() : undefined
  const config = readConfig(serverEnvironment(place.data ?? temporary ?? '', place['database-url']))
  // Filling and counting millions takes longer than a peer's search may; searches have a limit of their own.
  const storage = await openStorage({ ...config, limits: { ...config.limits, statement_timeout: 0 } })
  try {
    await migrate(storage.owner, storage.db)
    return await use(await createContext(config, storage.db))
  } finally {
    await storage.close()
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}
