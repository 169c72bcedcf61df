/** Pruning accounts: the beginnings of chains, as the owner of the database. */
import { type Kysely, sql } from 'kysely'
import { IS_ACCOUNT_HELD } from '../db/holds.ts'
import type { Tables } from '../db/tables.ts'

/** Entries of a chain up to one of them. */
export interface ChainPart {
  readonly chain: string
  /** The last entry. */
  readonly sequence: number
  /** Of that entry. */
  readonly hash: Buffer
}

/** A beginning of a chain that may be pruned, and what stays of it for a hold. */
export interface PrunablePart extends ChainPart {
  readonly entries: number
}

/**
 * For each chain its entries before a time, up to a checkpoint, and up to the first one that a hold covers.
 * @param before the begin of a month
 */
export async function prunableParts(
  connection: Kysely<Tables>,
  before: Date,
): Promise<{ readonly parts: readonly PrunablePart[]; readonly held: number }> {
  const { rows } = await sql<{ chain: string; closed: number; held: number | null }>`
    select closed.chain, closed.sequence as closed,
      (select min(account.sequence) from account where account.chain = closed.chain
        and account.sequence <= closed.sequence and ${sql.raw(IS_ACCOUNT_HELD)}) as held
    from (
      select distinct on (account.chain) account.chain, account.sequence
      from account_checkpoint join account using (chain, sequence)
      where account.at < ${before} order by account.chain, account.sequence desc
    ) closed order by closed.chain`.execute(connection)
  const found = await Promise.all(
    rows.map(({ chain, closed, held }) => partOf(connection, chain, held === null ? closed : held - 1)),
  )
  return {
    parts: found.filter((part) => part !== null),
    held: rows.filter(({ held }) => held !== null).length,
  }
}

async function partOf(connection: Kysely<Tables>, chain: string, last: number): Promise<PrunablePart | null> {
  const { rows } = await sql<PrunablePart>`
    select chain, sequence, hash, (select count(*) from account as one
      where one.chain = account.chain and one.sequence <= account.sequence) as entries
    from account where chain = ${chain} and sequence <= ${last} order by sequence desc limit 1`.execute(
    connection,
  )
  return rows[0] ?? null
}

/** The part of it that one transaction deletes: `most` entries. */
export async function firstPart(
  connection: Kysely<Tables>,
  { chain, sequence }: ChainPart,
  most: number,
): Promise<ChainPart | null> {
  const { rows } = await sql<ChainPart>`
    select chain, sequence, hash from (
      select chain, sequence, hash from account where chain = ${chain} and sequence <= ${sequence}
      order by sequence limit ${most}
    ) as part order by sequence desc limit 1`.execute(connection)
  return rows[0] ?? null
}

/**
 * Deletes entries with the rows of their persons.
 * @param transaction in which the tombstone is inserted
 */
export async function deletePart(
  transaction: Kysely<Tables>,
  { chain, sequence }: ChainPart,
): Promise<{ readonly entries: number; readonly persons: number }> {
  const remove = async (table: 'account' | 'account_person'): Promise<number> => {
    const { numDeletedRows } = await transaction
      .deleteFrom(table)
      .where('chain', '=', chain)
      .where('sequence', '<=', sequence)
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }
  return { persons: await remove('account_person'), entries: await remove('account') }
}
