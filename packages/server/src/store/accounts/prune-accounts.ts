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

/** The newest checkpoint of a chain whose entry is old enough. */
export interface ClosingCheckpoint extends ChainPart {
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
}

/** A beginning of a chain that may be pruned, and what stays of it for a hold. */
export interface PrunablePart extends ChainPart {
  readonly entries: number
}

/**
 * For each chain the newest checkpoint of an entry before a time. The caller verifies it: other roles may insert rows.
 * @param before the begin of a month
 */
export async function closingCheckpoints(
  connection: Kysely<Tables>,
  before: Date,
): Promise<readonly ClosingCheckpoint[]> {
  const { rows } = await sql<ClosingCheckpoint>`
    select distinct on (account.chain) account.chain, account.sequence, account.hash,
      account_checkpoint.content, account_checkpoint.kid, account_checkpoint.signature
    from account_checkpoint join account using (chain, sequence)
    where account.at < ${before} and account.sequence < ${Number.MAX_SAFE_INTEGER}
    order by account.chain, account.sequence desc, account_checkpoint.id`.execute(connection)
  return rows
}

/** For each chain its entries up to that of the checkpoint, and up to the first one that a hold covers. */
export async function prunableParts(
  connection: Kysely<Tables>,
  checkpoints: readonly ChainPart[],
): Promise<{ readonly parts: readonly PrunablePart[]; readonly held: number }> {
  const { rows } = await sql<{ chain: string; closed: number; held: number | null }>`
    select closed.chain, closed.sequence as closed,
      (select min(account.sequence) from account where account.chain = closed.chain
        and account.sequence <= closed.sequence and ${sql.raw(IS_ACCOUNT_HELD)}) as held
    from unnest(${checkpoints.map(({ chain }) => chain)}::uuid[],
      ${checkpoints.map(({ sequence }) => sequence)}::bigint[]) as closed (chain, sequence)
    order by closed.chain`.execute(connection)
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

/** Until the transaction ends, no hold is added: one that was added before is seen by its next statement. */
export async function lockHolds(transaction: Kysely<Tables>): Promise<void> {
  await sql`lock table hold in share mode`.execute(transaction)
}

/**
 * The part of it that one transaction deletes: `most` entries, up to the first one that a hold covers now or that is not old.
 * @param transaction with `lockHolds`
 */
export async function firstPart(
  transaction: Kysely<Tables>,
  { chain, sequence }: ChainPart,
  before: Date,
  most: number,
): Promise<ChainPart | null> {
  const { rows } = await sql<ChainPart>`
    with part as materialized (
      select chain, sequence, hash, not (at < ${before}) or ${sql.raw(IS_ACCOUNT_HELD)} as stays
      from account where chain = ${chain} and sequence <= ${sequence}
      order by sequence limit ${most}
    )
    select chain, sequence, hash from part
    where sequence < coalesce((select min(sequence) from part where stays), ${Number.MAX_SAFE_INTEGER})
    order by sequence desc limit 1`.execute(transaction)
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
