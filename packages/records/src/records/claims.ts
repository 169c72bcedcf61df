/** Claims of a registry by a session, which end with it: one import at a time, one build of indexes at a time. */

/** SQL that says whether a session has the claim of the registry that is parameter 1, an integer. */
export const holdsClaim = (claim: 'rollcall import' | 'rollcall indexes'): string =>
  `exists (
     select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
     where locktype = 'advisory' and datname = current_database() and objsubid = 2
       and classid = hashtext('${claim}')::oid and objid = $1::integer::oid and granted)`
