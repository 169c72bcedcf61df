/** Checkpoints: they sign the entries of a chain up to one of them. */

import type { Database } from '@rollcall/database/database'
import type pg from 'pg'

export interface NewCheckpoint {
  readonly chain: string
  readonly sequence: number
  readonly hash: Buffer
  readonly at: Date
  /** Canonical JSON. */
  readonly content: string
  /** SHA-256 of the content. */
  readonly digest: Buffer
  readonly kid: string
  readonly signature: Buffer
}

/** Inserts a checkpoint, unless it exists. */
export async function insertCheckpoint(pool: pg.Pool, checkpoint: NewCheckpoint): Promise<void> {
  const { chain, sequence, hash, at, content, digest, kid, signature } = checkpoint
  await pool.query({
    name: 'insert checkpoint',
    text: `insert into account_checkpoint (chain, sequence, hash, at, content, digest, kid, signature)
      values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (digest) do nothing`,
    values: [chain, sequence, hash, at, content, digest, kid, signature],
  })
}

/** The newest checkpoint of a chain. */
export interface CheckpointReference {
  readonly chain: string
  readonly sequence: number
  readonly digest: Buffer
}

/**
 * Longest time from a checkpoint's `at` to its commit: a statement that waits longer is cancelled. So checkpoints of
 * this time before `since` are returned again.
 */
const OVERLAP = '60 seconds'

/**
 * The newest checkpoint of each other chain that has one since then.
 * @param since null: since the newest checkpoint of all
 */
export async function newestCheckpoints(
  pool: pg.Pool,
  chain: string,
  since: Date | null,
): Promise<readonly CheckpointReference[]> {
  const { rows } = await pool.query<CheckpointReference>({
    name: 'newest checkpoints',
    text: `select distinct on (chain) chain, sequence, digest from account_checkpoint
      where chain <> $1 and at > coalesce($2, (select at from account_checkpoint order by id desc limit 1))
        - interval '${OVERLAP}'
      order by chain, id desc`,
    values: [chain, since],
  })
  return rows
}

/** Checkpoints of the last day that no witness has. */
export interface Unwitnessed {
  /** Chains whose newest checkpoint says that the witness failed. */
  readonly unwitnessed: number
  /** Entries of these chains after the last checkpoint that a witness certainly has. */
  readonly unwitnessedEntries: number
}

export const NOTHING_UNWITNESSED: Unwitnessed = { unwitnessed: 0, unwitnessedEntries: 0 }

/** A checkpoint whose `witness` is good says so of all earlier ones. */
export async function countUnwitnessed({ pool }: Pick<Database, 'pool'>): Promise<Unwitnessed> {
  const { rows } = await pool.query<Unwitnessed>(
    `with checkpoint as (
      select id, chain, sequence, content::json ->> 'witness' as witness from account_checkpoint
    ), newest as (
      select distinct on (chain) chain, sequence, content::json ->> 'witness' as witness from account_checkpoint
      where at > now() - interval '1 day' order by chain, id desc
    )
    select count(*)::integer as unwitnessed, coalesce(sum(sequence - coalesce((
        select taken.sequence from checkpoint as taken where taken.chain = newest.chain and taken.id < (
          select max(good.id) from checkpoint as good where good.chain = newest.chain and good.witness = 'good')
        order by taken.id desc limit 1), 0)), 0)::double precision as "unwitnessedEntries"
    from newest where witness = 'failed'`,
  )
  return rows[0] ?? NOTHING_UNWITNESSED
}
