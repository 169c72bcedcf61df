/** Reads the times of a participant's secrets, and how much of its quotas it used today. */
import type { Participant } from '@rollcall/core/model/participant'
import type { DatabaseWithPool } from '@rollcall/database/database'

type WithParticipantId = Pick<Participant, 'id'>

/** The times of one client secret. */
export interface ClientSecretPeriod {
  readonly created_at: Date
  /** The time at which the secret was retired; null: it is live. */
  readonly retired_at: Date | null
}

/** Lists the times of a participant's client secrets, the newest first; never the secrets. */
export async function listClientSecretPeriods(
  { pool }: DatabaseWithPool,
  { id }: WithParticipantId,
): Promise<readonly ClientSecretPeriod[]> {
  const { rows } = await pool.query<ClientSecretPeriod>(
    'select created_at, retired_at from participant_secret where participant = $1 order by participant_secret.id desc',
    [id],
  )
  return rows
}

/** The use of one daily quota by a participant today. */
export interface QuotaUseToday {
  /** The `Registry.id` of the registry in which the quota was used. */
  readonly registry: number
  readonly counted: string
  readonly used: number
}

/** Lists how much of its grants' daily quotas a participant used today. Grants without a quota are not counted. */
export async function listQuotaUseToday(
  { pool }: DatabaseWithPool,
  { id }: WithParticipantId,
): Promise<readonly QuotaUseToday[]> {
  const { rows } = await pool.query<QuotaUseToday>(
    `select registry, counted, used from grant_use
      where participant = $1 and day = (clock_timestamp() at time zone 'UTC')::date`,
    [id],
  )
  return rows
}
