/** The functions of an engine: our code for one product (PostgreSQL, MariaDB or MySQL) whose databases can be sources. */

import type { CatalogTable } from './catalog.ts'
import type { ChangeLog } from './change-log.ts'
import type { NeededCondition } from './column-test.ts'
import type { DatabaseFailure } from './connections.ts'
import type { MappedTable, RecordMapping } from './mapped-records.ts'

/** A row of the own table of records, with the rows of its children. All values are texts; a missing value is ''. */
export interface SourceRow {
  readonly key: string
  /** The values in the order of `MappedTable.columns`. */
  readonly cells: readonly string[]
  /** For each child, the cells of its rows, sorted; null: the record has too many rows there, or they are too long. */
  readonly children: readonly (readonly (readonly string[])[] | null)[]
}

/** The rows that a caller asks for. */
export interface RowSelection {
  readonly needed: NeededCondition
  /** Only rows with these keys; null: all rows. */
  readonly keys: readonly string[] | null
  /** Only rows after this key; null: from the first row on. */
  readonly after: string | null
  readonly limit: number
  /**
   * The time limit of the statement in milliseconds; absent: statement_timeout of the source file, which applies too when it is
   * shorter. On MariaDB and MySQL only statement_timeout applies.
   */
  readonly within?: number
  /** True when the snapshot may end with these rows. Rows that are read after them may be from another snapshot. */
  readonly isLast?: boolean
}

/** A changed row: the key of its record, and its value in the column of changes. */
export interface ChangedRow {
  readonly key: string
  readonly mark: string
}

/** The changed rows that a caller asks for. */
export interface ChangeSelection {
  /** A `SourceSnapshot.mark` of an earlier snapshot: only rows that were changed since. */
  readonly since: string
  /** The list begins this far before `since`: in seconds for a column of times, in versions for a column of versions. */
  readonly overlap: number
  /** The last row of the previous list: this list begins after that row. Null: from the first row on. */
  readonly after: ChangedRow | null
  readonly limit: number
}

/** A snapshot of a source's database. Its statements run one after another. */
export interface SourceSnapshot {
  /** Reads rows in the order of their keys. @throws SearchTimeout, RecordsUnavailable, SourceRefusal */
  rows(records: RecordMapping, asked: RowSelection): Promise<readonly SourceRow[]>
  /**
   * Reads how far the column of changes of a part has come: seconds since 1970 by the database's clock, or the highest version,
   * as text.
   * @throws SearchTimeout, RecordsUnavailable, SourceRefusal the column has another type
   */
  mark(part: MappedTable): Promise<string>
  /**
   * Lists changed rows in the order of the column of changes, also rows that `where` excludes now.
   * @throws SearchTimeout, RecordsUnavailable, SourceRefusal as `mark`
   */
  changes(part: MappedTable, asked: ChangeSelection): Promise<readonly ChangedRow[]>
  /** Ends the snapshot, and gives its connection back to the pool. */
  end(): Promise<void>
}

/** A report for the administrator of the source, who may change the database. */
export interface EngineReport {
  /** The name and version of the database. */
  readonly about: string
  /** The rights of the account beyond reading, as sentences. */
  readonly writes: readonly string[]
  /** Weaknesses of the source that do not prevent its use, as sentences. */
  readonly weak: readonly string[]
}

/** A search by one column, for which it is checked whether an index can be used. */
export interface ColumnLookUp {
  readonly name: string
  readonly needed: Extract<NeededCondition, { is: 'column' }>
}

/** A look-up for which the database would read a whole table or a whole index. */
export interface SlowLookUp {
  readonly name: string
  readonly table: string
  /** The statement that makes the missing index; null: no index on the column helps, or there is no table. */
  readonly index: string | null
}

/** An opened source: the functions that read its database. */
export interface OpenEngine {
  /** Begins to read a snapshot. @throws RecordsUnavailable */
  begin(): Promise<SourceSnapshot>
  /**
   * True when the SQL of the condition excludes rows; false when the database would return all rows. A call needs a connection
   * only to read the types of columns: the first call for a record type, and the first after reading rows has failed with
   * RecordsUnavailable.
   * @throws SearchTimeout, RecordsUnavailable, SourceRefusal a key has a wrong type
   */
  bounds(records: RecordMapping, needed: NeededCondition): Promise<boolean>
  /** True from a failure that means that the database is away, until the database has answered a statement again. */
  isAway(): boolean
  /** Returns a report on the database and the account. @throws SourceRefusal the database is one of Rollcall itself */
  report(): Promise<EngineReport>
  /** Opens the log of changes. @param name the name of our place in the log; MariaDB keeps no place for us */
  log(name: string): ChangeLog
  /**
   * Finds by their plans the look-ups that would read a whole table. It checks the given look-ups, and for each child table the
   * look-up of one record's rows.
   */
  slow(records: RecordMapping, lookUps: readonly ColumnLookUp[]): Promise<readonly SlowLookUp[]>
  /**
   * Checks the keys.
   * @throws SourceRefusal a key has a type that keys may not have, or another type than in a child; it is missing in a
   * row, or the same in two rows
   */
  checkKey(records: RecordMapping): Promise<void>
  /** Reads the tables and views that the account may read. */
  catalog(): Promise<readonly CatalogTable[]>
  /**
   * Reads some rows of a table. The values are texts; a missing one is '', and long ones are cut.
   * @throws SearchTimeout, RecordsUnavailable
   */
  sample(
    table: Pick<CatalogTable, 'schema' | 'name'>,
    columns: readonly string[],
    limit: number,
  ): Promise<readonly (readonly string[])[]>
  /** Quotes a name of a table or column as SQL of the engine. */
  quoted(name: string): string
  /** Finds the meaning of an error; null: it does not come from the database. */
  failureOf(error: unknown): DatabaseFailure | null
  close(): Promise<void>
}
