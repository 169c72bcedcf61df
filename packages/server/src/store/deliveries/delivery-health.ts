/** How what is sent to each participant stands. */
import type { BreakerState } from '../../model/breaker.ts'
import type { Database } from '../db/database.ts'

/** Of one participant; the same on every node. */
export interface DeliveryHealth {
  readonly sender_id: string
  readonly pending: number
  /** Seconds that the oldest pending one waits. */
  readonly oldest: number
  /** Of the last day. */
  readonly dead: number
  /** The worst of all its destinations. */
  readonly breaker: BreakerState
  /** Destinations whose breaker is open, or being probed. */
  readonly breakers_open: number
}

/** Participants in one answer: those with the most that waits. */
const MOST = 1_000

/** Of every participant with pending deliveries, some that died within a day, or a breaker that has counted. */
export async function deliveryHealth({ pool }: Pick<Database, 'pool'>): Promise<readonly DeliveryHealth[]> {
  const { rows } = await pool.query<DeliveryHealth>({
    name: 'delivery health',
    text: `with waiting as (
        select participant, count(*) as pending, extract(epoch from now() - min(created_at))::float8 as oldest
        from delivery where state = 'pending' group by participant
      ),
      lost as (
        select participant, count(*) as dead from delivery
        where state = 'dead' and finished_at > now() - interval '1 day' group by participant
      ),
      failing as (
        select participant, count(opened_at) as opened,
          bool_or(opened_at is not null and probe_at > now()) as paused
        from breaker group by participant
      )
      select sender_id, coalesce(pending, 0) as pending, coalesce(oldest, 0) as oldest, coalesce(dead, 0) as dead,
        coalesce(opened, 0) as breakers_open,
        case when coalesce(opened, 0) = 0 then 'closed' when paused then 'open' else 'probing' end as breaker
      from participant
      left join waiting on waiting.participant = participant.id
      left join lost on lost.participant = participant.id
      left join failing on failing.participant = participant.id
      where waiting.participant is not null or lost.participant is not null or failing.participant is not null
      order by pending desc, sender_id limit ${MOST}`,
  })
  return rows
}
