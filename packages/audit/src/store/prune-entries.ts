/**
 * Prunes the beginnings of chains from the audit log, as the owner of the database. Each statement reads one chunk of one chain,
 * so that any number of entries can be pruned. A prune that was stopped continues where it stopped. Functions are named with
 * their schema: the application may make functions of these names.
 */

import { type Kysely, sql } from 'kysely'
import { ENTRIES_WITH_CONTENT_SQL } from './entry-shape.ts'
import { IS_ENTRY_HELD_SQL } from './held-entries.ts'
import { KNOWN_CHAINS_SQL } from './open-chains.ts'
import { personRowsSql } from './packed-persons.ts'

/** The beginning of a chain, up to an entry. */
export interface ChainPartUpToEntry {
  readonly chain: string
  /** The sequence number of the last entry in this beginning of the chain. */
  readonly sequence: number
  /** The hash of this last entry. */
  readonly hash: Buffer
}

export interface ChainWithOldEntries {
  readonly chain: string
  /** True when the chain has a checkpoint. */
  readonly signed: boolean
}

/** Lists the chains whose first entry is older than a time, sorted by id. Each chain costs a few look-ups. */
export async function findChainsBegunBefore(connection: Kysely<unknown>, before: Date): Promise<readonly ChainWithOldEntries[]> {
  const { rows } = await sql<ChainWithOldEntries>`
    with recursive ${KNOWN_CHAINS_SQL}
    select chain, exists (select from account_checkpoint where account_checkpoint.chain = known.chain) as signed
    from known where chain is not null
      and (select account.at from account where account.chain = known.chain order by sequence limit 1) < ${before}
    order by chain`.execute(connection)
  return rows
}

/** Why a chunk stopped: the next entry is not old, a hold protects it, or the chain ends; null: the chunk is full. */
export type PruneStop = 'young' | 'held' | 'end' | null

/** Old entries of a chain that one statement has read. */
export interface OldEntryRange extends ChainPartUpToEntry {
  readonly entries: number
}

/**
 * Reads old entries of a chain until the first that is not old, or that a hold protects.
 * @param after the sequence number before that of the first entry to read; 0: reads from the first entry of the chain
 * @param most the most entries
 */
export async function readOldEntries(
  connection: Kysely<unknown>,
  { chain, after, before, most }: { chain: string; after: number; before: Date; most: number },
): Promise<{ readonly chunk: OldEntryRange | null; readonly stop: PruneStop }> {
  const { rows } = await sql<{
    sequence: number | null
    hash: Buffer | null
    entries: number
    read: number
    stays: 'young' | 'held' | null
  }>`
    with part as materialized (
      select sequence, hash, case when not (at < ${before}) then 'young' when ${sql.raw(IS_ENTRY_HELD_SQL)} then 'held' end as stays
      from ${sql.raw(ENTRIES_WITH_CONTENT_SQL)} where chain = ${chain} and sequence > ${after} and sequence < ${Number.MAX_SAFE_INTEGER}
      order by sequence limit ${most}
    ), stop as (select sequence, stays from part where stays is not null order by sequence limit 1),
    goes as (select part.sequence, part.hash from part
      where part.sequence < coalesce((select stop.sequence from stop), ${Number.MAX_SAFE_INTEGER}::bigint))
    select (select sequence from goes order by sequence desc limit 1) as sequence,
      (select hash from goes order by sequence desc limit 1) as hash,
      (select pg_catalog.count(*) from goes)::integer as entries, (select pg_catalog.count(*) from part)::integer as read,
      (select stays from stop) as stays`.execute(connection)
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no chunk of a chain')
  const stop = row.stays ?? (row.read < most ? 'end' : null)
  const { sequence, hash, entries } = row
  return { chunk: sequence === null || hash === null ? null : { chain, sequence, hash, entries }, stop }
}

/** A checkpoint and the entry that it signs up to. The caller verifies it: other roles may insert rows. */
export interface CheckpointWithLastEntry extends ChainPartUpToEntry {
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
  /** From `findLastCheckpoint`: the number of entries after its parameter `after` that the checkpoint signs. Otherwise 0. */
  readonly entries: number
}

/**
 * Finds the first checkpoint that signs the entry `sequence` of a chain. Null when there is none, or when the last entry that the
 * checkpoint signs is not older than `before`.
 */
export async function findOldEntrySigningCheckpoint(
  connection: Kysely<unknown>,
  { chain, sequence }: ChainPartUpToEntry,
  before: Date,
): Promise<CheckpointWithLastEntry | null> {
  const { rows } = await sql<CheckpointWithLastEntry>`
    select account.chain, account.sequence, account.hash, next.content, next.kid, next.signature, 0 as entries
    from (select * from account_checkpoint as checkpoint
      where checkpoint.chain = ${chain} and checkpoint.sequence >= ${sequence} and checkpoint.sequence < ${Number.MAX_SAFE_INTEGER}
      order by checkpoint.sequence, checkpoint.id limit 1) as next
    join account on account.chain = next.chain and account.sequence = next.sequence
    where account.at < ${before}`.execute(connection)
  return rows[0] ?? null
}

/** Finds the last checkpoint whose last signed entry comes after the entry `after` and is at most `upTo`; null for none. */
export async function findLastCheckpoint(
  connection: Kysely<unknown>,
  { chain, after, upTo }: { chain: string; after: number; upTo: number },
): Promise<CheckpointWithLastEntry | null> {
  const { rows } = await sql<CheckpointWithLastEntry>`
    select account.chain, account.sequence, account.hash, checkpoint.content, checkpoint.kid, checkpoint.signature,
      (select pg_catalog.count(*) from account as one where one.chain = account.chain
        and one.sequence > ${after} and one.sequence <= account.sequence)::integer as entries
    from account_checkpoint as checkpoint join account
      on account.chain = checkpoint.chain and account.sequence = checkpoint.sequence
    where checkpoint.chain = ${chain} and checkpoint.sequence > ${after} and checkpoint.sequence <= ${upTo}
    order by checkpoint.sequence desc, checkpoint.id limit 1`.execute(connection)
  return rows[0] ?? null
}

/** The digest of the newest checkpoint of a chain, in hexadecimal; null when it has none. */
export async function findNewestCheckpointDigest(connection: Kysely<unknown>, chain: string): Promise<string | null> {
  const { rows } = await sql<{ digest: string }>`
    select pg_catalog.encode(digest, 'hex'::text) as digest from account_checkpoint
    where chain = ${chain} order by id desc limit 1`.execute(connection)
  return rows[0]?.digest ?? null
}

/** Locks the holds until the transaction ends: nobody else changes or locks them. Later statements see all of them. */
export async function lockHolds(transaction: Kysely<unknown>): Promise<void> {
  await sql`lock table hold in share row exclusive mode`.execute(transaction)
}

/**
 * Deletes the entries of a chain up to `sequence`, and the rows of their persons.
 * @param transaction the one that also inserts the tombstone
 * @returns the numbers of deleted entries and of their persons
 */
export async function deleteChainPart(
  transaction: Kysely<unknown>,
  { chain, sequence }: ChainPartUpToEntry,
): Promise<{ readonly entries: number; readonly persons: number }> {
  const { rows } = await sql<{ persons: number }>`
    select pg_catalog.count(*)::integer as persons from ${sql.raw(personRowsSql())} as person
    where chain = ${chain} and sequence <= ${sequence}`.execute(transaction)
  const remove = async (table: 'account' | 'account_person'): Promise<number> => {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)}
      where chain = ${chain} and sequence <= ${sequence}`.execute(transaction)
    return Number(numAffectedRows)
  }
  await remove('account_person')
  return { persons: rows[0]?.persons ?? 0, entries: await remove('account') }
}
