/** Finds what an account of PostgreSQL may do beyond reading. Without such rights, no error of ours can harm a source. */

import { listEncryptionWeaknesses } from '../engine/encryption.ts'
import type { EngineReport } from '../engine/engine.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { makeRefusal } from '../engine/source-refusal.ts'
import type { PostgresSnapshot } from './connections.ts'

const SYSTEM_SCHEMAS = `'pg_catalog', 'information_schema', 'pg_toast'`
const userSchemaSql = (schema: string): string => `${schema} not in (${SYSTEM_SCHEMAS}) and ${schema} not like 'pg\\_temp\\_%'`

/** Roles of the server whose members may do more than read, for example write rows or files, or run programs. */
const WRITING_ROLES_SQL = `'pg_write_all_data', 'pg_write_server_files', 'pg_execute_server_program', 'pg_maintain', 'pg_create_subscription'`

/** SQL of a relation to join: the account, and all roles that it may take, even if it does not have their rights now. */
const ACCOUNT_ROLES_SQL = `(select oid as role from pg_roles where pg_has_role(current_user, oid, 'member')) as member`

/** Statements that each return a row with a sentence when the account has a certain right beyond reading, otherwise none. */
const FIND_EXCESS_RIGHTS_SQL: readonly string[] = [
  `select 'it is a superuser' from pg_roles where rolname = current_user and rolsuper`,
  `select 'it may make databases (CREATEDB)' from pg_roles where rolname = current_user and rolcreatedb`,
  `select 'it may make roles (CREATEROLE)' from pg_roles where rolname = current_user and rolcreaterole`,
  `select 'it passes by the rules of rows (BYPASSRLS)' from pg_roles where rolname = current_user and rolbypassrls`,
  `select 'it is a member of ' || string_agg(rolname, ', ' order by rolname) from pg_roles
    where rolname in (${WRITING_ROLES_SQL}) and pg_has_role(current_user, oid, 'member') having count(*) > 0`,
  `select 'it may become ' || string_agg(rolname, ', ' order by rolname) || ', which may write' from pg_roles
    where rolname <> current_user and pg_has_role(current_user, oid, 'member')
      and (rolsuper or rolcreatedb or rolcreaterole or rolbypassrls) having count(*) > 0`,
  `select 'it may make schemas in the database (CREATE)' from ${ACCOUNT_ROLES_SQL}
    where has_database_privilege(role, current_database(), 'create') limit 1`,
  `select 'it may make objects in the schema ' || min(nspname) from pg_namespace, ${ACCOUNT_ROLES_SQL}
    where ${userSchemaSql('nspname')} and has_schema_privilege(role, pg_namespace.oid, 'create') having count(*) > 0`,
  `select 'it may write to ' || min(format('%I.%I', nspname, relname)) || case when count(distinct pg_class.oid) > 1 then ' and ' || count(distinct pg_class.oid) - 1 || ' more' else '' end
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace cross join ${ACCOUNT_ROLES_SQL}
    where relkind in ('r', 'p', 'v', 'm', 'f') and ${userSchemaSql('nspname')}
      and (relowner = role or has_table_privilege(role, pg_class.oid, 'insert, update, delete, truncate, references, trigger')
        or has_any_column_privilege(role, pg_class.oid, 'insert, update, references'))
    having count(*) > 0`,
  `select 'it may advance the sequence ' || min(format('%I.%I', nspname, relname))
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace cross join ${ACCOUNT_ROLES_SQL}
    where relkind = 'S' and ${userSchemaSql('nspname')} and has_sequence_privilege(role, pg_class.oid, 'usage, update')
    having count(*) > 0`,
  `select 'it may call ' || min(format('%I.%I', nspname, proname)) || ', which acts as its owner (SECURITY DEFINER)'
    from pg_proc join pg_namespace on pg_namespace.oid = pronamespace cross join ${ACCOUNT_ROLES_SQL}
    where prosecdef and ${userSchemaSql('nspname')} and has_function_privilege(role, pg_proc.oid, 'execute')
    having count(*) > 0`,
]

/** A statement that finds the right of replication, which an account needs only to follow the log. */
const FIND_REPLICATION_RIGHT = `select 'it may replicate the whole server (REPLICATION)' from pg_roles where rolname = current_user and rolreplication`

const FIND_ROLLCALL_TABLE_SQL = `select 'rollcall' from pg_class where relname = 'rollcall_migration' and relkind = 'r' limit 1`

/** Returns a row when the connection may go over a network: it uses neither a socket nor a loopback address. */
const FIND_REMOTE_CONNECTION = `select 1 where inet_server_addr() is not null
  and not inet_server_addr() << any (array['127.0.0.0/8', '::1/128']::inet[])`

/**
 * Returns a report on the database and the account.
 * @throws SourceRefusal the database is one of Rollcall: a source file could read its records and keys, whatever the grants of
 * participants say
 */
export async function readEngineReport(state: PostgresSnapshot, { ca, mirror }: SourceFile): Promise<EngineReport> {
  const one = async (text: string): Promise<string | null> => (await state.run({ text, values: [] })).rows[0]?.[0] ?? null
  if ((await one(FIND_ROLLCALL_TABLE_SQL)) !== null) {
    throw makeRefusal(['url'], 'it is a database of Rollcall itself; a source is the database of another system')
  }
  const about = await one(
    `select 'PostgreSQL ' || current_setting('server_version') || ', database ' || current_database() || ', account ' || current_user`,
  )
  const writes: string[] = []
  for (const text of mirror?.follow === 'logical'
    ? FIND_EXCESS_RIGHTS_SQL
    : [...FIND_EXCESS_RIGHTS_SQL, FIND_REPLICATION_RIGHT]) {
    const found = await one(text)
    if (found !== null) writes.push(found)
  }
  const isEncrypted = (await one('select 1 from pg_stat_ssl where pid = pg_backend_pid() and ssl')) !== null
  const isLocal = (await one(FIND_REMOTE_CONNECTION)) === null
  const weak = listEncryptionWeaknesses({ isEncrypted, isLocal }, ca)
  if ((await one(`select 'standby' where pg_is_in_recovery()`)) !== null) {
    weak.push('it is a standby: answers are as old as what it has received')
  }
  return { about: about ?? '', writes, weak }
}
