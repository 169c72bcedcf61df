/** Reads from PostgreSQL's catalog which tables and sequences belong into a backup, so that new tables are included. */
import type { PoolClient } from 'pg'

type Client = Pick<PoolClient, 'query'>

/** The schemas whose tables a backup has. `main` stands for the schema in which connections look for tables. */
export const BACKUP_SCHEMAS = ['main', 'rollcall_outbox'] as const
export type SchemaName = (typeof BACKUP_SCHEMAS)[number]

export interface CatalogTable {
  readonly schema: SchemaName
  readonly name: string
  /** The names of the columns that are copied; PostgreSQL computes generated columns anew. */
  readonly columns: readonly string[]
}

export interface CatalogSequence {
  readonly schema: SchemaName
  readonly name: string
  /** The last number that was given out; null when none was, or this role may not read it. */
  readonly last: string | null
  readonly type: string
}

/** Tables that are not copied, and why. */
const NOT_COPIED_TABLES: Readonly<Record<string, string>> = {
  rollcall_migration: 'written by the migrations that a restore runs',
  rollcall_migration_lock: 'written by the migrations that a restore runs',
  rollcall_schema_version: 'written by the migrations that a restore runs',
  session: 'whoever was signed in signs in again',
  sign_in_link: 'it ends within minutes',
  operator_session: 'of the version before: as session',
  operator_sign_in_link: 'of the version before: as sign_in_link',
  partner_session: 'of the version before: as session',
  partner_sign_in_link: 'of the version before: as sign_in_link',
  journal_report: 'says how the nodes of that database are',
  restoration: 'says how this database came to be, not that of the backup',
}

const IN_BACKUP_SCHEMAS_SQL = `nspname in (pg_catalog.current_schema(), 'rollcall_outbox')`
const SCHEMA_COLUMN_SQL = `case when nspname = pg_catalog.current_schema() then 'main' else nspname::text end as schema`
/** SQL condition: no extension created the object. */
const notOfExtensionSql = (id: string, catalog: string): string => `not exists (select from pg_depend
  where classid = 'pg_catalog.${catalog}'::regclass and objid = ${id} and deptype = 'e')`

/** Quotes a name from the catalog as an SQL identifier. A name may have any characters. */
export const quoteCatalogName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A table as SQL, with its schema. Tables of `main` need no schema. */
export const tableNameSql = ({ schema, name }: Pick<CatalogTable, 'schema' | 'name'>): string =>
  schema === 'main' ? quoteCatalogName(name) : `${schema}.${quoteCatalogName(name)}`

/**
 * Lists the tables that are copied: those of our schemas that this role may read, except `NOT_COPIED_TABLES` and tables of
 * extensions. The tables of records come last: a restore creates them when it has loaded the table of registries.
 */
export async function listTables(client: Client): Promise<readonly CatalogTable[]> {
  const { rows } = await client.query<CatalogTable>(
    `select ${SCHEMA_COLUMN_SQL}, relname::text as name, array(select attname::text from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where ${IN_BACKUP_SCHEMAS_SQL} and relkind = 'r' and ${notOfExtensionSql('pg_class.oid', 'pg_class')}
        and pg_catalog.has_table_privilege(pg_class.oid, 'SELECT')
      order by relname ~ '^r[0-9]+_', nspname, relname`,
  )
  return rows.filter(({ schema, name }) => schema !== 'main' || !Object.hasOwn(NOT_COPIED_TABLES, name))
}

/** Maps each table to the role that owns it, both as SQL. */
export async function findTableOwners(client: Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<Pick<CatalogTable, 'schema' | 'name'> & { owner: string }>(
    `select ${SCHEMA_COLUMN_SQL}, relname::text as name, relowner::regrole::text as owner
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace where ${IN_BACKUP_SCHEMAS_SQL} and relkind = 'r'`,
  )
  return new Map(rows.map((row) => [tableNameSql(row), row.owner]))
}

/**
 * Lists the sequences of our schemas. A snapshot has no state of sequences, so `last` may be a number that was used after it.
 */
export async function listSequences(client: Client): Promise<readonly CatalogSequence[]> {
  const { rows } = await client.query<CatalogSequence>(
    `select case when schemaname = pg_catalog.current_schema() then 'main' else schemaname::text end as schema,
        sequencename::text as name, last_value::text as last, data_type::text as type
      from pg_sequences where schemaname in (pg_catalog.current_schema(), 'rollcall_outbox')
      order by schemaname, sequencename`,
  )
  return rows
}

/** Locks the definitions of tables until the transaction ends. Rows can be written meanwhile. */
export async function lockTableDefinitions(client: Client, tables: readonly CatalogTable[]): Promise<void> {
  if (tables.length === 0) return
  await client.query(`lock table ${tables.map(tableNameSql).join(', ')} in access share mode`)
}

/** The names of objects because of which a database is not empty: tables, views, sequences and functions. */
export async function listSchemaObjects(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where ${IN_BACKUP_SCHEMAS_SQL} and relkind in ('r', 'p', 'v', 'm', 'f', 'S') and ${notOfExtensionSql('pg_class.oid', 'pg_class')}
      union all select proname::text from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
      where ${IN_BACKUP_SCHEMAS_SQL} and ${notOfExtensionSql('pg_proc.oid', 'pg_proc')} order by name`,
  )
  return rows.map(({ name }) => name)
}

/** The name of the first table of `listTables` that has a row; null when all of them are empty. */
export async function findFilledTable(client: Client): Promise<string | null> {
  for (const table of await listTables(client)) {
    const { rows } = await client.query(`select 1 from ${tableNameSql(table)} limit 1`)
    if (rows.length > 0) return table.name
  }
  return null
}
