/** Stores the tombstones of the audit log. */
import { type Kysely, sql } from 'kysely'

export interface NewTombstone {
  readonly at: Date
  /** The canonical JSON that is signed. */
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
  /** The chains that the content names. */
  readonly chains: readonly string[]
}

/** Inserts a tombstone. @param connection the transaction that makes the change which the tombstone states */
export async function insertTombstone(
  connection: Kysely<unknown>,
  { at, content, kid, signature, chains }: NewTombstone,
): Promise<void> {
  await sql`insert into account_tombstone (at, content, kid, signature, chains)
    values (${at}, ${content}, ${kid}, ${signature}, ${chains})`.execute(connection)
}
