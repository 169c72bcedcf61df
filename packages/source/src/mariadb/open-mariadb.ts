/** Opens a database of MariaDB or MySQL as a source. */

import type { EnvironmentVariables } from '../engine/address.ts'
import type { ColumnType } from '../engine/column-type.ts'
import type { Dialect } from '../engine/dialect.ts'
import type { OpenEngine } from '../engine/engine.ts'
import type { MappedTable, SourceFile } from '../engine/mapped-records.ts'
import { createEngine } from '../engine/open-engine.ts'
import { CATALOG_STATEMENTS } from './catalog.ts'
import { POLL_STATEMENTS } from './change-statements.ts'
import { type Collation, columnType } from './column-types.ts'
import { type MariadbSnapshot, openConnections, type ResultColumn, readConnectionOptions } from './connections.ts'
import { failureOf } from './failures.ts'
import { MARIADB_NAME_WRITER } from './names.ts'
import { openBinlog } from './open-binlog.ts'
import { PLAN_READER } from './plans.ts'
import { readEngineReport } from './privileges.ts'
import { ROW_SQL } from './row-sql.ts'

/** Opens the source, and connects when it is first asked. @throws SourceRefusal as `readConnectionOptions` */
export function openMariadb(file: SourceFile, env: EnvironmentVariables): OpenEngine {
  const connection = readConnectionOptions(file, env)
  return createEngine(file, MARIADB_DIALECT, openConnections(file, connection), (inSnapshot) =>
    openBinlog({ file, connection, inSnapshot }),
  )
}

const MARIADB_DIALECT: Dialect<ResultColumn> = {
  rows: ROW_SQL,
  changes: POLL_STATEMENTS,
  readTypes,
  hasUniqueKey,
  report: readEngineReport,
  plans: PLAN_READER,
  catalog: CATALOG_STATEMENTS,
  failureOf,
}

async function readTypes(
  state: MariadbSnapshot,
  parts: readonly MappedTable[],
  { timeZone }: SourceFile,
): Promise<readonly ColumnType[][]> {
  const found: ColumnType[][] = []
  for (const [at, part] of parts.entries()) {
    const alias = at === 0 ? 'own' : 'child'
    const columns = [part.key, ...part.columns].map((name) => `${alias}.${MARIADB_NAME_WRITER.quoted(name)}`)
    // This query reads no row of the table. It returns one row with character sets, and the types of the columns.
    const { rows, types } = await state.run({
      text: `select ${columns.join(', ')}, ${columns.map((one) => `charset(${one}), collation(${one})`).join(', ')}
        from (select 1 as one) as always left join ${MARIADB_NAME_WRITER.tableOf(part, alias)} on false`,
      values: [],
    })
    const sets = rows[0]?.slice(columns.length) ?? []
    found.push(
      columns.flatMap((_, index): ColumnType[] => {
        const field = types[index]
        if (field === undefined) return []
        return [columnType(field, findCollation(sets[2 * index], sets[2 * index + 1]), timeZone)]
      }),
    )
  }
  return found
}

/** The collation of a column; null: it has bytes, or names that cannot become part of statements. */
const findCollation = (charset: string | null | undefined, name: string | null | undefined): Collation | null =>
  charset && name && charset !== 'binary' && /^\w+$/.test(`${charset}${name}`) ? { charset, name } : null

async function hasUniqueKey(state: MariadbSnapshot, { from, key }: MappedTable): Promise<boolean> {
  if ('select' in from) return false
  const { rows } = await state.run({
    text: `select 1 from information_schema.statistics s
      where table_schema = coalesce(cast(? as char), database()) and table_name = cast(? as char) and column_name = cast(? as char)
        and non_unique = 0 and nullable = '' and sub_part is null and 1 = (
          select count(*) from information_schema.statistics o
          where o.table_schema = s.table_schema and o.table_name = s.table_name and o.index_name = s.index_name)
      limit 1`,
    values: [from.schema, from.table, key],
  })
  return rows.length > 0
}
