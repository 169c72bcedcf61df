/** Counts which values of a file were understood, in a batch and in all batches. */
import { type Kind, type RecordType, UNLISTED } from '@rollcall/protocol'
import { columnGroups } from '@rollcall/records/records/columns'
import type { PreparedRecord } from '@rollcall/records/records/prepare-record'
import {
  type CountedValues,
  NO_VALUE_COUNTS,
  type RejectionCounts,
  type ReportCounts,
  type ValueCounts,
} from './import-progress.ts'
import { OTHER_IDENTIFIERS_NAME, type RecordReadingNotes } from './record-notes.ts'
import { CELL_STATES, type RowCells } from './row-documents.ts'

/** The most line numbers that a report gives as examples of one problem. */
const MOST_EXAMPLE_LINES = 3
/** The most different reasons that are counted. A broken file could have another reason in each line. */
const MOST_REJECT_REASONS = 20
const OTHER_REASONS = 'other reasons'

class ValueCounter {
  understood = 0
  not_understood = 0
  unlisted = 0
  readonly lines: number[] = []
  readonly unlisted_lines: number[] = []
  after_today = 0
  readonly after_today_lines: number[] = []

  notUnderstood(line: number): void {
    this.not_understood += 1
    if (this.lines.length < MOST_EXAMPLE_LINES) this.lines.push(line)
  }

  notListed(line: number): void {
    this.unlisted += 1
    if (this.unlisted_lines.length < MOST_EXAMPLE_LINES) this.unlisted_lines.push(line)
  }

  isAfterToday(line: number): void {
    this.after_today += 1
    if (this.after_today_lines.length < MOST_EXAMPLE_LINES) this.after_today_lines.push(line)
  }
}

/** The names of the identifier types and attributes that a report counts for a record type, in the order of the report. */
export function listReportedValueNames(kind: Kind, { attributes, compounds = [] }: RecordType): readonly string[] {
  const members = compounds.flatMap((compound) => compound.members)
  // An age is computed and not stored, so it has no values to count.
  const held = [...attributes, ...members].filter(({ type }) => type !== 'age')
  return [...kind.identifier_types.map(({ name }) => name), OTHER_IDENTIFIERS_NAME, ...held.map(({ name }) => name)]
}

/** Counts the records of one record type, and their values. */
class RecordTypeCounter {
  count = 0
  readonly #byName: ReadonlyMap<string, ValueCounter>
  readonly #types: ReadonlyMap<string, ValueCounter>
  /** The counts of each attribute, with the position of its first column in a prepared record. */
  readonly #columns: readonly (readonly [at: number, counts: ValueCounter])[]
  /** Those of `#columns` that belong to a birth date: an attribute from which an age is computed. */
  readonly #births: readonly (readonly [at: number, counts: ValueCounter])[]

  constructor(kind: Kind, recordType: RecordType) {
    const types = kind.identifier_types.map(({ name }) => name)
    this.#byName = new Map(listReportedValueNames(kind, recordType).map((name) => [name, new ValueCounter()]))
    const countsOf = (name: string): ValueCounter => this.#byName.get(name) ?? new ValueCounter()
    this.#types = new Map([
      ...types.map((name) => [name, countsOf(name)] as const),
      [UNLISTED.name, countsOf(OTHER_IDENTIFIERS_NAME)],
    ])
    let at = 0
    const columns: (readonly [number, ValueCounter])[] = []
    for (const { name, columns: own } of columnGroups(recordType)) {
      const counts = this.#byName.get(name)
      if (counts !== undefined && own.length > 0) columns.push([at, counts])
      at += own.length
    }
    this.#columns = columns
    const births = recordType.attributes.filter(
      ({ name, many }) => !many && recordType.attributes.some(({ since }) => since === name),
    )
    this.#births = columns.filter(([, counts]) => births.some(({ name }) => countsOf(name) === counts))
  }

  add(line: number, { identifiers, columns }: PreparedRecord, notes: RecordReadingNotes, today: string): void {
    this.count += 1
    let last: string | null = null
    const types = identifiers.length > 1 ? new Set<string>() : null
    for (const { type } of identifiers) {
      if (type === last || types?.has(type)) continue
      last = type
      types?.add(type)
      const counts = this.#types.get(type)
      if (counts !== undefined) counts.understood += 1
    }
    for (const [at, counts] of this.#columns) if (columns[at] !== null) counts.understood += 1
    for (const [at, counts] of this.#births) if ((columns[at] ?? '') > today) counts.isAfterToday(line)
    this.#addNotes(line, { identifiers, columns }, notes)
  }

  #addNotes(
    line: number,
    { identifiers, columns }: Pick<PreparedRecord, 'identifiers' | 'columns'>,
    { memberNames, unlistedNames, unreadValues }: RecordReadingNotes,
  ): void {
    for (const name of memberNames) {
      const counts = this.#byName.get(name)
      if (counts !== undefined) counts.understood += 1
    }
    for (const name of unlistedNames) this.#byName.get(name)?.notListed(line)
    if (unreadValues.length === 0) return
    for (const name of new Set(unreadValues.map((one) => one.name))) {
      const counts = this.#byName.get(name)
      if (counts === undefined) continue
      const at = this.#columns.find(([, of]) => of === counts)?.[0]
      const wasCounted =
        memberNames.has(name) ||
        (at !== undefined && columns[at] !== null) ||
        identifiers.some(({ type }) => this.#types.get(type) === counts)
      if (wasCounted) counts.understood -= 1
      counts.notUnderstood(line)
    }
  }

  get values(): Readonly<Record<string, ValueCounts>> {
    return Object.fromEntries(this.#byName)
  }
}

/** The counts of one batch of an import, for its report. */
export class BatchCounts {
  /** The number of records that were stored although some of their values were not understood. */
  kept = 0
  readonly #records = new Map<RecordType, RecordTypeCounter>()
  readonly #columns = new Map<string, ValueCounter>()
  readonly #rejections: RejectionCounts[] = []
  readonly #repeated: number[] = []
  #rows = 0

  record(
    { kind, today }: { readonly kind: Kind; readonly today: string },
    recordType: RecordType,
    line: number,
    record: PreparedRecord,
    notes: RecordReadingNotes,
  ): void {
    let counts = this.#records.get(recordType)
    if (counts === undefined) {
      counts = new RecordTypeCounter(kind, recordType)
      this.#records.set(recordType, counts)
    }
    counts.add(line, record, notes, today)
  }

  /** Counts a line that was rejected as a whole, for this reason. */
  rejected(line: number, reason: string): void {
    this.#rejections.push({ reason, count: 1, lines: [line] })
  }

  /** Counts a line whose record replaced that of an earlier line. */
  repeated(line: number): void {
    this.#repeated.push(line)
  }

  row(line: number, { targets, states }: RowCells): void {
    this.#rows += 1
    for (const [at, { path, column }] of targets.entries()) {
      if (column === null) continue
      let counts = this.#columns.get(path)
      if (counts === undefined) {
        counts = new ValueCounter()
        this.#columns.set(path, counts)
      }
      if (states[at] === CELL_STATES.value) counts.understood += 1
      else if (states[at] === CELL_STATES.not_understood) counts.notUnderstood(line)
    }
  }

  /** Returns the counts of all batches so far: `before`, with those of this batch added. */
  after(before: ReportCounts): ReportCounts {
    const records = { ...before.records }
    for (const [{ name }, counts] of this.#records) records[name] = sumCountedValues(records[name], counts)
    const columns = { count: this.#rows, values: Object.fromEntries(this.#columns) }
    return {
      kept: before.kept + this.kept,
      rejections: addRejections([...before.rejections, ...this.#rejections]),
      repeated: {
        count: (before.repeated?.count ?? 0) + this.#repeated.length,
        lines: [...(before.repeated?.lines ?? []), ...this.#repeated].slice(0, MOST_EXAMPLE_LINES),
      },
      records,
      columns: sumCountedValues(before.columns, columns),
    }
  }
}

/** Joins rejections with the same reason, and adds their counts. Reasons beyond the limit are counted as one. */
function addRejections(rejections: readonly RejectionCounts[]): readonly RejectionCounts[] {
  const byReason = new Map<string, RejectionCounts>()
  for (const { reason: given, count, lines } of rejections) {
    const reason = byReason.has(given) || byReason.size < MOST_REJECT_REASONS ? given : OTHER_REASONS
    const before = byReason.get(reason) ?? { reason, count: 0, lines: [] }
    byReason.set(reason, { reason, count: before.count + count, lines: [...before.lines, ...lines].slice(0, MOST_EXAMPLE_LINES) })
  }
  return [...byReason.values()]
}

/** Returns the sums of two counts, without changing them. */
function sumCountedValues(before: CountedValues | undefined, after: CountedValues): CountedValues {
  // A map, because a member of a record may be called `constructor`.
  const values = new Map(Object.entries(before?.values ?? {}))
  for (const [name, counts] of Object.entries(after.values)) {
    values.set(name, addValueCounts(values.get(name) ?? NO_VALUE_COUNTS, counts))
  }
  return { count: (before?.count ?? 0) + after.count, values: Object.fromEntries(values) }
}

const addValueCounts = (before: ValueCounts, after: ValueCounts): ValueCounts => ({
  understood: before.understood + after.understood,
  not_understood: before.not_understood + after.not_understood,
  unlisted: before.unlisted + after.unlisted,
  lines: [...before.lines, ...after.lines].slice(0, MOST_EXAMPLE_LINES),
  unlisted_lines: [...before.unlisted_lines, ...after.unlisted_lines].slice(0, MOST_EXAMPLE_LINES),
  after_today: before.after_today + after.after_today,
  after_today_lines: [...before.after_today_lines, ...after.after_today_lines].slice(0, MOST_EXAMPLE_LINES),
})
