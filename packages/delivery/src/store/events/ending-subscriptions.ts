/** Lists subscriptions that will soon end by themselves. */
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

export interface EndingSubscription {
  readonly code: string
  /** The sender_id of the participant. */
  readonly participant: string
  readonly namespace: string
  readonly end_at: Date
}

/** Lists the subscriptions that end within `days`, the first to end first. @param registry namespace; null: any */
export async function listEndingSubscriptions(
  { pool }: Pick<Database, 'pool'>,
  days: number,
  registry: string | null,
  limit: number,
): Promise<readonly EndingSubscription[]> {
  const { rows } = await pool.query<EndingSubscription>(
    `select code, participant.sender_id as participant, namespace, end_at
      from subscription join ${PARTICIPANTS_SQL} as participant on participant.id = subscription.participant
        join ${REGISTRIES_SQL} as registry on registry.id = subscription.registry
      where subscription.state <> 'ended' and end_at > now() and end_at <= now() + make_interval(days => $1)
        and ($2::text is null or namespace = $2)
      order by end_at, code limit $3`,
    [days, registry, limit],
  )
  return rows
}
