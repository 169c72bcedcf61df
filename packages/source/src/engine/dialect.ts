/** What differs between engines, as data and statements. `open-engine.ts` has what all engines share. */

import type { CatalogTable } from './catalog.ts'
import type { ColumnType, KnownTypes } from './column-type.ts'
import type { Failure, State, Statement } from './connections.ts'
import type { ChangesAsked, EngineReport, LookUp, SlowLookUp } from './engine.ts'
import type { MappedPart, MappedRecords, SourceFile } from './mapped-records.ts'
import type { RowSql } from './row-statement.ts'

/** The types of the key column and of the column of changes. */
export interface ChangeTypes {
  readonly key: ColumnType
  readonly changed: ColumnType
}

/** The statements for a column of changes. @typeParam Type the type of a column in the words of the driver */
export interface ChangeSql<Type> {
  /** Reads the types. @throws SourceRefusal the column of changes is neither a time nor a whole number */
  readTypes(state: State<Type>, part: MappedPart, file: SourceFile): Promise<ChangeTypes>
  /** Makes the statement that reads how far the column has come: the time of the snapshot, or the highest version. */
  mark(part: MappedPart, types: ChangeTypes): Statement
  /** Makes the statement that lists keys with their values in the column of changes, in the order of these values. */
  list(part: MappedPart, types: ChangeTypes, asked: ChangesAsked): Statement
}

/** How an engine differs from others. @typeParam Type the type of a column in the words of the driver */
export interface Dialect<Type> {
  readonly rows: RowSql
  /** The statements for a column of changes; null: the engine has none. */
  readonly changes: ChangeSql<Type> | null
  /**
   * Reads the types of the key and of the columns of each part, in order. The first part has the alias `own`, the
   * others have `child`.
   */
  readTypes(state: State<Type>, parts: readonly MappedPart[], file: SourceFile): Promise<readonly ColumnType[][]>
  /** Whether the key column has a unique index of its own in the catalog. */
  hasUniqueKey(state: State<Type>, part: MappedPart): Promise<boolean>
  /** Reports on the database and the account. @throws SourceRefusal it cannot be the database of a source */
  report(state: State<Type>, file: SourceFile): Promise<EngineReport>
  slow(
    state: State<Type>,
    records: MappedRecords,
    types: KnownTypes,
    lookUps: readonly LookUp[],
  ): Promise<readonly SlowLookUp[]>
  catalog(state: State<Type>): Promise<readonly CatalogTable[]>
  failureOf(error: unknown): Failure | null
}
