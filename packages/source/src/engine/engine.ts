/** The interface of an engine: what it must do for records that stay in its databases. */

import type { CatalogTable } from './catalog.ts'
import type { ChangeLog } from './change-log.ts'
import type { Needed } from './column-test.ts'
import type { Failure } from './connections.ts'
import type { MappedPart, MappedRecords } from './mapped-records.ts'

/** A row of the own table of records, with the rows of its children. All values are texts; a missing one is empty. */
export interface SourceRow {
  readonly key: string
  /** The values in the order of `MappedPart.columns`. */
  readonly cells: readonly string[]
  /** For each child, the cells of its rows, sorted; null: the record has more rows than it may have. */
  readonly children: readonly (readonly (readonly string[])[] | null)[]
}

export interface RowsAsked {
  readonly needed: Needed
  /** Only rows with these keys; null: all rows. */
  readonly keys: readonly string[] | null
  /** Only rows after this key; null: from the first row on. */
  readonly after: string | null
  readonly limit: number
  /** The most milliseconds of the statement, if fewer than those of the file. */
  readonly within?: number
  /** The state ends with these rows; where more are read all the same, they are of another state. */
  readonly isLast?: boolean
}

/** A changed row: the key of its record, and the value of its column of changes. */
export interface ChangedRow {
  readonly key: string
  readonly mark: string
}

export interface ChangesAsked {
  /** A `SourceState.mark` of an earlier state: only rows that were changed since. */
  readonly since: string
  /** Seconds or versions before `since` from which rows are listed again. */
  readonly overlap: number
  /** The last row of the list before; null: from the first row on. */
  readonly after: ChangedRow | null
  readonly limit: number
}

/** One state of the database, which is only read. Its statements run one after another. */
export interface SourceState {
  /** Rows in the order of their keys. @throws SearchTimeout, RecordsUnavailable */
  rows(records: MappedRecords, asked: RowsAsked): Promise<readonly SourceRow[]>
  /**
   * How far the column of changes of a part has come: seconds by the clock of the database, or the highest version; a
   * number as text.
   * @throws RecordsUnavailable, SourceRefusal the column has another type
   */
  mark(part: MappedPart): Promise<string>
  /**
   * Changed rows in the order of their marks, also those that `where` excludes now.
   * @throws SearchTimeout, RecordsUnavailable
   */
  changes(part: MappedPart, asked: ChangesAsked): Promise<readonly ChangedRow[]>
  /** Gives the connection back. */
  end(): Promise<void>
}

/** What the administrator of the source should know or change. */
export interface EngineReport {
  /** Version and name of the database. */
  readonly about: string
  /** Rights of the account beyond reading, as sentences. */
  readonly writes: readonly string[]
  /** Weaknesses that do not stop the source, as sentences. */
  readonly weak: readonly string[]
}

/** A question of the check, with the column that answers it. */
export interface LookUp {
  readonly name: string
  readonly needed: Extract<Needed, { is: 'column' }>
}

/** A look-up for which the database reads a whole table. */
export interface SlowLookUp {
  readonly name: string
  readonly table: string
  /** The statement that makes the missing index; null: no index would help. */
  readonly index: string | null
}

export interface OpenEngine {
  /** Begins to read a state. @throws RecordsUnavailable */
  begin(): Promise<SourceState>
  /**
   * Whether the condition excludes any rows, by the types of the columns. The types are read once, so a caller that
   * holds a state needs no second connection.
   * @throws RecordsUnavailable
   */
  bounds(records: MappedRecords, needed: Needed): Promise<boolean>
  /** Whether the last use of the database failed. */
  isAway(): boolean
  /**
   * Reports on the database and the account.
   * @throws SourceRefusal a table, a column or a type that the file needs is missing
   */
  report(): Promise<EngineReport>
  /** The log of changes, with our place of this name. @throws SourceRefusal the engine has no log that can be read */
  log(name: string): ChangeLog
  /** Plans each look-up; returns those that read a whole table, and children without an index. */
  slow(records: MappedRecords, lookUps: readonly LookUp[]): Promise<readonly SlowLookUp[]>
  /**
   * Checks the keys.
   * @throws SourceRefusal a key has a type that keys may not have, is missing in a row, or is the same in several
   */
  checkKey(records: MappedRecords): Promise<void>
  /** The tables and views that the account may read. */
  catalog(): Promise<readonly CatalogTable[]>
  /**
   * Some rows of a table, with the values of the columns as texts; a missing one is empty, and long ones are cut.
   * @throws SearchTimeout, RecordsUnavailable
   */
  sample(
    table: Pick<CatalogTable, 'schema' | 'name'>,
    columns: readonly string[],
    limit: number,
  ): Promise<readonly (readonly string[])[]>
  /** The name as SQL. */
  quoted(name: string): string
  /** The meaning of an error; null: it does not come from the database. */
  failureOf(error: unknown): Failure | null
  close(): Promise<void>
}
