/** Reads the chains that have not ended. In a restored database, entries after the last ones of these chains may be lost. */
import { type Kysely, sql } from 'kysely'
import type { PoolClient } from 'pg'

/** A chain with its last entry. `signed`: the sequence number of the last entry that a checkpoint signs; 0: none. */
export interface OpenChainRow {
  readonly chain: string
  readonly sequence: number
  readonly signed: number
}

/**
 * SQL of `known`, for `with recursive`: a row for each chain that has entries, found by a few index look-ups. The recursion ends
 * with a row whose `chain` is null.
 */
export const KNOWN_CHAINS_SQL = sql`known as (
      (select chain from account order by chain limit 1)
      union all
      select (select account.chain from account where account.chain > known.chain order by account.chain limit 1)
      from known where known.chain is not null
    )`

/** Lists the chains that have not ended, sorted by id. It does not read all entries: a country has billions of them. */
export async function findOpenChains(connection: Kysely<unknown>): Promise<readonly OpenChainRow[]> {
  const { rows } = await sql<OpenChainRow>`
    with recursive ${KNOWN_CHAINS_SQL}
    select chain, (select sequence from account where account.chain = known.chain order by sequence desc limit 1) as sequence,
      coalesce((select max(sequence) from account_checkpoint where account_checkpoint.chain = known.chain), 0) as signed
    from known where chain is not null
      and (select content like '%"ended":true%' from account_checkpoint where account_checkpoint.chain = known.chain
        order by id desc limit 1) is not true
    order by chain`.execute(connection)
  return rows
}

/**
 * The time of the newest audit entry; 1970 when there is none. After a restore by other means than Rollcall, this time says up to
 * when the restored data reach.
 */
export async function readNewestEntryTime(client: Pick<PoolClient, 'query'>): Promise<Date> {
  const { rows } = await client.query<{ at: Date | null }>('select max(at) as at from account')
  return rows[0]?.at ?? new Date(0)
}
