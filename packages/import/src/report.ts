/** The report of an import: per column and per attribute, how many values were understood. Never a value. */
import type { Kind } from '@rollcall/protocol'
import type { ReadAs } from './formats.ts'
import {
  type CountedValues,
  NO_VALUES,
  type RejectionCounts,
  type RepeatedCounts,
  type ReportCounts,
  type ValueCounts,
} from './import-progress.ts'
import { ruleOf } from './record-notes.ts'
import { reportedNames } from './report-counts.ts'
import { cellRule } from './row-documents.ts'

/** How often values were what they should be. */
interface Reported extends ValueCounts {
  readonly empty: number
  /** That the values broke which were not understood; null: there were none, or a column has the rule. */
  readonly rule: string | null
}

export interface ReportedAttribute extends Reported {
  readonly record_type: string
  /** Of the attribute, or the type of identifier. */
  readonly name: string
}

export interface ReportedColumn extends Reported {
  readonly column: string
  readonly path: string
}

export interface ImportReport {
  /** Records that are stored although values of them were not understood. */
  readonly kept: number
  /** Why lines were rejected as a whole; reasons that are about a value stand with its column or attribute. */
  readonly rejections: readonly RejectionCounts[]
  /** Lines whose record replaced that of an earlier line with the same primary identifier. */
  readonly repeated: RepeatedCounts
  readonly attributes: readonly ReportedAttribute[]
  /** None but for a table. */
  readonly columns: readonly ReportedColumn[]
  readonly unused_columns: readonly string[]
}

export function reportOf(
  kind: Kind,
  { kept, rejections, repeated = { count: 0, lines: [] }, records, columns }: ReportCounts,
  /** Null: it is not known any more; then there are no columns. */
  read: ReadAs | null,
): ImportReport {
  const targets = read?.table?.targets ?? []
  // The mapping may have had rules of its own.
  const isMapped = read === null && columns.count > 0
  const inColumns = new Set(
    targets.flatMap(({ path, reads }) => ((columns.values[path]?.not_understood ?? 0) > 0 ? reads : [])),
  )
  return {
    kept,
    rejections,
    repeated,
    attributes: kind.record_types.flatMap((recordType) => {
      const record_type = recordType.name
      const counted = records[record_type]
      if (counted === undefined) return []
      return reportedNames(kind, recordType).map((name) => ({
        record_type,
        name,
        // The column says it better: the mapping may have a rule of its own.
        ...reported(counted, name, () => (isMapped || inColumns.has(name) ? null : ruleOf(kind, record_type, name))),
      }))
    }),
    columns: targets.flatMap((target) => {
      const { path, column, reads } = target
      if (column === null) return []
      const rule = () => cellRule(target) ?? ruleOfFirst(kind, Object.keys(records), reads)
      return [{ column, path, ...reported(columns, path, rule) }]
    }),
    unused_columns: read?.table?.unused ?? [],
  }
}

/** As the columns of a table, by their paths alone: the mapping is not known any more, nor its rules. */
export const reportedPaths = ({ columns }: ReportCounts) =>
  Object.keys(columns.values).map((path) => ({ path, ...reported(columns, path, () => null) }))

function reported({ count, values }: CountedValues, name: string, rule: () => string | null): Reported {
  const found = { ...NO_VALUES, ...values[name] }
  return {
    ...found,
    empty: count - found.understood - found.not_understood,
    rule: found.not_understood > 0 ? rule() : null,
  }
}

function ruleOfFirst(kind: Kind, recordTypes: readonly string[], names: readonly string[]): string | null {
  for (const type of recordTypes) {
    for (const name of names) {
      const rule = ruleOf(kind, type, name)
      if (rule !== null) return rule
    }
  }
  return null
}
