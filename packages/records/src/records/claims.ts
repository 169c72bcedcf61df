/** Claims of a registry by a session, which end with it: one import at a time, one build of indexes at a time. */
import type { ClientBase } from 'pg'

/** SQL that says whether a session has the claim of the registry that is parameter 1, an integer. */
export const holdsClaim = (claim: 'rollcall import' | 'rollcall indexes'): string =>
  `exists (
     select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
     where locktype = 'advisory' and datname = current_database() and objsubid = 2
       and classid = hashtext('${claim}')::oid and objid = $1::integer::oid and granted)`

/**
 * Claims a connection for an import into a registry; false when another import holds the registry. The claim
 * belongs to the session: it ends with the connection, also when this process is killed. Statements of the
 * session have no deadline from then on.
 */
export async function claimImport(client: ClientBase, registryId: number): Promise<boolean> {
  await client.query('set statement_timeout = 0')
  const { rows } = await client.query<{ claimed: boolean }>(
    `select pg_try_advisory_lock(hashtext('rollcall import'), $1) as claimed`,
    [registryId],
  )
  return rows[0]?.claimed === true
}

/** Gives the claim of an import back, if the session has it. Throws if the session is in a failed transaction. */
export async function unclaimImport(client: ClientBase, registryId: number): Promise<void> {
  await client.query(`select pg_advisory_unlock(hashtext('rollcall import'), $1)`, [registryId])
}
