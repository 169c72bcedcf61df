/** Counts deliveries for the overview, and finds open breakers, participants with held answers, and delivery states. */
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { registryIdSql } from '@rollcall/records/registries/registry-names'
import type { DeliveryState } from './delivery-choice.ts'

export interface DeliveryCounts {
  /** The number of pending deliveries, due now or later. */
  readonly waiting: number
  /** The number of pending deliveries to destinations whose last attempt failed. */
  readonly failing: number
  /** The number of deliveries that were given up, and not retried, replayed or dropped since. */
  readonly dead: number
  /** The number of deliveries that are not attempted, because they have no address. */
  readonly held: number
}

/** Counts the deliveries. @param registry namespace; null: all registries */
export async function countDeliveries({ pool }: Pick<Database, 'pool'>, registry: string | null): Promise<DeliveryCounts> {
  const { rows } = await pool.query<DeliveryCounts>({
    name: 'count deliveries',
    text: `with chosen as (select ${registryIdSql('$1')} as id),
      waiting as (
        select participant, origin, count(*) as deliveries from delivery
        where state = 'pending' and ($1::text is null or registry = (select id from chosen)) group by participant, origin
      )
      select coalesce(sum(deliveries), 0)::float8 as waiting,
        coalesce(sum(deliveries) filter (where failures > 0), 0)::float8 as failing,
        (select count(*) from delivery where state = 'dead' and ($1::text is null or registry = (select id from chosen)))
          as dead,
        (select count(*) from delivery where state = 'held' and ($1::text is null or registry = (select id from chosen)))
          as held
      from waiting left join breaker using (participant, origin)`,
    values: [registry],
  })
  return rows[0] ?? { waiting: 0, failing: 0, dead: 0, held: 0 }
}

/** A destination whose circuit breaker is open. */
export interface OpenBreaker {
  /** The sender_id of the participant. */
  readonly participant: string
  readonly origin: string
  readonly failures: number
  readonly opened_at: Date
  readonly probe_at: Date
}

/**
 * Lists the open breakers of destinations for which a delivery waits; the one that opened first comes first.
 * @param registry namespace of the delivery's registry; null: any
 */
export async function listOpenBreakers(
  { pool }: Pick<Database, 'pool'>,
  registry: string | null,
  limit: number,
): Promise<readonly OpenBreaker[]> {
  const { rows } = await pool.query<OpenBreaker>(
    `select sender_id as participant, origin, failures, opened_at, probe_at
      from breaker join ${PARTICIPANTS_SQL} as participant on participant.id = breaker.participant
      where opened_at is not null and exists (
        select from delivery where delivery.participant = breaker.participant and delivery.origin = breaker.origin
          and delivery.state = 'pending'
          and ($1::text is null or delivery.registry = ${registryIdSql('$1')}))
      order by opened_at, sender_id, origin limit $2`,
    [registry, limit],
  )
  return rows
}

/** Lists the participants whose answers are held, because no address for their callbacks is known. */
export async function listParticipantsWithHeldDeliveries({
  pool,
}: Pick<Database, 'pool'>): Promise<readonly { readonly sender_id: string }[]> {
  const { rows } = await pool.query<{ sender_id: string }>(
    `select sender_id from ${PARTICIPANTS_SQL} as participant
      where id in (select participant from delivery where state = 'held') order by sender_id`,
  )
  return rows
}

/** The states of the stored deliveries with these message_ids, by message_id. */
export async function findDeliveryStates(
  { pool }: Pick<Database, 'pool'>,
  message_ids: readonly string[],
): Promise<ReadonlyMap<string, DeliveryState>> {
  if (message_ids.length === 0) return new Map()
  const { rows } = await pool.query<{ message_id: string; state: DeliveryState }>(
    'select message_id, state from delivery where message_id = any($1::text[])',
    [message_ids],
  )
  return new Map(rows.map(({ message_id, state }) => [message_id, state]))
}
