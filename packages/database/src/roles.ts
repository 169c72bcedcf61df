/**
 * The two roles of a database. The application role, used by servers and most commands, owns most tables, because the server
 * makes registries, attributes and indexes while it runs. The owner role owns the schema, the audit tables (`account` and
 * `account_*`), the holds and the list of migrations. The application may read them, and add rows except to the list; it can
 * change only the columns in `APPLICATION_UPDATE_COLUMNS`, and delete nothing. One role may do both; `doctor` reports that.
 */
import type { Pool, PoolClient } from 'pg'
import { quoteName } from './names.ts'
import { StoreRefusal } from './refusal.ts'
import { withTransaction } from './transaction.ts'

interface PoolDeps {
  readonly pool: Pool
}

/**
 * Statements of the owner must not use anything that the application can make. The application may make functions and operators
 * in our schema, and PostgreSQL prefers them to its own if their argument types fit better. So the SQL here names functions with
 * `pg_catalog`, and gives operators exact types.
 */

/**
 * SQL that is true for the name of a table of the owner. The owner reads no other tables: somebody may have replaced
 * them by views that run code.
 */
const isOwnersTableSql = (name: string): string =>
  `(${name} = any('{account,hold,${MIGRATION_TABLES.join(',')}}'::name[])
    or pg_catalog.starts_with(${name}::text, 'account_'::text))`

/** The owner's tables that record migrations. The application role may only read them. */
const MIGRATION_TABLES: readonly string[] = ['rollcall_migration', 'rollcall_migration_lock', 'rollcall_schema_version']

/**
 * Columns of the owner's tables that the application may change: secrets that a new master key encrypts again, and the
 * end of a hold. Public keys and signed data cannot be changed.
 */
const APPLICATION_UPDATE_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  account_key: ['sealed'],
  hold: ['removed_at', 'removed_by'],
}

const OUTBOX_SCHEMA = 'rollcall_outbox'

/** The longest time for which a change of roles waits for a lock. */
const LOCK_TIMEOUT = '10s'

/**
 * Gives each role its tables, and gives the application its rights on the owner's tables. Does nothing when both are one role.
 * @throws StoreRefusal that says what must be done first, such as a statement for a superuser
 */
export async function assignTablesAndRights(owner: PoolDeps, application: PoolDeps): Promise<void> {
  const roles = await readRoles(owner, application)
  if (roles.owner === roles.application) return
  await withTransaction(owner.pool, async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query("select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('rollcall roles', 0))")
    await checkRoleMemberships(client, roles)
    await correctSchemaOwners(client, roles)
    await correctObjectOwners(client, roles)
    await checkNoTriggersOrRules(client)
    await setApplicationRights(client, roles)
  })
}

interface RoleNames {
  readonly owner: string
  readonly application: string
}

async function readRoles(owner: PoolDeps, application: PoolDeps): Promise<RoleNames> {
  if (owner === application) return { owner: '', application: '' }
  const [first, second] = await Promise.all([owner, application].map(readRoleAndDatabase))
  if (first?.database !== second?.database) {
    throw new StoreRefusal('DATABASE_URL and ROLLCALL_OWNER_DATABASE_URL name different databases')
  }
  return { owner: first?.role ?? '', application: second?.role ?? '' }
}

async function readRoleAndDatabase({ pool }: PoolDeps): Promise<{ role: string; database: string } | undefined> {
  const { rows } = await pool.query<{ role: string; database: string }>(
    `select current_user::text as role, oid::text || ' '::text || datname::text as database from pg_database
      where datname = pg_catalog.current_database()`,
  )
  return rows[0]
}

async function checkRoleMemberships(client: PoolClient, { owner, application }: RoleNames): Promise<void> {
  const { rows } = await client.query<{ below: boolean; above: boolean }>(
    `select pg_catalog.pg_has_role($1::name, $2::name, 'member') as below,
      pg_catalog.pg_has_role($2::name, $1::name, 'member') as above`,
    [owner, application],
  )
  const [row] = rows
  if (row?.above === true) {
    throw new StoreRefusal(
      `the role ${application} of DATABASE_URL can act as ${owner}, the role of ROLLCALL_OWNER_DATABASE_URL: ` +
        'use an application role that is no superuser and no member of the owner',
    )
  }
  if (row?.below !== true) throw needsSuperuserRefusal(`grant ${application} to ${owner}`)
}

const needsSuperuserRefusal = (statement: string): StoreRefusal =>
  new StoreRefusal(`the two roles of the database are not complete: let a superuser run "${statement}"`)

/** Makes the owner role the owner of the schemas, because the owner of a schema may drop every table in it. */
async function correctSchemaOwners(client: PoolClient, { owner, application }: RoleNames): Promise<void> {
  const { rows } = await client.query<{ schema: string; ours: boolean; theirs: boolean; complete: boolean }>(
    `select nspname::text as schema, pg_catalog.pg_has_role($1::name, nspowner, 'usage') as ours,
        pg_catalog.pg_has_role($2::name, nspowner, 'usage') as theirs,
        pg_catalog.has_schema_privilege($2::name, oid, 'usage')
          and pg_catalog.has_schema_privilege($2::name, oid, 'create') as complete
      from pg_namespace where nspname in (pg_catalog.current_schema(), '${OUTBOX_SCHEMA}')`,
    [owner, application],
  )
  for (const { schema, ours, theirs, complete } of rows) {
    const name = quoteName(schema)
    const alter = `alter schema ${name} owner to ${quoteRole(owner)}`
    if (theirs) await runAsOwner(client, alter)
    else if (!ours) throw needsSuperuserRefusal(alter)
    if (theirs || !complete) await client.query(`grant usage, create on schema ${name} to ${quoteRole(application)}`)
  }
}

/**
 * SQL of the tables, views, sequences and functions whose owner must change. Indexes, triggers and a table's own
 * sequences follow the table. Objects of extensions are left out.
 */
const FIND_MISOWNED_OBJECTS = `select object.name, object.kind, object.owners from (
    select pg_catalog.format('%I.%I', nspname, relname) as name, relowner as owner, 
      relkind in ('r', 'p', 'S') and ${isOwnersTableSql('relname')} as owners,
      case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname in (pg_catalog.current_schema(), '${OUTBOX_SCHEMA}') and relkind in ('r', 'p', 'S', 'v', 'm') and not exists (
      select from pg_depend where classid = 'pg_catalog.pg_class'::regclass::oid and objid = pg_class.oid
        and (deptype = 'e' or (relkind = 'S' and deptype in ('a', 'i'))))
    union all
    select oid::regprocedure::text, proowner, false, 'function' from pg_proc
    where pronamespace in (select oid from pg_namespace where nspname in (pg_catalog.current_schema(), '${OUTBOX_SCHEMA}'))
      and prokind = 'f' and not exists (
        select from pg_depend where classid = 'pg_catalog.pg_proc'::regclass::oid and objid = pg_proc.oid and deptype = 'e')
  ) object
  where object.owner <> (select oid from pg_roles where rolname = case when object.owners then $1::name else $2::name end)
    and pg_catalog.pg_has_role($1::name, object.owner, 'member')
  order by object.name`

async function correctObjectOwners(client: PoolClient, { owner, application }: RoleNames): Promise<void> {
  const { rows } = await client.query<{ name: string; kind: string; owners: boolean }>(FIND_MISOWNED_OBJECTS, [
    owner,
    application,
  ])
  for (const { name, kind, owners } of rows) {
    await runAsOwner(client, `alter ${kind} ${name} owner to ${quoteRole(owners ? owner : application)}`)
  }
}

/** Privileges on tables of the owner that the application must not have, as `has_table_privilege` names them. */
const REFUSED_PRIVILEGES = 'UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'

const FROM_OWNERS_TABLES_SQL = `from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = pg_catalog.current_schema() and relkind in ('r', 'p') and ${isOwnersTableSql('relname')}`

/** SQL that is true when a role has a forbidden privilege on a table of the owner, or on a column of it. */
const hasForbiddenPrivilegeSql = (role: string): string => `(
  pg_catalog.has_table_privilege(${role}, pg_class.oid, '${REFUSED_PRIVILEGES}')
  or pg_catalog.has_any_column_privilege(${role}, pg_class.oid, 'REFERENCES')
  or exists (select from pg_attribute where attrelid = pg_class.oid and attnum > 0::int2 and not attisdropped
    and pg_catalog.has_column_privilege(${role}, pg_class.oid, attnum, 'UPDATE')
    and not (${Object.entries(APPLICATION_UPDATE_COLUMNS)
      .map(([table, columns]) => `(relname = '${table}' and attname = any('{${columns.join(',')}}'::name[]))`)
      .join(' or ')})))`

/** SQL of the triggers, rules, policies and row security of all tables: they take effect when rows are written or read. */
const FIND_TRIGGERS_RULES_POLICIES = `
  select 'trigger' as kind, tgname::text as name, tgrelid as "table" from pg_trigger where not tgisinternal
  union all select 'rule', rulename::text, ev_class from pg_rewrite
  union all select 'policy', polname::text, polrelid from pg_policy
  union all select 'row security', relname::text, oid from pg_class where relrowsecurity or relforcerowsecurity`

/** SQL of all relations, views included, that have the name of one of the owner's tables. */
const FROM_SAME_NAMED_RELATIONS_SQL = `from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = pg_catalog.current_schema() and relkind in ('r', 'p', 'v', 'm', 'f') and ${isOwnersTableSql('relname')}`

/**
 * Refuses triggers, rules, policies and row security on tables of the owner, and views that have the name of such a table:
 * Rollcall makes none of these. A trigger that the application made while it owned the table could hide rows, and would run with
 * the owner's rights.
 * @throws StoreRefusal that names the first one, so that somebody looks into it
 */
async function checkNoTriggersOrRules(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ kind: string; name: string; table: string }>(
    `select kind, name, relname::text as "table" from (${FIND_TRIGGERS_RULES_POLICIES}) addition join pg_class on oid = addition."table"
      where oid in (select pg_class.oid ${FROM_SAME_NAMED_RELATIONS_SQL}) order by relname, kind, name limit 1`,
  )
  const [row] = rows
  if (row === undefined) return
  throw new StoreRefusal(
    `the table ${row.table} has a ${row.kind} (${row.name}), which Rollcall did not make and which may hide audit entries: ` +
      'find out who made it, and drop it as a superuser',
  )
}

/** Gives the application role its rights on the owner's tables, and takes all other rights on them away. */
async function setApplicationRights(client: PoolClient, { application }: RoleNames): Promise<void> {
  const role = quoteRole(application)
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name ${FROM_OWNERS_TABLES_SQL} and (
        not pg_catalog.has_table_privilege($1::name, pg_class.oid, 'SELECT')
        or not (pg_catalog.has_table_privilege($1::name, pg_class.oid, 'INSERT')
          or relname = any('{${MIGRATION_TABLES.join(',')}}'::name[]))
        or ${hasForbiddenPrivilegeSql('$1::name')}) order by relname`,
    [application],
  )
  for (const { name } of rows) {
    // Revoking on the table also revokes privileges on its columns.
    await client.query(`revoke all on ${quoteName(name)} from public, ${role}`)
    const rights = MIGRATION_TABLES.includes(name) ? 'select' : 'select, insert'
    await client.query(`grant ${rights} on ${quoteName(name)} to ${role}`)
  }
  for (const { name } of (await client.query<{ name: string }>(`select relname::text as name ${FROM_OWNERS_TABLES_SQL}`)).rows) {
    const columns = (APPLICATION_UPDATE_COLUMNS[name] ?? []).map(quoteName).join(', ')
    if (columns !== '') await client.query(`grant update (${columns}) on ${quoteName(name)} to ${role}`)
  }
}

/** Quotes the name of a role. It may be any text, because it comes from the database. */
const quoteRole = (role: string): string => `"${role.replaceAll('"', '""')}"`

const INSUFFICIENT_PRIVILEGE = '42501'

/** Runs a statement as the owner role. @throws StoreRefusal the owner role may not run it */
async function runAsOwner(client: PoolClient, statement: string): Promise<void> {
  try {
    await client.query(statement)
  } catch (error) {
    throw isPrivilegeMissing(error) ? needsSuperuserRefusal(statement) : error
  }
}

/** True when the role of the connection lacks a privilege for the statement. */
export const isPrivilegeMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === INSUFFICIENT_PRIVILEGE

/**
 * SQL that finds one of the owner's tables that belongs to a role of which our role is no member. If there is one, our role must
 * not migrate, because it would own new tables that should belong to that other role.
 */
export const FIND_TABLE_OF_ANOTHER_OWNER = `select relname ${FROM_OWNERS_TABLES_SQL} and not pg_catalog.pg_has_role(relowner, 'member') limit 1`

/** The facts that the application role finds out about both roles. */
export interface DatabaseRoleFacts {
  readonly database: string
  readonly schema: string
  readonly application: string
  readonly superuser: boolean
  /** True when the application role cannot change or delete audit entries. */
  readonly separate: boolean
}

/** Reads the facts about both roles, as the application role. */
export async function readDatabaseRoleFacts({ pool }: PoolDeps): Promise<DatabaseRoleFacts> {
  const { rows } = await pool.query<DatabaseRoleFacts>(
    `select current_database()::text as database, current_schema()::text as schema, current_user::text as application,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      not pg_has_role((select nspowner from pg_namespace where nspname = current_schema()), 'usage')
        and not exists (select ${FROM_SAME_NAMED_RELATIONS_SQL} and (pg_has_role(relowner, 'usage') or ${hasForbiddenPrivilegeSql('current_user')}
          or exists (select from (${FIND_TRIGGERS_RULES_POLICIES}) addition where addition."table" = pg_class.oid))) as separate`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no roles')
  return row
}
