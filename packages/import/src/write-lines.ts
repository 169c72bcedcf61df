/**
 * Writes the records of a file's lines into a registry, and finds lines that have the primary identifier of an earlier line. Each
 * record has the number of the run and the line that wrote it, and the database finds earlier lines by these. So the memory of an
 * import does not grow with its file, and a resumed import knows what it has written.
 */

import { MergeProblem, mergeIntoSurvivor } from '@rollcall/core/events/merge'
import type { RecordChange } from '@rollcall/core/model/event'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import type { JsonObject, RecordType } from '@rollcall/protocol'
import { InvalidRecord, type PreparedRecord, prepareRecord } from '@rollcall/records/records/prepare-record'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import type { WrittenRecord } from '@rollcall/records/records/record-writer'
import type { ClientBase } from 'pg'
import { findNotedLines, noteLines } from './noted-lines.ts'

/** A record to write, with the number of its line in the imported file. */
export interface RecordLine {
  readonly line: number
  readonly record: PreparedRecord
  /** True when a value of the line was not understood. Only a lenient import writes such a record. */
  readonly hasProblems: boolean
}

/** What happens to a line with the primary identifier of an earlier line: it is rejected, or its record replaces the earlier. */
export const DUPLICATE_RULES = ['reject', 'last'] as const
export type DuplicateRule = (typeof DUPLICATE_RULES)[number]

/** How the records of lines are written. All is done in the caller's transaction. */
export interface WriteLinesOptions {
  readonly client: ClientBase
  readonly registry: RegistryShape
  readonly sink: RecordSink
  /** The number of the run (`Progress.run`); null: a dry run, which only notes primary identifiers. */
  readonly run: string | null
  readonly duplicates: DuplicateRule
  /** True when the documents that the lines replace are read from the database too, for events. */
  readonly before: boolean
  /** True for a complete file: its lines are noted, and a record that is stored already as its line has it is not written. */
  readonly isComplete: boolean
}

interface PartialWriteResult {
  readonly inserted: number
  readonly records: readonly WrittenRecord[]
  /** The primary identifiers of records that were stored already as their lines have them; only for a complete file. */
  readonly unchanged: ReadonlySet<string>
  /** The changes of surviving records by lines about records that were merged into them. */
  readonly merged: readonly RecordChange[]
  readonly rejects: readonly { readonly of: RecordLine; readonly reason: string }[]
  /** The primary identifiers that accepted lines of earlier batches have, each with the number of such a line. */
  readonly met: ReadonlyMap<string, number>
}

export interface WriteLinesResult extends Omit<PartialWriteResult, 'met'> {
  /** Lines that have the primary identifier of an earlier line. With `reject` they are not written. */
  readonly repeated: readonly { readonly of: RecordLine; readonly earlier: number }[]
}

const NOTHING_WRITTEN: PartialWriteResult = {
  inserted: 0,
  records: [],
  unchanged: new Set(),
  merged: [],
  rejects: [],
  met: new Map(),
}

const joinWriteResults = (one: PartialWriteResult, other: PartialWriteResult): PartialWriteResult => ({
  inserted: one.inserted + other.inserted,
  records: [...one.records, ...other.records],
  unchanged: new Set([...one.unchanged, ...other.unchanged]),
  merged: [...one.merged, ...other.merged],
  rejects: [...one.rejects, ...other.rejects],
  met: new Map([...other.met, ...one.met]),
})

const primaryIdentifierOf = ({ record }: RecordLine): string => record.primary_identifier

/**
 * Writes the records of lines into the registry. Lines that the database refuses are rejected. A line about a retired record
 * changes the survivor, and does not count as a repetition.
 */
export async function writeLines(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<WriteLinesResult> {
  return writing.duplicates === 'last'
    ? writeLinesKeepingLast(writing, recordType, lines)
    : writeLinesKeepingFirst(writing, recordType, lines)
}

/** Writes all lines. If several lines of the file have the same primary identifier, the record of the last of them stays. */
async function writeLinesKeepingLast(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<WriteLinesResult> {
  const { met, ...written } = await writeOrHalveLines(writing, recordType, lines)
  const refused = new Set(written.rejects.map(({ of }) => of))
  const standing = new Set([...written.records.map((one) => one.primary_identifier), ...written.unchanged])
  const earlier = new Map(met)
  const repeated: { of: RecordLine; earlier: number }[] = []
  for (const of of lines) {
    const primary = primaryIdentifierOf(of)
    if (refused.has(of) || !standing.has(primary)) continue
    const before = earlier.get(primary)
    if (before !== undefined) repeated.push({ of, earlier: before })
    earlier.set(primary, of.line)
  }
  return { ...written, repeated }
}

/**
 * Writes the first record of each primary identifier. If the database refuses that record, the next line with the identifier is
 * tried, and only lines after the written one are in `repeated`.
 */
async function writeLinesKeepingFirst(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<WriteLinesResult> {
  const repeated: { of: RecordLine; earlier: number }[] = []
  let written = NOTHING_WRITTEN
  let rest = lines
  while (rest.length > 0) {
    const firsts = new Map(rest.toReversed().map((one) => [primaryIdentifierOf(one), one]))
    const once = await writeOrHalveLines(writing, recordType, [...firsts.values()].reverse())
    written = joinWriteResults(written, once)
    const standing = new Map(once.met)
    for (const primary of [...once.records.map((one) => one.primary_identifier), ...once.unchanged]) {
      const first = firsts.get(primary)
      if (first !== undefined) standing.set(primary, first.line)
    }
    const next: RecordLine[] = []
    for (const of of rest) {
      const earlier = standing.get(primaryIdentifierOf(of))
      const isFirst = firsts.get(primaryIdentifierOf(of)) === of
      if (earlier !== undefined && !(isFirst && !once.met.has(primaryIdentifierOf(of)))) repeated.push({ of, earlier })
      else if (!isFirst) next.push(of)
    }
    rest = next
  }
  const { met: _, ...others } = written
  return { ...others, repeated }
}

/**
 * Writes the records of lines; when a single value cannot be stored (a day outside of PostgreSQL's calendar, or a value too long
 * for its index), halves the lines again and again until the record with that value is found, and rejects it.
 */
async function writeOrHalveLines(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<PartialWriteResult> {
  try {
    return await (writing.isComplete ? writeChangedRecords : writeInOneStatement)(writing, recordType, lines)
  } catch (error) {
    const state = sqlStateOrSystemCode(error)
    const [first, second] = lines
    if (first === undefined || !/^(22|54)/.test(state)) throw error
    // The message of PostgreSQL is not used: it would quote the value.
    if (second === undefined) {
      // The rejected line is noted, so that the record of its person is not removed.
      if (writing.isComplete) await noteLines(writing.client, recordType, new Map([[primaryIdentifierOf(first), null]]))
      return { ...NOTHING_WRITTEN, rejects: [{ of: first, reason: unstorableValueReason(state) }] }
    }
    const half = lines.slice(0, Math.ceil(lines.length / 2))
    const before = await writeOrHalveLines(writing, recordType, half)
    const after = await writeOrHalveLines(writing, recordType, lines.slice(half.length))
    const own = new Set(half.map(primaryIdentifierOf))
    const met = new Map([...after.met].filter(([primary]) => !own.has(primary)))
    return joinWriteResults(before, { ...after, met })
  }
}

/** Writes the records of only those lines that add or change a record. */
async function writeChangedRecords(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<PartialWriteResult> {
  const { client, registry, sink, duplicates } = writing
  const met = await findNotedLines(client, recordType, lines.map(primaryIdentifierOf))
  const fresh = duplicates === 'last' ? lines : lines.filter((one) => !met.has(primaryIdentifierOf(one)))
  const latest = new Map(fresh.map((one) => [primaryIdentifierOf(one), one]))
  const records = [...latest.values()].map(({ record }) => record)
  const unchanged = await sink.unchangedAmong(client, registry, recordType, records)
  const changed = fresh.filter((one) => !unchanged.has(primaryIdentifierOf(one)))
  const written = changed.length === 0 ? NOTHING_WRITTEN : await writeInOneStatement(writing, recordType, changed)
  // Primary identifiers whose record is stored now are noted with the number of the line. All others are noted with null: their
  // line was refused or is about a retired record, so a later line with the same primary identifier is no repetition.
  const standing = new Set([...written.records.map((one) => one.primary_identifier), ...unchanged])
  const noted = [...latest].map(([primary, { line }]) => [primary, standing.has(primary) ? line : null] as const)
  await noteLines(client, recordType, new Map(noted))
  return { ...written, unchanged, met }
}

async function writeInOneStatement(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<PartialWriteResult> {
  const { client, registry, sink, run, duplicates, before } = writing
  const lineOf = new Map(lines.map((one) => [primaryIdentifierOf(one), one.line]))
  const keep = duplicates === 'reject'
  if (run === null) {
    const met = await noteLines(client, recordType, lineOf)
    const noted = [...lineOf.keys()].filter((primary) => !keep || !met.has(primary))
    return { ...NOTHING_WRITTEN, records: noted.map((primary_identifier) => ({ id: '', primary_identifier })), met }
  }
  const records = lines.map(({ record }) => record)
  const imported = { run, lines: lineOf, keep }
  const written = await sink.writeRecords(client, registry, recordType, records, { before, imported })
  const { inserted, updated, retired, repeated: met } = written
  const direct = { ...NOTHING_WRITTEN, inserted: inserted.length, records: [...inserted, ...updated], met }
  if (retired === undefined) return direct
  const others = lines.filter((one) => retired.has(primaryIdentifierOf(one)))
  return { ...direct, ...(await mergeLinesIntoSurvivors(writing, recordType, others)) }
}

const unstorableValueReason = (state: string): string =>
  `the database cannot store one of the values of this record (SQLSTATE ${state})`

/** Merges the records of lines about retired records into the survivors, in the order of the lines. */
async function mergeLinesIntoSurvivors(
  writing: WriteLinesOptions,
  recordType: RecordType,
  lines: readonly RecordLine[],
): Promise<Pick<PartialWriteResult, 'merged' | 'rejects'>> {
  const merged: RecordChange[] = []
  const rejects: { of: RecordLine; reason: string }[] = []
  for (const of of lines) {
    try {
      merged.push(await mergeRecordIntoSurvivor(writing, recordType, of.record))
    } catch (error) {
      const state = sqlStateOrSystemCode(error)
      if (error instanceof InvalidRecord) rejects.push({ of, reason: error.reason })
      else if (error instanceof MergeProblem) rejects.push({ of, reason: error.message })
      else if (/^(22|54)/.test(state)) rejects.push({ of, reason: unstorableValueReason(state) })
      else throw error
    }
  }
  return { merged, rejects }
}

async function mergeRecordIntoSurvivor(
  { client, registry, sink }: WriteLinesOptions,
  recordType: RecordType,
  { primary_identifier, document }: PreparedRecord,
): Promise<RecordChange> {
  const { kind } = registry
  const survivor = await sink.lockRecord(client, registry, recordType, primary_identifier)
  if (survivor === null) throw new Error('a record was merged into one that is not there')
  const { id, document: before, aliases } = survivor
  const patch: JsonObject = JSON.parse(document)
  const after = mergeIntoSurvivor({ kind, recordType }, JSON.parse(before), patch, aliases)
  const prepared = prepareRecord(kind, recordType, after)
  await sink.writeRecords(client, registry, recordType, [prepared])
  return { record_type: recordType.name, record: id, before, after: prepared.document, aliases }
}
