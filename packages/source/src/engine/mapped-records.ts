/** A checked source file: how the rows of a database become the records of a registry. */

import type { Target } from '@rollcall/import/column-mapping'
import type { RowReader } from '@rollcall/import/row-documents'
import type { Attribute, RecordType } from '@rollcall/protocol'
import type { ComparisonName } from './comparison-names.ts'
import type { EngineName } from './engine-names.ts'
import type { FollowName } from './follow-names.ts'

/** A table, a view or a query of the source, with the columns that are read of it. */
export interface MappedPart {
  readonly from: { readonly schema: string | null; readonly table: string } | { readonly select: string }
  /** Null: every row counts. */
  readonly where: string | null
  /** In the records' own table, the column of the key. In a child, the column with the key of its record. */
  readonly key: string
  /** The column that grows with every change; null: changes are found in another way. */
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
  /** Paths of the columns of children at which a record may have several values. */
  readonly lists: ReadonlySet<string>
  /** By the name of an attribute or an identifier type. */
  readonly compare: ReadonlyMap<string, ComparisonName>
}

/** How a copy of the records follows its source. */
export interface MirrorTerms {
  readonly follow: FollowName
  /** Whether changes are events once all records were read for the first time. */
  readonly events: boolean
  /** Milliseconds between two looks for changes. */
  readonly every: number
  /** Seconds, or versions, before the last look that the next one looks at again: more than the longest transaction takes. */
  readonly overlap: number
  /** The time of the day, HH:MM in the zone of the source, at which all records are compared. */
  readonly compareAt: string
  /** The publication of the tables, for `logical`. */
  readonly publication: string
  /** Bytes of the log that the source may keep for us, for `logical`: beyond them we give our place up. */
  readonly mostLog: number
}

export interface SourceFile {
  readonly engine: EngineName
  readonly url: { readonly env: string } | { readonly file: string }
  /** The path of the certificates that may sign the database's own; null: the address says how it is encrypted. */
  readonly ca: string | null
  readonly pool: number
  /** Milliseconds. */
  readonly statementTimeout: number
  /** Rows that one search may read. */
  readonly candidates: number
  readonly timeZone: string
  /** How its records are copied; null: they are not. */
  readonly mirror: MirrorTerms | null
  /** By the name of the record type. A type that is missing has no records. */
  readonly records: ReadonlyMap<string, MappedRecords>
}

/** The attributes of a record type and of the elements of its lists. An age is no column, and compares by its date. */
export const attributesOf = ({ attributes, compounds = [] }: RecordType): readonly Attribute[] => [
  ...attributes.filter(({ type }) => type !== 'age'),
  ...compounds.flatMap(({ members }) => members),
]
