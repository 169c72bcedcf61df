/** Closes a registry or participant before its removal. */
import type { Database } from '@rollcall/database/database'
import type { Removable } from '@rollcall/database/removal'

interface ClosingSql {
  /**
   * SQL that closes the registry or participant with id `$1`, and returns the ids of the rows that it changes. For a registry, it
   * revokes all grants, also those that begin later. A participant is disabled if it is active.
   */
  readonly close: string
  /** SQL that restores the rows with the ids `$1`. A grant stays revoked if its period overlaps that of a newer grant. */
  readonly reopen: string
}

const CLOSING_SQL: Readonly<Record<Removable, ClosingSql>> = {
  registry: {
    close: `update participant_grant set revoked_at = now()
      where registry = $1 and revoked_at is null returning id`,
    reopen: `update participant_grant as closed set revoked_at = null
      where id = any($1::integer[]) and not exists (select from participant_grant as newer
        where newer.participant = closed.participant and newer.registry = closed.registry and newer.revoked_at is null
          and tstzrange(newer.valid_from, newer.valid_until) && tstzrange(closed.valid_from, closed.valid_until))`,
  },
  participant: {
    close: `update participant set status = 'disabled' where id = $1 and status = 'active' returning id`,
    reopen: `update participant set status = 'active' where id = any($1::integer[])`,
  },
}

/** Closes the registry or participant for all nodes within a second. @returns a function that opens it again */
export async function closeRegistryOrParticipant(
  { pool }: Pick<Database, 'pool'>,
  removable: Removable,
  id: number,
): Promise<() => Promise<void>> {
  const { close, reopen } = CLOSING_SQL[removable]
  const { rows } = await pool.query<{ id: number }>(close, [id])
  return async () => {
    await pool.query(reopen, [rows.map((row) => row.id)])
  }
}
