/**
 * The two roles of a database. The application role, of servers and of most commands, owns every table: registries,
 * attributes and indexes are made while the server runs. The owner has the schema and the accounts of access
 * (`account` and `account_*`), to which the application may add rows, and which it may read: it cannot change or delete
 * what it has written there. One role may do both; `doctor` reports that.
 */
import type { Pool, PoolClient } from 'pg'
import { quoteName } from './names.ts'
import { StoreRefusal } from './refusal.ts'
import { withTransaction } from './transaction.ts'

interface HasPool {
  readonly pool: Pool
}

/** As SQL, of a name of a table. */
const isAccount = (name: string): string => `(${name} = 'account' or starts_with(${name}, 'account_'))`

/**
 * Columns of accounts that the application may change: what a new master key encrypts anew, and the end of a key. Public
 * keys and everything that is signed stay as they were written.
 */
const CHANGEABLE: Readonly<Record<string, readonly string[]>> = { account_key: ['sealed', 'retired_at'] }

const OUTBOX = 'rollcall_outbox'

/** Settling waits for nothing that a server does for longer. */
const LOCK_TIMEOUT = '10s'

/**
 * Gives each role what it is to own, and the application its rights on the accounts. It changes nothing where that is so
 * already, and nothing at all where both are one role.
 * @throws StoreRefusal that says what a superuser must do first
 */
export async function settleRoles(owner: HasPool, application: HasPool): Promise<void> {
  const roles = await readRoles(owner, application)
  if (roles.owner === roles.application) return
  await withTransaction(owner.pool, async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
    await client.query("select pg_advisory_xact_lock(hashtextextended('rollcall roles', 0))")
    await checkMembership(client, roles)
    await settleSchemas(client, roles)
    await settleOwners(client, roles)
    await settleRights(client, roles)
  })
}

interface Roles {
  readonly owner: string
  readonly application: string
}

async function readRoles(owner: HasPool, application: HasPool): Promise<Roles> {
  if (owner === application) return { owner: '', application: '' }
  const [first, second] = await Promise.all([owner, application].map(readSession))
  if (first?.database !== second?.database) {
    throw new StoreRefusal('DATABASE_URL and ROLLCALL_OWNER_DATABASE_URL name different databases')
  }
  return { owner: first?.role ?? '', application: second?.role ?? '' }
}

async function readSession({ pool }: HasPool): Promise<{ role: string; database: string } | undefined> {
  const { rows } = await pool.query<{ role: string; database: string }>(
    `select current_user::text as role, oid || ' ' || datname as database from pg_database
      where datname = current_database()`,
  )
  return rows[0]
}

async function checkMembership(client: PoolClient, { owner, application }: Roles): Promise<void> {
  const { rows } = await client.query<{ below: boolean; above: boolean; database: string }>(
    `select pg_has_role($1, $2, 'member') as below, pg_has_role($2, $1, 'member') as above,
      current_database()::text as database`,
    [owner, application],
  )
  const [row] = rows
  if (row?.above === true) {
    throw new StoreRefusal(
      `the role ${application} of DATABASE_URL can act as ${owner}, the role of ROLLCALL_OWNER_DATABASE_URL: ` +
        'use an application role that is no superuser and no member of the owner',
    )
  }
  if (row?.below !== true) throw mustRun(`grant ${application} to ${owner}`)
}

const mustRun = (statement: string): StoreRefusal =>
  new StoreRefusal(`the two roles of the database are not complete: let a superuser run "${statement}"`)

/** The schemas are the owner's, because the owner of a schema may drop every table in it. */
async function settleSchemas(client: PoolClient, { owner, application }: Roles): Promise<void> {
  const { rows } = await client.query<{ schema: string; ours: boolean; theirs: boolean; complete: boolean }>(
    `select nspname::text as schema, pg_has_role($1, nspowner, 'usage') as ours,
        pg_has_role($2, nspowner, 'usage') as theirs,
        has_schema_privilege($2, oid, 'usage') and has_schema_privilege($2, oid, 'create') as complete
      from pg_namespace where nspname in (current_schema(), '${OUTBOX}')`,
    [owner, application],
  )
  for (const { schema, ours, theirs, complete } of rows) {
    const name = quoteName(schema)
    const alter = `alter schema ${name} owner to ${quoteRole(owner)}`
    if (theirs) await run(client, alter)
    else if (!ours) throw mustRun(alter)
    if (theirs || !complete)
      await client.query(`grant usage, create on schema ${name} to ${quoteRole(application)}`)
  }
}

/** Tables take their indexes, sequences and triggers with them. What an extension made is not ours. */
const OBJECTS = `select object.name, object.kind, object.account from (
    select format('%I.%I', nspname, relname) as name, relowner as owner, ${isAccount('relname')} as account,
      case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view' else 'table' end as kind
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname in (current_schema(), '${OUTBOX}') and relkind in ('r', 'p', 'S', 'v', 'm') and not exists (
      select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid
        and (deptype = 'e' or (relkind = 'S' and deptype in ('a', 'i'))))
    union all
    select oid::regprocedure::text, proowner, false, 'function' from pg_proc
    where pronamespace in (select oid from pg_namespace where nspname in (current_schema(), '${OUTBOX}'))
      and prokind = 'f' and not exists (
        select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
  ) object
  where object.owner <> (select oid from pg_roles where rolname = case when object.account then $1 else $2 end)
    and pg_has_role($1, object.owner, 'member')
  order by object.name`

async function settleOwners(client: PoolClient, { owner, application }: Roles): Promise<void> {
  const { rows } = await client.query<{ name: string; kind: string; account: boolean }>(OBJECTS, [
    owner,
    application,
  ])
  for (const { name, kind, account } of rows) {
    await run(client, `alter ${kind} ${name} owner to ${quoteRole(account ? owner : application)}`)
  }
}

/** What the application may not do with accounts, as `has_table_privilege` names it. */
const REFUSED = 'UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'

const ACCOUNTS = `from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relkind in ('r', 'p') and ${isAccount('relname')}`

async function settleRights(client: PoolClient, { application }: Roles): Promise<void> {
  const role = quoteRole(application)
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name ${ACCOUNTS} and not (
        has_table_privilege($1, pg_class.oid, 'SELECT') and has_table_privilege($1, pg_class.oid, 'INSERT')
        and not has_table_privilege($1, pg_class.oid, '${REFUSED}')) order by relname`,
    [application],
  )
  for (const { name } of rows) {
    await client.query(`revoke all on ${quoteName(name)} from public, ${role}`)
    await client.query(`grant select, insert on ${quoteName(name)} to ${role}`)
  }
  for (const { name } of (await client.query<{ name: string }>(`select relname::text as name ${ACCOUNTS}`))
    .rows) {
    const columns = (CHANGEABLE[name] ?? []).map(quoteName).join(', ')
    if (columns !== '') await client.query(`grant update (${columns}) on ${quoteName(name)} to ${role}`)
  }
}

/** A role may have any name; it comes from the database itself. */
const quoteRole = (role: string): string => `"${role.replaceAll('"', '""')}"`

const INSUFFICIENT_PRIVILEGE = '42501'

/** @throws StoreRefusal the owner may not run it */
async function run(client: PoolClient, statement: string): Promise<void> {
  try {
    await client.query(statement)
  } catch (error) {
    throw isForbidden(error) ? mustRun(statement) : error
  }
}

/** Whether the role of a connection may not do what a statement does. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === INSUFFICIENT_PRIVILEGE

/** Refuses to migrate as the application role where an owner has the accounts: new tables would belong to the wrong one. */
export const OWNED_BY_ANOTHER = `select relname ${ACCOUNTS} and not pg_has_role(relowner, 'member') limit 1`

/** Whether the role of these connections may prune and erase accounts. */
export async function mayDeleteAccounts({ pool }: HasPool): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(
    `select has_table_privilege('account', 'DELETE') and has_table_privilege('account_person', 'DELETE') as may`,
  )
  return rows[0]?.may === true
}

/** How separate the roles are, as the application role sees it. */
export interface RoleFacts {
  readonly database: string
  readonly schema: string
  readonly application: string
  readonly superuser: boolean
  /** Whether the accounts are safe from the application role. */
  readonly separate: boolean
}

export async function readRoleFacts({ pool }: HasPool): Promise<RoleFacts> {
  const { rows } = await pool.query<RoleFacts>(
    `select current_database()::text as database, current_schema()::text as schema, current_user::text as application,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      not pg_has_role((select nspowner from pg_namespace where nspname = current_schema()), 'usage')
        and not exists (select ${ACCOUNTS} and (pg_has_role(relowner, 'usage')
          or has_table_privilege(pg_class.oid, '${REFUSED}'))) as separate`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no roles')
  return row
}
