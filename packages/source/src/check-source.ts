/**
 * Checks a source for its operator: what its account may do, which records its rows become, and which questions would
 * be slow. The report has no values of records.
 */

import type { MappingTarget } from '@rollcall/import/column-mapping'
import { INITIAL_PROGRESS } from '@rollcall/import/import-progress'
import { type ImportReport, makeReport } from '@rollcall/import/report'
import { BatchCounts } from '@rollcall/import/report-counts'
import { type Attribute, dayIn, type Kind, normaliseIdentifier, readAttribute, UNLISTED } from '@rollcall/protocol'
import { COLUMN_COMPARISON_RULES, type ComparisonSubject } from './comparisons.ts'
import { makeDatabaseFailureRefusal } from './database-refusal.ts'
import { logProblemsText } from './engine/change-log.ts'
import { ANY_RECORD_MAY_MATCH } from './engine/column-test.ts'
import { withSnapshot } from './engine/connections.ts'
import type { ColumnLookUp, EngineReport, OpenEngine, SlowLookUp, SourceRow } from './engine/engine.ts'
import { attributesExceptAges, type RecordMapping, type SourceFile } from './engine/mapped-records.ts'
import { SourceRefusal } from './engine/source-refusal.ts'
import { canBeKey } from './live-records.ts'
import { readRow, TOO_MANY_CHILDREN_PROBLEM } from './source-record.ts'

/** The most rows of each record type that a check of a source reads. */
const MOST_CHECKED_ROWS = 1_000

/** The findings about the rows of one record type. */
export interface RecordTypeFindings {
  readonly recordType: string
  readonly rows: number
  /** The number of rows that cannot become records, so that no answer has them. */
  readonly leftOut: number
  /**
   * The report that an import of these rows would have; nothing is imported. Its line numbers are the positions of rows in the
   * order of their keys.
   */
  readonly report: ImportReport
  /**
   * Columns that the source file compares exactly, but whose values our records write in another way, such as identifiers in
   * small letters. A search by such a value finds no record; `count` is the number of these values.
   */
  readonly unfound: readonly { readonly name: string; readonly column: string; readonly count: number }[]
  readonly slow: readonly SlowLookUp[]
}

/** The findings about a source. */
export interface SourceFindings extends EngineReport {
  readonly records: readonly RecordTypeFindings[]
}

/**
 * Checks a source.
 * @param now milliseconds since 1970
 * @throws SourceRefusal the database cannot be reached, or not be read as the file says; keys are not unique; or a
 * mirror would miss changes
 */
export async function checkSource(kind: Kind, file: SourceFile, engine: OpenEngine, now = Date.now()): Promise<SourceFindings> {
  try {
    const report = await engine.report()
    const records: RecordTypeFindings[] = []
    await checkMirrorCanFollow(file, engine)
    for (const one of file.records.values()) {
      records.push(await inspectRecords(kind, one, engine, dayIn('UTC', now)))
    }
    return { ...report, records }
  } catch (error) {
    throw makeDatabaseFailureRefusal(error, file, engine)
  }
}

/** Checks that a mirror could follow the source. @throws SourceRefusal the mirror would miss changes */
async function checkMirrorCanFollow({ mirror, records }: SourceFile, engine: OpenEngine): Promise<void> {
  if (mirror === null) return
  if (mirror.follow !== 'poll') {
    // Any name will do, because no replication slot is made here: the check only finds what would prevent one.
    const problems = await engine.log('check').problems()
    if (problems.length > 0) throw new SourceRefusal(logProblemsText(problems))
    return
  }
  await withSnapshot(engine.begin, async (state) => {
    for (const { own, children } of records.values()) {
      for (const part of [own, ...children]) if (part.changed !== null) await state.mark(part)
    }
  })
}

async function inspectRecords(
  kind: Kind,
  records: RecordMapping,
  engine: OpenEngine,
  today: string,
): Promise<RecordTypeFindings> {
  await engine.checkKey(records)
  const rows = await withSnapshot(engine.begin, (state) =>
    state.rows(records, { needed: ANY_RECORD_MAY_MATCH, keys: null, after: null, limit: MOST_CHECKED_ROWS }),
  )
  const counts = new BatchCounts()
  let leftOut = 0
  for (const [index, row] of rows.entries()) {
    const { cells, notes, record, problems } = readRow(kind, records, row)
    const line = index + 1
    counts.row(line, cells)
    const isLeftOut = record === null || problems.length > 0 || !canBeKey(row.key)
    if (isLeftOut) leftOut += 1
    if (record !== null) counts.record({ kind, today }, records.recordType, line, record, notes)
    else counts.rejected(line, problems.at(-1) ?? '')
    if (row.children.includes(null)) counts.rejected(line, TOO_MANY_CHILDREN_PROBLEM)
    if (!canBeKey(row.key)) counts.rejected(line, 'the key must have 1 to 64 bytes')
  }
  const read = {
    format: 'csv',
    encoding: 'utf-8',
    table: { delimiter: ',', header: true, targets: records.targets, unused: [] },
  } as const
  return {
    recordType: records.recordType.name,
    rows: rows.length,
    leftOut,
    report: makeReport(kind, counts.after(INITIAL_PROGRESS.read), read),
    unfound: countUnsearchableValues(kind, records, rows),
    slow: await engine.slow(records, makeExampleLookUps(kind, records)),
  }
}

/** A column by which records can be found, with its identifier type or attribute. */
interface SearchableColumn {
  readonly name: string
  readonly compared: ComparisonSubject
  readonly target: MappingTarget
  readonly part: RecordMapping['own']
}

function searchableColumns(kind: Kind, records: RecordMapping): readonly SearchableColumn[] {
  const attributes = new Map<string, Attribute>(attributesExceptAges(records.recordType).map((one) => [one.name, one]))
  const types = new Set(kind.identifier_types.map(({ name }) => name))
  return [records.own, ...records.children].flatMap((part) =>
    part.targets.flatMap((target): SearchableColumn[] => {
      if (target.column === null || target.split !== null) return []
      return target.reads.flatMap((name): SearchableColumn[] => {
        const attribute = attributes.get(name)
        if (types.has(name)) return [{ name, compared: 'identifier', target, part }]
        return attribute !== undefined && records.compare.has(name) ? [{ name, compared: attribute, target, part }] : []
      })
    }),
  )
}

/** A date for the plan of a look-up. Any date would do, because the check only asks whether an index can be used. */
const EXAMPLE_DATE = { from: '2000-01-01', to: '2000-01-01' }

function makeExampleLookUps(kind: Kind, records: RecordMapping): readonly ColumnLookUp[] {
  return searchableColumns(kind, records).flatMap(({ name, compared, target, part }): ColumnLookUp[] => {
    const way = COLUMN_COMPARISON_RULES[records.compare.get(name) ?? 'exact']
    const type = compared === 'identifier' ? 'identifier' : compared.type
    // An index on codes would not help, because many records have the same code.
    if (type === 'code' || type === 'boolean') return []
    const value = type === 'number' ? 1 : type === 'date' || type === 'datetime' ? EXAMPLE_DATE : '1'
    const test = way.test(compared, target, 'eq', value)
    if (test === null || test.is === 'folded') return []
    return [{ name, needed: { is: 'column', column: { part, target }, test } }]
  })
}

/** Counts values that no exact comparison finds, such as identifiers in small letters, which we write in capitals. */
function countUnsearchableValues(kind: Kind, records: RecordMapping, rows: readonly SourceRow[]): RecordTypeFindings['unfound'] {
  const parts = [records.own, ...records.children]
  return searchableColumns(kind, records).flatMap(({ name, compared, target, part }) => {
    if ((records.compare.get(name) ?? 'exact') !== 'exact') return []
    const column = target.column?.trim() ?? ''
    const at = part.columns.indexOf(column)
    const child = parts.indexOf(part) - 1
    const values = rows.flatMap((row) =>
      child < 0 ? [row.cells[at] ?? ''] : (row.children[child] ?? []).map((cells) => cells[at] ?? ''),
    )
    const type = kind.identifier_types.find((one) => one.name === name) ?? UNLISTED
    const normal = (text: string): unknown =>
      compared === 'identifier' ? normaliseIdentifier(type, text) : readAttribute({ ...compared, paths: [''] }, text)
    const count = values.filter((text) => text.trim() !== '' && isTextChangedByNormalising(normal(text), text)).length
    return count === 0 ? [] : [{ name, column, count }]
  })
}

/** True when our records have another text for a value (`normal`) than the source (`text`). False when `normal` is null. */
const isTextChangedByNormalising = (normal: unknown, text: string): boolean =>
  normal !== null && (Array.isArray(normal) ? normal[0] : normal) !== text
