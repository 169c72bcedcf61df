/** What an engine must be able to do for records that stay in its databases. */

import type { CatalogTable } from './catalog.ts'
import type { ChangeLog } from './change-log.ts'
import type { Needed } from './column-test.ts'
import type { Failure } from './connections.ts'
import type { MappedPart, MappedRecords } from './mapped-records.ts'

/** A row of records' own table, with the rows of its children. Every value is a text, and an empty one where there is none. */
export interface SourceRow {
  readonly key: string
  /** In the order of `MappedPart.columns`. */
  readonly cells: readonly string[]
  /** By child, the cells of its rows, in the order of their texts; null: more rows than a record may have. */
  readonly children: readonly (readonly (readonly string[])[] | null)[]
}

export interface RowsAsked {
  readonly needed: Needed
  /** Keys of rows; null: any. */
  readonly keys: readonly string[] | null
  /** The key after which the rows begin; null: at the first. */
  readonly after: string | null
  readonly limit: number
  /** Milliseconds that the statement may take, where they are fewer than those of the file. */
  readonly within?: number
}

/** A row that was changed: the key of the record that it belongs to, and what its column of changes has. */
export interface ChangedRow {
  readonly key: string
  readonly mark: string
}

export interface ChangesAsked {
  /** `SourceState.mark` of an earlier state: rows that were changed since then. */
  readonly since: string
  /** How far before `since` rows are looked at again: seconds or versions. */
  readonly overlap: number
  /** The row after which the list begins; null: at the first. */
  readonly after: ChangedRow | null
  readonly limit: number
}

/** One state of the database, in which nothing can be written. Its statements run one after another. */
export interface SourceState {
  /**
   * Rows in the order of their keys.
   * @throws SearchTimeout, RecordsUnavailable
   */
  rows(records: MappedRecords, asked: RowsAsked): Promise<readonly SourceRow[]>
  /**
   * How far the column of changes of a part has come: seconds of the database's clock, or the highest version. A number as text.
   * @throws RecordsUnavailable, SourceRefusal the column is of another type
   */
  mark(part: MappedPart): Promise<string>
  /** Changed rows in the order of their marks, also those that do not count any more. @throws SearchTimeout, RecordsUnavailable */
  changes(part: MappedPart, asked: ChangesAsked): Promise<readonly ChangedRow[]>
  /** Gives the connection back. */
  end(): Promise<void>
}

/** What an administrator of the source should know or change. */
export interface EngineReport {
  /** The version and the name of the database, as the engine tells them. */
  readonly about: string
  /** Rights of the account beyond reading, as sentences. */
  readonly writes: readonly string[]
  /** Weaknesses that do not stop the source, as sentences. */
  readonly weak: readonly string[]
}

/** A question of the check, and how the database answers it. */
export interface LookUp {
  readonly name: string
  readonly needed: Extract<Needed, { is: 'column' }>
}

/** A look-up for which the database reads a whole table. */
export interface SlowLookUp {
  readonly name: string
  readonly table: string
  /** The statement that makes the index which it lacks; null: none would help. */
  readonly index: string | null
}

export interface OpenEngine {
  /** @throws RecordsUnavailable */
  begin(): Promise<SourceState>
  /**
   * Whether the condition leaves anything out, by the types that the columns have. They are asked for once: who holds a state
   * needs no second connection.
   * @throws RecordsUnavailable
   */
  bounds(records: MappedRecords, needed: Needed): Promise<boolean>
  /** Whether the database did not answer lately. */
  isAway(): boolean
  /** @throws SourceRefusal a table, a column or a type that the file needs is not there */
  report(): Promise<EngineReport>
  /**
   * The log of changes, in which a place of this name is kept.
   * @throws SourceRefusal the engine has none that can be read
   */
  log(name: string): ChangeLog
  /** Asks for the plan of each look-up and names those that read a whole table, and children without an index. */
  slow(records: MappedRecords, lookUps: readonly LookUp[]): Promise<readonly SlowLookUp[]>
  /** @throws SourceRefusal the key is of another type than keys may have, missing in a row, or the same in several */
  checkKey(records: MappedRecords): Promise<void>
  /** The tables and views that the account may read. */
  catalog(): Promise<readonly CatalogTable[]>
  /**
   * Rows of a table in no order, with the values of the columns as texts; an empty one where there is none. Long values are cut.
   * @throws SearchTimeout, RecordsUnavailable
   */
  sample(
    table: Pick<CatalogTable, 'schema' | 'name'>,
    columns: readonly string[],
    limit: number,
  ): Promise<readonly (readonly string[])[]>
  /** A name as it stands in a statement. */
  quoted(name: string): string
  /** The meaning of an error; null: it does not come from the database. */
  failureOf(error: unknown): Failure | null
  close(): Promise<void>
}
