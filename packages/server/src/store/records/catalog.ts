/** What PostgreSQL's own catalog says of a table. */
import { type Kysely, sql } from 'kysely'
import { quoteName } from '../db/names.ts'
import type { Tables } from '../db/tables.ts'

type Connection = Kysely<Tables>

export interface FoundIndex {
  readonly name: string
  /** False: its build was interrupted, and no search uses it. */
  readonly valid: boolean
  /** Whether a primary key or another constraint stands on it. */
  readonly constraint: boolean
}

/** By name; none where there is no such table. */
export async function indexesOf(db: Connection, table: string): Promise<ReadonlyMap<string, FoundIndex>> {
  const { rows } = await sql<FoundIndex>`
    select relname::text as name, indisvalid as valid,
      exists (select 1 from pg_constraint where conindid = indexrelid) as constraint
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = to_regclass(${quoteName(table)}) order by relname`.execute(db)
  return new Map(rows.map((row) => [row.name, row]))
}

/** About how many rows a table has, as PostgreSQL last estimated; null where it never did. */
export async function estimatedRows(db: Connection, table: string): Promise<number | null> {
  const { rows } = await sql<{ estimate: number }>`
    select reltuples::float8 as estimate from pg_class
    where oid = to_regclass(${quoteName(table)})`.execute(db)
  const estimate = rows[0]?.estimate ?? -1
  return estimate < 0 ? null : estimate
}

export interface Ownership {
  /** Who asks. */
  readonly user: string
  readonly owner: string
  /** Whether who asks may change the table as its owner may, and make indexes beside it. */
  readonly may_change: boolean
  readonly may_create: boolean
}

/** Whose table it is; null where there is no such table. */
export async function ownershipOf(db: Connection, table: string): Promise<Ownership | null> {
  const { rows } = await sql<Ownership>`
    select current_user::text as user, pg_get_userbyid(relowner)::text as owner,
      pg_has_role(relowner, 'usage') as may_change,
      has_schema_privilege(relnamespace, 'create') as may_create
    from pg_class where oid = to_regclass(${quoteName(table)})`.execute(db)
  return rows[0] ?? null
}
