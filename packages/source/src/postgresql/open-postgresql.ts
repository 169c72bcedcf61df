/** Opens a database of PostgreSQL as a source. */

import type { EnvironmentVariables } from '../engine/address.ts'
import type { ColumnType } from '../engine/column-type.ts'
import type { Dialect } from '../engine/dialect.ts'
import type { OpenEngine } from '../engine/engine.ts'
import type { MappedTable, SourceFile } from '../engine/mapped-records.ts'
import { createEngine } from '../engine/open-engine.ts'
import { CATALOG_STATEMENTS } from './catalog.ts'
import { POLL_STATEMENTS } from './change-statements.ts'
import { columnType, makeTrimSqlWriter } from './column-types.ts'
import { openConnections, type PostgresSnapshot, readConnectionConfig } from './connections.ts'
import { hasUnknownCharacters, isAscii, makeStorableTextTest } from './encodings.ts'
import { failureOf } from './failures.ts'
import { placeOf, quoted, tableOf } from './names.ts'
import { openChangeLog } from './open-change-log.ts'
import { PLAN_READER } from './plans.ts'
import { readEngineReport } from './privileges.ts'
import { ROW_SQL } from './row-sql.ts'

/** Opens the source, and connects when it is first asked. @throws SourceRefusal as `readConnectionConfig` */
export function openPostgresql(file: SourceFile, env: EnvironmentVariables): OpenEngine {
  const connection = readConnectionConfig(file, env)
  return createEngine(file, POSTGRESQL_DIALECT, openConnections(file, connection), (inSnapshot, name) =>
    openChangeLog({ file, connection, inSnapshot }, name),
  )
}

const POSTGRESQL_DIALECT: Dialect<number> = {
  rows: ROW_SQL,
  changes: POLL_STATEMENTS,
  readTypes,
  hasUniqueKey,
  report: readEngineReport,
  plans: PLAN_READER,
  catalog: CATALOG_STATEMENTS,
  failureOf,
}

async function readTypes(state: PostgresSnapshot, parts: readonly MappedTable[]): Promise<readonly ColumnType[][]> {
  const encoding = await state.run({ text: `select current_setting('server_encoding')`, values: [] })
  const typeOf = columnTypesForEncoding(encoding.rows[0]?.[0] ?? '')
  const found: ColumnType[][] = []
  for (const [at, part] of parts.entries()) {
    const alias = at === 0 ? 'own' : 'child'
    const columns = [part.key, ...part.columns].map((name) => `${alias}.${quoted(name)}`).join(', ')
    const { types } = await state.run({ text: `select ${columns} from ${tableOf(part, alias)} limit 0`, values: [] })
    found.push(types.map(typeOf))
  }
  return found
}

/** Makes a function that gives the type of a column by its number in the catalog, for a database with this encoding. */
function columnTypesForEncoding(encoding: string): (oid: number) => ColumnType {
  if (hasUnknownCharacters(encoding)) {
    const trimmed = makeTrimSqlWriter(isAscii)
    return (oid) => ({ ...columnType(oid), trimmed, mayLack: (text) => !isAscii(text) })
  }
  const canHold = makeStorableTextTest(encoding)
  // In SQL_ASCII only the ASCII characters are known.
  if (encoding === 'SQL_ASCII') return (oid) => ({ ...columnType(oid), trimmed: makeTrimSqlWriter(isAscii) })
  if (canHold === null) return columnType
  const trimmed = makeTrimSqlWriter(canHold)
  return (oid) => {
    const type = columnType(oid)
    return { ...type, trimmed, parameter: (text) => (canHold(text) ? type.parameter(text) : null) }
  }
}

async function hasUniqueKey(state: PostgresSnapshot, { from, key }: MappedTable): Promise<boolean> {
  if ('select' in from) return false
  const { rows } = await state.run({
    text: `select 1 from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = to_regclass($1) and indisunique and indisvalid and indnkeyatts = 1 and indpred is null
        and indexprs is null and attnotnull and attname = $2`,
    values: [placeOf(from), key],
  })
  return rows.length > 0
}
