/**
 * Makes loading fast: removes indexes and keys and disables triggers. Later creates and enables them again, as the catalog had
 * them.
 */
import type { PoolClient } from 'pg'
import { quoteCatalogName } from './catalog.ts'

type Client = Pick<PoolClient, 'query'>

interface IndexOrKeyOrTrigger {
  /** Schema and name of the table, as SQL. */
  readonly table: string
  readonly owner: string
  readonly remove: string
  readonly restore: string
  /** The order of removal, the smallest first. Creation has the reverse order: foreign keys go first and come back last. */
  readonly order: number
}

const IS_ROLLCALL_TABLE_SQL = `pg_class.relkind = 'r' and nspname in (pg_catalog.current_schema(), 'rollcall_outbox')
  and pg_catalog.pg_has_role(pg_class.relowner, 'member')`
const TABLE_AND_OWNER_SQL = `pg_catalog.format('%I.%I', nspname, pg_class.relname) as "table", pg_class.relowner::regrole::text as owner`
const JOIN_NAMESPACE_SQL = 'join pg_namespace on pg_namespace.oid = pg_class.relnamespace'

const FIND_REMOVABLE_DEFINITIONS_SQL = `
  select ${TABLE_AND_OWNER_SQL}, pg_catalog.format('alter table %I.%I drop constraint %I', nspname, pg_class.relname, conname) as remove,
    pg_catalog.format('alter table %I.%I add constraint %I %s', nspname, pg_class.relname, conname, pg_catalog.pg_get_constraintdef(pg_constraint.oid))
      as restore, case contype when 'f' then 1 else 3 end as "order"
  from pg_constraint join pg_class on pg_class.oid = conrelid ${JOIN_NAMESPACE_SQL}
  where ${IS_ROLLCALL_TABLE_SQL} and contype in ('f', 'p', 'u') and conparentid = 0
  union all
  select ${TABLE_AND_OWNER_SQL}, pg_catalog.format('drop index %I.%I', nspname, index.relname), pg_catalog.pg_get_indexdef(index.oid), 2
  from pg_index join pg_class on pg_class.oid = indrelid join pg_class index on index.oid = indexrelid ${JOIN_NAMESPACE_SQL}
  where ${IS_ROLLCALL_TABLE_SQL} and not exists (select from pg_constraint where conindid = indexrelid)
  union all
  select distinct ${TABLE_AND_OWNER_SQL}, pg_catalog.format('alter table %I.%I disable trigger user', nspname, pg_class.relname),
    pg_catalog.format('alter table %I.%I enable trigger user', nspname, pg_class.relname), 4
  from pg_trigger join pg_class on pg_class.oid = tgrelid ${JOIN_NAMESPACE_SQL} where ${IS_ROLLCALL_TABLE_SQL} and not tgisinternal
  order by "order", "table", restore`

/**
 * Drops the indexes and the primary, unique and foreign keys of Rollcall's tables, and disables their triggers. Other
 * constraints stay.
 * @param client connected as the owner; each table is changed as the role that owns it
 * @returns a function that creates and enables them again; it must be called in the same transaction of `client`
 */
export async function stripTablesForLoading(client: Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<IndexOrKeyOrTrigger>(FIND_REMOVABLE_DEFINITIONS_SQL)
  for (const { owner, remove } of rows) await runAsRole(client, owner, () => client.query(remove))
  return async () => {
    for (const { owner, restore } of rows.toReversed()) {
      await runAsRole(client, owner, () => client.query(restore))
    }
  }
}

/** Runs the work as another database role. @param role its name as an SQL identifier */
export async function runAsRole<Result>(client: Client, role: string, work: () => Promise<Result>): Promise<Result> {
  await client.query(`set local role ${role}`)
  const result = await work()
  await client.query('set local role none')
  return result
}

/** Reads the current role of the connection, as an SQL identifier. */
export async function currentRole(client: Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user::text as role')
  return quoteCatalogName(rows[0]?.role ?? '')
}
