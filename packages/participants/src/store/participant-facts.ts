/**
 * The stored facts about a participant beside its settings: its secrets without their digests, and its use of quotas
 * today.
 */
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'

type Pool = Pick<Database, 'pool'>
type Of = Pick<Participant, 'id'>

export interface SecretTimes {
  readonly created_at: Date
  /** Null: it is live. */
  readonly retired_at: Date | null
}

/** Times of its client secrets, the newest first; never the secrets. */
export async function listSecretTimes({ pool }: Pool, { id }: Of): Promise<readonly SecretTimes[]> {
  const { rows } = await pool.query<SecretTimes>(
    'select created_at, retired_at from participant_secret where participant = $1 order by participant_secret.id desc',
    [id],
  )
  return rows
}

export interface CountedToday {
  /** `Registry.id` */
  readonly registry: number
  readonly counted: string
  readonly used: number
}

/** The use of the daily quotas of the participant's grants today. Nothing is counted for a grant without a quota. */
export async function listUsedToday({ pool }: Pool, { id }: Of): Promise<readonly CountedToday[]> {
  const { rows } = await pool.query<CountedToday>(
    `select registry, counted, used from grant_use
      where participant = $1 and day = (clock_timestamp() at time zone 'UTC')::date`,
    [id],
  )
  return rows
}
