/**
 * How fast an import is beside its floor: a bare COPY of the same lines, prepared beforehand, into tables with
 * the same columns and indexes on the same PostgreSQL. Rounds of both take turns; medians are compared.
 * What the report costs is measured in processor time: lines prepared with and without its counts, in turns, beside the
 * processor time of the whole import.
 *
 *     npm run bench -- import --count 200000
 */

import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Registry } from '@rollcall/core/model/registry'
import { toCopyField } from '@rollcall/database/copy'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { importFile } from '@rollcall/import/import-file'
import { type Kind, kindNamed, parseJson } from '@rollcall/protocol'
import { prepareExternalRecord, prepareRecord } from '@rollcall/records/records/prepare-record'
import { type RecordTable, recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry } from '@rollcall/records/registries/registries'
import { generateLines } from '@rollcall/synthetic'
import { from as copyFrom } from 'pg-copy-streams'
import { Batch } from '../packages/import/src/batch.ts'
import { entryDocument } from '../packages/import/src/entry-document.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { temporaryDirectory } from './shared/place.ts'
import { type Row, ratioRow, writeResult } from './shared/results.ts'
import { median, rounded } from './shared/statistics.ts'

const KIND = 'civil'
/** The least share of the floor's rate that an import must reach. */
const BAR = 0.7
/** The largest share of an import's processor time that the report may take. */
const REPORT_BAR = 0.1
const NUMBERS = {
  count: [200_000, 20],
  rounds: [3, 1],
  /** Lines that are prepared to measure the report, at most. */
  prepared: [10_000, 20],
  /** Turns with and without the report. */
  turns: [7, 1],
} as const
/** The day of the import. */
const TODAY = new Date().toISOString().slice(0, 10)

interface Round {
  readonly lines_per_second: number
}

interface ImportRound extends Round {
  /** Processor time of this process, in microseconds for a line. */
  readonly cpu_us: number
  /** Growth of the resident set in MB, over the first quarter of the lines and over the rest. */
  readonly rss_growth_first_quarter_mb: number
  readonly rss_growth_rest_mb: number
}

/** Measures, prints and writes `import.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { count, rounds, prepared, turns } = plan
  const directory = await temporaryDirectory()
  try {
    return await withBenchDatabase(place, async ({ db, owner }) => {
      const files = await makeFiles(directory, count)
      console.log(`${count} lines of kind ${KIND}, ${(files.bytes / 1e6).toFixed(0)} MB of NDJSON`)
      const ours: ImportRound[] = []
      const floor: Round[] = []
      const reports: number[] = []
      for (let round = 1; round <= rounds; round += 1) {
        floor.push(await withRegistry(db, owner, (registry) => copyRound(db, registry, files, count)))
        ours.push(await withRegistry(db, owner, (registry) => importRound(db, registry, files, count)))
        reports.push(reportCost(Math.min(count, prepared), turns))
        console.log(
          `round ${round}: COPY ${rate(floor.at(-1))}, import ${rate(ours.at(-1))}, ` +
            `report ${reports.at(-1)?.toFixed(2)} us of ${ours.at(-1)?.cpu_us.toFixed(1)} us a line, ` +
            `memory +${ours.at(-1)?.rss_growth_first_quarter_mb} MB in the first quarter, ` +
            `+${ours.at(-1)?.rss_growth_rest_mb} MB in the rest`,
        )
      }
      return await report(count, files.bytes, ours, floor, reports)
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function report(
  count: number,
  bytes: number,
  ours: readonly ImportRound[],
  floor: readonly Round[],
  reports: readonly number[],
): Promise<readonly Row[]> {
  const [import_rate, copy_rate] = [medianRate(ours), medianRate(floor)]
  const ratio = rounded(import_rate / copy_rate, 2)
  const [report_us, line_us] = [median(reports), median(ours.map(({ cpu_us }) => cpu_us))]
  const share = rounded(report_us / line_us, 3)
  await writeResult('import', { kind: KIND, count, bytes, ratio, bar: BAR, ours, floor, report_share: share, report_us: reports })
  return [
    ratioRow(`import of ${count} lines`, ratio, BAR, `${import_rate} lines/s`, `${copy_rate} lines/s by COPY`),
    {
      what: 'import, its report',
      ours: `${rounded(report_us, 1)} of ${rounded(line_us, 1)} µs of processor a line`,
      floor: '',
      figure: `${rounded(100 * share, 1)} %`,
      wanted: `at most ${100 * REPORT_BAR} %`,
      passed: share <= REPORT_BAR,
    },
  ]
}

interface Files {
  readonly ndjson: string
  /** COPY's text format, ids included. */
  readonly records: string
  readonly identifiers: string
  readonly bytes: number
}

/** The lines, and the rows that a perfect importer would have ready. */
async function makeFiles(directory: string, count: number): Promise<Files> {
  const [ndjson, records, identifiers] = ['lines.ndjson', 'records.copy', 'identifiers.copy'].map((name) =>
    join(directory, name),
  ) as [string, string, string]
  const lines = () => generateLines(KIND, { count, seed: 1 })
  const write = (path: string, rows: Iterable<string>) => pipeline(Readable.from(rows), createWriteStream(path))
  await write(
    ndjson,
    mapped(lines(), (line) => `${line}\n`),
  )
  await write(records, mapped(lines(), recordRow))
  await write(identifiers, mapped(lines(), identifierRows))
  return { ndjson, records, identifiers, bytes: (await stat(ndjson)).size }
}

function* mapped(lines: Iterable<string>, row: (line: string, id: number) => string): Generator<string> {
  let id = 0
  for (const line of lines) {
    id += 1
    yield row(line, id)
  }
}

function kindOf(): Kind {
  const kind = kindNamed(KIND)
  if (!kind) throw new Error(`there is no kind ${KIND}`)
  return kind
}

function prepared(line: string) {
  const kind = kindOf()
  return prepareRecord(kind, kind.record_types[0], parseJson(line))
}

function recordRow(line: string, id: number): string {
  const { primary_identifier, document, columns } = prepared(line)
  return `${id}\t${[primary_identifier, document, ...columns].map(toCopyField).join('\t')}\n`
}

function identifierRows(line: string, id: number): string {
  const rows = prepared(line).identifiers.map(
    ({ type, value, names }) => `${toCopyField(type)}\t${toCopyField(value)}\t${id}\t${names === 'record' ? 't' : 'f'}\n`,
  )
  return rows.join('')
}

/** A registry of its own for each round, and a database that has nothing left to do from the round before. */
async function withRegistry<Result>(
  db: Database,
  owner: Database,
  work: (registry: Registry) => Promise<Result>,
): Promise<Result> {
  const namespace = `bench-${randomUUID()}`
  const registry = await addRegistry(db, { namespace, kind: KIND, sender_id: `${namespace}.example` })
  const { table, identifierTable } = tableOf(registry)
  await db.pool.query('checkpoint')
  try {
    return await work(registry)
  } finally {
    await owner.pool.query(`drop table ${quoteName(identifierTable)}, ${quoteName(table)}`)
  }
}

function tableOf(registry: Registry): RecordTable {
  return recordTable(registry, registry.kind.record_types[0])
}

async function copyRound(db: Database, registry: Registry, files: Files, count: number): Promise<Round> {
  const { table, identifierTable, columns } = tableOf(registry)
  const names = ['id', 'primary_identifier', 'document', ...columns.map(({ name }) => name)]
  const client = await db.pool.connect()
  const copy = (path: string, into: string, members: readonly string[]) =>
    pipeline(
      createReadStream(path, { highWaterMark: 256 * 1024 }),
      client.query(copyFrom(`copy ${quoteName(into)} (${members.map(quoteName).join(', ')}) from stdin`)),
    )
  try {
    const start = performance.now()
    await client.query('begin')
    await copy(files.records, table, names)
    await copy(files.identifiers, identifierTable, ['type', 'value', 'record', 'names_record'])
    await client.query('commit')
    return { lines_per_second: perSecond(count, start) }
  } finally {
    client.release()
  }
}

async function importRound(db: Database, registry: Registry, files: Files, count: number): Promise<ImportRound> {
  const before = process.memoryUsage.rss()
  const peaks = { quarter: before, rest: before }
  let lines = 0
  const sample = () => {
    const part = lines < count / 4 ? 'quarter' : 'rest'
    peaks[part] = Math.max(peaks[part], process.memoryUsage.rss())
  }
  const start = performance.now()
  const cpu = process.cpuUsage()
  const result = await importFile(db, registry, files.ndjson, {
    rejectsPath: null,
    onProgress: (progress) => {
      lines = progress.lines
      sample()
    },
  })
  const lines_per_second = perSecond(count, start)
  const cpu_us = cpuSince(cpu) / count
  if (result.written !== count) throw new Error(`only ${result.written} of ${count} lines were written`)
  return {
    lines_per_second,
    cpu_us,
    rss_growth_first_quarter_mb: megabytes(peaks.quarter - before),
    rss_growth_rest_mb: megabytes(Math.max(0, peaks.rest - peaks.quarter)),
  }
}

const cpuSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Microseconds of processor time that the report adds to the preparation of a line. */
function reportCost(count: number, turns: number): number {
  const kind = kindOf()
  const [recordType] = kind.record_types
  const texts = [...generateLines(KIND, { count, seed: 2 })].map((line) => Buffer.from(line))
  const entries = texts.map((text, at) => ({ line: at + 1, end: at + 1, text }))
  // Both keep what they prepare, as an import does until it is written.
  const bare = () => entries.map((entry) => prepareExternalRecord(kind, recordType, entryDocument(entry, [kind])))
  const reported = () => {
    const batch = new Batch()
    for (const entry of entries) batch.add({ kind, recordType, lenient: false, today: TODAY }, entry)
    if (batch.rejects.length > 0) throw new Error(`${batch.rejects.length} lines were rejected`)
    return batch
  }
  cpuOf(bare)
  const costs = Array.from({ length: turns }, () => cpuOf(reported) - cpuOf(bare))
  return Math.max(0, median(costs) / count)
}

function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage()
  const kept = work()
  const used = cpuSince(before)
  if (kept === undefined) throw new Error('nothing was prepared')
  return used
}

function perSecond(count: number, start: number): number {
  return Math.round(count / ((performance.now() - start) / 1000))
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024)
}

function rate(round: Round | undefined): string {
  return `${round?.lines_per_second ?? 0} lines/s`
}

function medianRate(rounds: readonly Round[]): number {
  return median(rounds.map(({ lines_per_second }) => lines_per_second))
}
