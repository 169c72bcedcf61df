/** A checked source file: how the rows of a database become the records of a registry. */

import type { Target } from '@rollcall/import/column-mapping'
import type { RowReader } from '@rollcall/import/row-documents'
import type { Attribute, RecordType } from '@rollcall/protocol'
import type { ComparisonName } from './comparison-names.ts'
import type { EngineName } from './engine-names.ts'
import type { FollowWay } from './follow-ways.ts'

/** A table, a view or a query of the source, with its columns that are read. */
export interface MappedPart {
  readonly from: { readonly schema: string | null; readonly table: string } | { readonly select: string }
  /** The condition for rows that become records; null: all rows. */
  readonly where: string | null
  /** In the own table of records, the column of the key; in a child, the column with the key of its record. */
  readonly key: string
  /** The column that grows with every change; null: there is none, and changes are found by the log. */
  readonly changed: string | null
  /** The columns that are read, each once. */
  readonly columns: readonly string[]
  readonly targets: readonly Target[]
  readonly reader: RowReader
}

export interface MappedRecords {
  readonly recordType: RecordType
  readonly own: MappedPart
  readonly children: readonly MappedPart[]
  /** Paths in children at which a record may have several values. */
  readonly lists: ReadonlySet<string>
  /** How columns compare, by the name of the attribute or identifier type. */
  readonly compare: ReadonlyMap<string, ComparisonName>
}

/** How a copy of the records follows its source. */
export interface MirrorTerms {
  readonly follow: FollowWay
  /** Whether changes after the first load are events. */
  readonly events: boolean
  /** Milliseconds between two polls for changes. */
  readonly every: number
  /**
   * Seconds, or versions, from before the last poll that the next one reads again: more than the longest transaction
   * takes.
   */
  readonly overlap: number
  /** The time of the day, HH:MM in the zone of the source, at which all records are compared. */
  readonly compareAt: string
  /** The publication of the tables, for `logical`. */
  readonly publication: string
  /** The most bytes of the log that the source may keep for us, for `logical`; beyond them we give our place up. */
  readonly mostLog: number
}

export interface SourceFile {
  readonly engine: EngineName
  readonly url: { readonly env: string } | { readonly file: string }
  /** The path of certificates of authorities for the database; null: the address says how it is encrypted. */
  readonly ca: string | null
  readonly pool: number
  /** Milliseconds for one statement. */
  readonly statementTimeout: number
  /** The most rows that one search reads. */
  readonly candidates: number
  readonly timeZone: string
  /** How the records are copied; null: they are read live. */
  readonly mirror: MirrorTerms | null
  /** The mapping by the name of the record type. A missing type has no records. */
  readonly records: ReadonlyMap<string, MappedRecords>
}

/** The attributes of a record type and of the elements of its lists. An age is no column, and compares by its date. */
export const attributesOf = ({ attributes, compounds = [] }: RecordType): readonly Attribute[] => [
  ...attributes.filter(({ type }) => type !== 'age'),
  ...compounds.flatMap(({ members }) => members),
]
