/** The checked content of a source file: how the rows of a database become the records of a registry. */

import type { MappingTarget } from '@rollcall/import/column-mapping'
import type { RowReader } from '@rollcall/import/row-documents'
import type { Attribute, RecordType } from '@rollcall/protocol'
import type { ColumnComparisonName } from './comparison-names.ts'
import type { EngineName } from './engine-names.ts'
import type { FollowWay } from './follow-ways.ts'

/** A table whose changes are looked for when a mirror follows the log of the database. */
export interface LoggedTable {
  /** The schema of the table. Null, for MariaDB: the database of the address. */
  readonly schema: string | null
  readonly table: string
  /** The column with the key of the record to which a row belongs. */
  readonly key: string
}

/** A table, view or query of the source, with the columns that are read. */
export interface MappedTable {
  readonly from: { readonly schema: string | null; readonly table: string } | { readonly select: string }
  /** The SQL condition on the rows that belong to records; null: all rows do. */
  readonly where: string | null
  /** In the own table of records, the column of the key; in a child, the column with the key of its record. */
  readonly key: string
  /**
   * The column that grows with every change of a row; null: the file names none. Only the own table of a mirror with
   * `follow: poll` must have one.
   */
  readonly changed: string | null
  /** The tables whose changes, as the log has them, may change rows of this part; empty: they are not known. */
  readonly logged: readonly LoggedTable[]
  /** The columns with values for records, each once. */
  readonly columns: readonly string[]
  readonly targets: readonly MappingTarget[]
  readonly reader: RowReader
}

/** How the rows of a table, with those of its children, become the records of one type. */
export interface RecordMapping {
  readonly recordType: RecordType
  readonly own: MappedTable
  readonly children: readonly MappedTable[]
  /** The targets of the own table, then those of each child, in order. */
  readonly targets: readonly MappingTarget[]
  /** The paths in a record at which the rows of children may give several values. */
  readonly lists: ReadonlySet<string>
  /** How columns are compared, by the name of the attribute or identifier type. */
  readonly compare: ReadonlyMap<string, ColumnComparisonName>
}

/** How a mirror follows its source. */
export interface MirrorSettings {
  readonly follow: FollowWay
  /** True when changes after the first load are events. */
  readonly events: boolean
  /**
   * Milliseconds to wait before each poll, or the longest wait for changes in a log. There is no wait while records are compared.
   */
  readonly every: number
  /**
   * How much a poll reads again, in seconds or versions, to find changes of transactions that committed late: it must exceed the
   * longest transaction. A whole poll, at most one in five seconds, begins this far before the mark of the last whole poll. Each
   * poll in between begins only a tenth of this before the mark of the poll before it.
   */
  readonly overlap: number
  /** The time of day (HH:MM in the zone of the source) at which all records are compared. */
  readonly compareAt: string
  /** For `logical`, the name of the PostgreSQL publication that has the tables. */
  readonly publication: string
  /** The most bytes of log that the source may keep for us, for `logical`. Beyond them we give up our place. */
  readonly mostLog: number
}

/** A source file that was read and checked. */
export interface SourceFile {
  readonly engine: EngineName
  readonly url: { readonly env: string } | { readonly file: string }
  /** The path of a file with certificates of authorities for the database; null: the address says how to encrypt. */
  readonly ca: string | null
  /** The most connections in the pool of one opened engine. */
  readonly pool: number
  /** The most milliseconds that one statement may take. */
  readonly statementTimeout: number
  /** The most rows that one search may read: if there are more, the search reports too many records. */
  readonly candidates: number
  readonly timeZone: string
  /** How the records are copied; null: they are read live. */
  readonly mirror: MirrorSettings | null
  /** The mapping of each record type, by its name. A missing type has no records. */
  readonly records: ReadonlyMap<string, RecordMapping>
}

/** The tables whose logged changes change records, each with the name of the record type. */
export const loggedTables = ({ records }: SourceFile): readonly (LoggedTable & { readonly recordType: string })[] =>
  [...records.values()].flatMap(({ recordType: { name }, own, children }) =>
    [own, ...children].flatMap(({ logged }) => logged.map((table) => ({ ...table, recordType: name }))),
  )

/**
 * The attributes of a record type and of the elements of its lists. Ages are left out: they have no column, and are
 * compared by the date of birth.
 */
export const attributesExceptAges = ({ attributes, compounds = [] }: RecordType): readonly Attribute[] => [
  ...attributes.filter(({ type }) => type !== 'age'),
  ...compounds.flatMap(({ members }) => members),
]
