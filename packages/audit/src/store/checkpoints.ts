/** The table of checkpoints. A checkpoint signs the entries of a chain up to one of them. */

import type { Database } from '@rollcall/database/database'
import type pg from 'pg'

export interface NewCheckpoint {
  readonly chain: string
  readonly sequence: number
  readonly hash: Buffer
  readonly at: Date
  /** The canonical JSON that is signed. */
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

/** Names the newest checkpoint of a chain. */
export interface CheckpointReference {
  readonly chain: string
  readonly sequence: number
  readonly digest: Buffer
}

/**
 * The longest time between the `at` of a checkpoint and its commit; a slower statement is cancelled. A search from `since`
 * begins this much earlier, because a checkpoint with an earlier `at` may have been committed later.
 */
const LONGEST_COMMIT_DELAY = '60 seconds'

/**
 * Finds the newest checkpoint of each chain except `chain`, if it is not older than `since` less `LONGEST_COMMIT_DELAY`.
 * @param since null: the time of the newest checkpoint of all chains
 */
export async function findNewestCheckpoints(
  pool: pg.Pool,
  chain: string,
  since: Date | null,
): Promise<readonly CheckpointReference[]> {
  const { rows } = await pool.query<CheckpointReference>({
    name: 'newest checkpoints',
    text: `select distinct on (chain) chain, sequence, digest from account_checkpoint
      where chain <> $1 and at > coalesce($2, (select at from account_checkpoint order by id desc limit 1))
        - interval '${LONGEST_COMMIT_DELAY}'
      order by chain, id desc`,
    values: [chain, since],
  })
  return rows
}

/** How much of the audit log no witness has, as the checkpoints of the last day say. */
export interface UnwitnessedChainCounts {
  /** The number of chains whose newest checkpoint says that the witness failed. */
  readonly unwitnessed: number
  /** The number of entries of these chains after the last checkpoint that a witness surely has. */
  readonly unwitnessedEntries: number
}

export const NO_UNWITNESSED_CHAINS: UnwitnessedChainCounts = { unwitnessed: 0, unwitnessedEntries: 0 }

/** Counts what no witness has. If a checkpoint says that the witness worked, the witness has all earlier ones. */
export async function countUnwitnessedChains({ pool }: Pick<Database, 'pool'>): Promise<UnwitnessedChainCounts> {
  const { rows } = await pool.query<UnwitnessedChainCounts>(
    `with newest as (
      select distinct on (chain) chain, sequence, content::json ->> 'witness' as witness from account_checkpoint
      where at > now() - interval '1 day' order by chain, id desc
    )
    select count(*)::integer as unwitnessed, coalesce(sum(sequence - coalesce((
        select taken.sequence from account_checkpoint as taken where taken.chain = newest.chain and taken.id < (
          select good.id from account_checkpoint as good
          where good.chain = newest.chain and good.content::json ->> 'witness' = 'good' order by good.id desc limit 1)
        order by taken.id desc limit 1), 0)), 0)::double precision as "unwitnessedEntries"
    from newest where witness = 'failed'`,
  )
  return rows[0] ?? NO_UNWITNESSED_CHAINS
}
