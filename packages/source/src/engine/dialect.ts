/** An engine as data and statements; `open-engine.ts` adds what all engines have in common. */

import type { CatalogTable } from './catalog.ts'
import type { ColumnType, KnownTypes } from './column-type.ts'
import type { Failure, State, Statement } from './connections.ts'
import type { ChangesAsked, EngineReport, LookUp, SlowLookUp } from './engine.ts'
import type { MappedPart, MappedRecords, SourceFile } from './mapped-records.ts'
import type { RowSql } from './row-statement.ts'

/** The types of the two columns that list changes. */
export interface ChangeTypes {
  readonly key: ColumnType
  readonly changed: ColumnType
}

/** The statements for a column of changes. @typeParam Type the type of a column in the words of the driver */
export interface ChangeSql<Type> {
  /** @throws SourceRefusal the column of changes is neither a time nor a whole number */
  readTypes(state: State<Type>, part: MappedPart, file: SourceFile): Promise<ChangeTypes>
  /** The statement that reads how far the column has come: the time of the state, or its highest version. */
  mark(part: MappedPart, types: ChangeTypes): Statement
  /** The statement that lists keys with their marks, in the order of the marks. */
  list(part: MappedPart, types: ChangeTypes, asked: ChangesAsked): Statement
}

/** The differences of one engine from others. @typeParam Type the type of a column in the words of the driver */
export interface Dialect<Type> {
  readonly rows: RowSql
  /** The statements for a column of changes; null: the engine has none. */
  readonly changes: ChangeSql<Type> | null
  /** The types of the key and the columns of each part, in order. The first part has the alias `own`, and the others `child`. */
  readTypes(state: State<Type>, parts: readonly MappedPart[], file: SourceFile): Promise<readonly ColumnType[][]>
  /** Whether the catalog has a unique index on the key alone. */
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
