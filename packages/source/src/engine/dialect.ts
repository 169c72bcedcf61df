/** An engine as rows of data and statements: `open-engine.ts` makes of it what the engines have in common. */

import type { CatalogTable } from './catalog.ts'
import type { ColumnType, KnownTypes } from './column-type.ts'
import type { Failure, State } from './connections.ts'
import type { EngineReport, LookUp, SlowLookUp } from './engine.ts'
import type { MappedPart, MappedRecords, SourceFile } from './mapped-records.ts'
import type { RowSql } from './row-statement.ts'

/** @typeParam Type the type of a column as the driver tells it */
export interface Dialect<Type> {
  readonly rows: RowSql
  /** The types of the key and the columns of each part, in order. The first part has the alias `own`, and the others `child`. */
  readTypes(state: State<Type>, parts: readonly MappedPart[], file: SourceFile): Promise<readonly ColumnType[][]>
  /** Whether the catalog has a unique index on the key alone. */
  hasUniqueKey(state: State<Type>, part: MappedPart): Promise<boolean>
  /** @throws SourceRefusal it cannot be the database of a source */
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
