/** The differences between engines, as data and statements. `open-engine.ts` has the code that all engines share. */

import type { CatalogSql } from './catalog.ts'
import type { ColumnTest } from './column-test.ts'
import type { ColumnType } from './column-type.ts'
import type { DatabaseFailure, DatabaseSnapshot, Statement, StatementResult } from './connections.ts'
import type { ChangeSelection, EngineReport } from './engine.ts'
import type { MappedTable, SourceFile } from './mapped-records.ts'
import type { RowSqlWriter } from './row-statement.ts'

/** The types of two columns: the key column, and the column of changes, whose value grows with every change of a row. */
export interface PollColumnTypes {
  readonly key: ColumnType
  readonly changed: ColumnType
}

/** The statements for a column that grows with every change: a time or a version. */
export interface PollStatements {
  /** Makes the statement that reads the upper end of the column's values now: the database's time, or the highest version. */
  mark(part: MappedTable, types: PollColumnTypes): Statement
  /** Makes the statement that lists keys with their values in the column of changes, in the order of these values. */
  list(part: MappedTable, types: PollColumnTypes, asked: ChangeSelection): Statement
}

/** The test of a column for which an index is looked for (`ColumnLookUp`), and the type of the column. */
export interface ColumnTestAndType {
  readonly test: ColumnTest
  readonly type: ColumnType
}

/**
 * How an engine shows whether a statement reads a whole table, and which index would prevent this. @typeParam Type the type that
 * the driver reports for a column of a result
 */
export interface QueryPlanDialect<Type> {
  /**
   * SQL that is run before `explain`, so that a query plan uses an index wherever one can be used. Null when a query plan lists
   * the indexes that can be used, so that no such SQL is needed.
   */
  readonly prefer: string | null
  /** The words before a statement that ask for its plan, such as `explain`. */
  readonly explain: string
  /** True when a plan must read a whole table or a whole index, because no index fits the condition. */
  readsAll(plan: StatementResult<Type>): boolean
  /**
   * The statement that makes an index.
   * @param asked null for an index on the key of records
   * @returns null: no index on the column itself would help
   */
  indexOn(
    place: { readonly schema: string | null; readonly table: string },
    column: string,
    asked: ColumnTestAndType | null,
  ): string | null
}

/** How an engine differs from others. @typeParam Type the type of a column in the words of the driver */
export interface Dialect<Type> {
  readonly rows: RowSqlWriter
  readonly changes: PollStatements
  /**
   * Reads the types of the key and of the columns of each part, in order. The first part has the alias `own`, the
   * others have `child`.
   */
  readTypes(state: DatabaseSnapshot<Type>, parts: readonly MappedTable[], file: SourceFile): Promise<readonly ColumnType[][]>
  /** True when the catalog says that the key column is never null and has a unique index of its own. */
  hasUniqueKey(state: DatabaseSnapshot<Type>, part: MappedTable): Promise<boolean>
  /** Returns a report on the database and the account. @throws SourceRefusal it cannot be the database of a source */
  report(state: DatabaseSnapshot<Type>, file: SourceFile): Promise<EngineReport>
  readonly plans: QueryPlanDialect<Type>
  readonly catalog: CatalogSql
  failureOf(error: unknown): DatabaseFailure | null
}
