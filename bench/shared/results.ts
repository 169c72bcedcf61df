/** The result of a bench: JSON with time, commit and machine, and rows for the table of docs/benchmarks.md. */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'

/** A line of the table of results. */
export interface Row {
  /** The bench, and its part. */
  readonly what: string
  readonly ours: string
  readonly floor: string
  /** The figure that the bar limits, mostly a ratio. */
  readonly figure: number | string
  /** Empty where there is no bar, and `passed` is true. */
  readonly wanted: string
  readonly passed: boolean
}

/** A line for a ratio of ours to the floor. */
export const ratioRow = (what: string, figure: number, bar: number, ours: string, floor: string): Row => {
  return { what, ours, floor, figure, wanted: `at least ${bar}`, passed: figure >= bar }
}

/** The most processor time of PostgreSQL, as a multiple of the floor's. */
const DATABASE_BAR = 1.5

/** A line for the processor time of PostgreSQL for a request; without a bar where it cannot be read. */
export function databaseRow(what: string, ours: DatabaseUse, floor: DatabaseUse): Row {
  const figure = Number((ours.database_us_per_request / floor.database_us_per_request).toFixed(2))
  const isRead = Number.isFinite(figure)
  return {
    what: `${what}, PostgreSQL`,
    ours: isRead ? `${ours.database_us_per_request} µs` : '',
    floor: isRead ? `${floor.database_us_per_request} µs` : '',
    figure: isRead ? figure : 'not read',
    wanted: isRead ? `at most ${DATABASE_BAR}` : '',
    passed: !isRead || figure <= DATABASE_BAR,
  }
}

interface DatabaseUse {
  /** Microseconds. */
  readonly database_us_per_request: number
}

/** Tells of each bar whether it was reached. */
export function tellRows(rows: readonly Row[]): void {
  for (const { what, figure, wanted, passed } of rows) {
    console.log(`${what}: ${figure}${wanted === '' ? '' : `, ${wanted} is wanted: ${passed ? 'passed' : 'MISSED'}`}`)
  }
}

/** The lines as Markdown, under when, where and of what they were measured. */
export function tableOf(rows: readonly Row[]): string {
  const { cores, processor, memory_gb, node } = machine()
  const lines = rows.map(({ what, ours, floor, figure, wanted, passed }) => {
    const met = wanted === '' ? '' : passed ? 'met' : '**missed**'
    return `| ${[what, ours, floor, `**${figure}**`, wanted, met].join(' | ')} |`
  })
  return [
    `Commit ${commit() ?? 'unknown'}, ${new Date().toISOString().slice(0, 10)}: ${cores} cores of ${processor}, ${memory_gb} GB, Node ${node}.`,
    '',
    '| Bench | Ours | Floor | Figure | Wanted | |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n')
}

/** Where results are written. */
export const resultsFolder = (): string => process.env.BENCH_RESULTS ?? join(import.meta.dirname, '../results')

/** Writes `<bench>.json` into the folder of results. */
export async function writeResult(bench: string, result: object): Promise<void> {
  const document = { bench, at: new Date().toISOString(), commit: commit(), machine: machine(), ...result }
  await mkdir(resultsFolder(), { recursive: true })
  await writeFile(join(resultsFolder(), `${bench}.json`), `${JSON.stringify(document, null, 2)}\n`)
}

function machine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

/** The commit that is checked out, with `+` when files differ from it; null outside a clone. */
function commit(): string | null {
  try {
    const hash = git('rev-parse', '--short', 'HEAD')
    const changed = git('status', '--porcelain', '--untracked-files=no')
    return changed === '' ? hash : `${hash}+`
  } catch {
    return null
  }
}

function git(...args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: [...stdio] }).trim()
}
