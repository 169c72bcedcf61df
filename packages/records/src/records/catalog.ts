/** Facts about a table, from PostgreSQL's own catalog. */

import { quoteName } from '@rollcall/database/names'
import { StoreRefusal } from '@rollcall/database/refusal'
import { type Kysely, sql } from 'kysely'

type KyselyConnection = Kysely<unknown>

interface PostgresIndex {
  readonly name: string
  /** False while the index is built, and after an interrupted build: then no search uses the index. */
  readonly valid: boolean
  /** True when a primary key or another constraint uses the index. */
  readonly constraint: boolean
}

/** The indexes of a table, by name; empty when there is no such table. */
export async function readIndexes(db: KyselyConnection, table: string): Promise<ReadonlyMap<string, PostgresIndex>> {
  const { rows } = await sql<PostgresIndex>`
    select relname::text as name, indisvalid as valid,
      exists (select 1 from pg_constraint where conindid = indexrelid) as constraint
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = to_regclass(${quoteName(table)}) order by relname`.execute(db)
  return new Map(rows.map((row) => [row.name, row]))
}

/** The number of rows that PostgreSQL last estimated for a table; null when there is no estimate, or no such table. */
export async function estimateRowCount(db: KyselyConnection, table: string): Promise<number | null> {
  const { rows } = await sql<{ estimate: number }>`
    select reltuples::float8 as estimate from pg_class
    where oid = to_regclass(${quoteName(table)})`.execute(db)
  const estimate = rows[0]?.estimate ?? -1
  return estimate < 0 ? null : estimate
}

/** True when any of the tables has a row. */
export async function hasRows(db: KyselyConnection, tables: readonly string[]): Promise<boolean> {
  if (tables.length === 0) return false
  const any = tables.map((table) => `exists (select 1 from ${quoteName(table)})`)
  const { rows } = await sql<{ found: boolean }>`select ${sql.raw(any.join(' or '))} as found`.execute(db)
  return rows[0]?.found === true
}

interface TableRights {
  readonly user: string
  readonly owner: string
  /** True when the database user has the rights of the table's owner. */
  readonly may_change: boolean
  /** True when the database user may make indexes in the schema of the table. */
  readonly may_create: boolean
}

/** Checks that the database user may change and index these tables. Missing tables are skipped. @throws StoreRefusal */
export async function checkTableOwnership(db: KyselyConnection, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    const { rows } = await sql<TableRights>`
      select current_user::text as user, pg_get_userbyid(relowner)::text as owner,
        pg_has_role(relowner, 'usage') as may_change,
        has_schema_privilege(relnamespace, 'create') as may_create
      from pg_class where oid = to_regclass(${quoteName(table)})`.execute(db)
    const [found] = rows
    if (found?.may_change === false) {
      throw new StoreRefusal(
        `the database user ${found.user} does not own the table ${table}; give DATABASE_URL the login of its owner ${found.owner}`,
      )
    }
    if (found?.may_create === false) {
      throw new StoreRefusal(
        `the database user ${found.user} may not make indexes: grant it CREATE on the schema of the table ${table}`,
      )
    }
  }
}

/** The columns of a table, each with its type as `format_type` writes it; empty when there is no such table. */
export async function readTableColumns(db: KyselyConnection, table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; type: string }>`
    select attname::text as name, format_type(atttypid, atttypmod) as type
    from pg_attribute
    where attrelid = to_regclass(${quoteName(table)}) and attnum > 0 and not attisdropped`.execute(db)
  return new Map(rows.map(({ name, type }) => [name, type]))
}
