/** Reads the chains that have not ended. In a restored database, entries after the last ones of these chains may be lost. */
import { type Kysely, sql } from 'kysely'
import type { PoolClient } from 'pg'

/** A chain with its last entry. `signed`: the sequence number of the last entry that a checkpoint signs; 0: none. */
export interface OpenChainRow {
  readonly chain: string
  readonly sequence: number
  readonly signed: number
}

export async function findOpenChains(connection: Kysely<unknown>): Promise<readonly OpenChainRow[]> {
  const { rows } = await sql<OpenChainRow>`
    select chain, max(sequence) as sequence, coalesce((select max(sequence) from account_checkpoint
        where account_checkpoint.chain = account.chain), 0) as signed
    from account
    where not exists (select from account_checkpoint where account_checkpoint.chain = account.chain
      and content like '%"ended":true%')
    group by chain order by chain`.execute(connection)
  return rows
}

/**
 * The time of the newest audit entry; 1970 when there is none. After a restore by other means than Rollcall, it counts
 * as the time of the snapshot.
 */
export async function readNewestEntryTime(client: Pick<PoolClient, 'query'>): Promise<Date> {
  const { rows } = await client.query<{ at: Date | null }>('select max(at) as at from account')
  return rows[0]?.at ?? new Date(0)
}
