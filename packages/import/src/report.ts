/** The report of an import: how many values of each column and attribute were understood. It quotes no value. */
import type { Kind } from '@rollcall/protocol'
import type { ReadingDescription } from './formats.ts'
import {
  type CountedValues,
  NO_VALUE_COUNTS,
  type RejectionCounts,
  type RepeatedLineCounts,
  type ReportCounts,
  type ValueCounts,
} from './import-progress.ts'
import { findValueRuleByName } from './record-notes.ts'
import { listReportedValueNames } from './report-counts.ts'
import { findCellValueRule } from './row-documents.ts'

/** The counts of the values of one attribute, identifier type or column. */
interface ReportedValueCounts extends ValueCounts {
  readonly empty: number
  /** The rule that some values broke. Null: no value broke a rule, the report of a column has the rule, or no rule is known. */
  readonly rule: string | null
}

export interface ReportedAttribute extends ReportedValueCounts {
  readonly record_type: string
  /** The name of the attribute or identifier type. */
  readonly name: string
}

export interface ReportedColumn extends ReportedValueCounts {
  readonly column: string
  readonly path: string
}

export interface ImportReport {
  /** The number of records that were stored although some of their values were not understood. */
  readonly kept: number
  /** Why whole lines were rejected. Reasons about a value are shown with its column or attribute. */
  readonly rejections: readonly RejectionCounts[]
  /** The lines whose record replaced that of an earlier line with the same primary identifier. */
  readonly repeated: RepeatedLineCounts
  readonly attributes: readonly ReportedAttribute[]
  /**
   * The counts of the values of each mapped column; empty when the file is no table, or its column mapping is not known any more.
   */
  readonly columns: readonly ReportedColumn[]
  readonly unused_columns: readonly string[]
}

export function makeReport(
  kind: Kind,
  { kept, rejections, repeated = { count: 0, lines: [] }, records, columns }: ReportCounts,
  /** Null when it is no longer known how the file was read; the report then has no columns. */
  read: ReadingDescription | null,
): ImportReport {
  const targets = read?.table?.targets ?? []
  // Without the column mapping it is not known which rule the values broke.
  const isMappingUnknown = read === null && columns.count > 0
  const inColumns = new Set(targets.flatMap(({ path, reads }) => ((columns.values[path]?.not_understood ?? 0) > 0 ? reads : [])))
  return {
    kept,
    rejections,
    repeated,
    attributes: kind.record_types.flatMap((recordType) => {
      const record_type = recordType.name
      const counted = records[record_type]
      if (counted === undefined) return []
      return listReportedValueNames(kind, recordType).map((name) => ({
        record_type,
        name,
        // A rule that a column reports is not repeated for the attribute: the mapping may have its own rule.
        ...makeReportedValueCounts(counted, name, () =>
          isMappingUnknown || inColumns.has(name) ? null : findValueRuleByName(kind, record_type, name),
        ),
      }))
    }),
    columns: targets.flatMap((target) => {
      const { path, column, reads } = target
      if (column === null) return []
      const rule = () => findCellValueRule(target) ?? findFirstKnownValueRule(kind, Object.keys(records), reads)
      return [{ column, path, ...makeReportedValueCounts(columns, path, rule) }]
    }),
    unused_columns: read?.table?.unused ?? [],
  }
}

/** The counts of a table's columns by their paths, when the column mapping is no longer known. */
export const columnValueCountsWithPaths = ({ columns }: ReportCounts) =>
  Object.keys(columns.values).map((path) => ({ path, ...makeReportedValueCounts(columns, path, () => null) }))

function makeReportedValueCounts({ count, values }: CountedValues, name: string, rule: () => string | null): ReportedValueCounts {
  const found = { ...NO_VALUE_COUNTS, ...values[name] }
  return { ...found, empty: count - found.understood - found.not_understood, rule: found.not_understood > 0 ? rule() : null }
}

function findFirstKnownValueRule(kind: Kind, recordTypes: readonly string[], names: readonly string[]): string | null {
  for (const type of recordTypes) {
    for (const name of names) {
      const rule = findValueRuleByName(kind, type, name)
      if (rule !== null) return rule
    }
  }
  return null
}
