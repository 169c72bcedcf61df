/**
 * Claims on a registry. They are advisory locks of PostgreSQL, not rows of the queue: one for imports, one for builds of indexes.
 * One database session at a time has a claim, at most until the session ends. An import and a build may go on together; a change
 * of the registry's attributes takes both claims.
 */
import type { ClientBase } from 'pg'

/** SQL that is true when some database session has this claim on a registry. Parameter 1 is the integer id of the registry. */
export const isRegistryClaimedSql = (claim: 'rollcall import' | 'rollcall indexes'): string =>
  `exists (
     select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
     where locktype = 'advisory' and datname = current_database() and objsubid = 2
       and classid = hashtext('${claim}')::oid and objid = $1::integer::oid and granted)`

/**
 * Claims a registry for an import on this connection; false when another import, or a change of the registry's attributes, has
 * the claim. The claim lasts until `releaseImportClaim`, or until the connection ends, also when this process is killed. From
 * this call on, statements of the connection have no time limit.
 */
export async function tryClaimImport(client: ClientBase, registryId: number): Promise<boolean> {
  await client.query('set statement_timeout = 0')
  const { rows } = await client.query<{ claimed: boolean }>(
    `select pg_try_advisory_lock(hashtext('rollcall import'), $1) as claimed`,
    [registryId],
  )
  return rows[0]?.claimed === true
}

/** Releases the import claim of this session, if it has one. Throws when the session is in a failed transaction. */
export async function releaseImportClaim(client: ClientBase, registryId: number): Promise<void> {
  await client.query(`select pg_advisory_unlock(hashtext('rollcall import'), $1)`, [registryId])
}
