/** Lists for an operator the destinations to which deliveries wait, are held or were given up. */
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL, participantIdSql } from '@rollcall/participants/store/participant-names'
import { registryIdSql } from '@rollcall/records/registries/registry-names'
import { lastErrorSql } from './delivery-list.ts'

export interface ListedDestination {
  /** The sender_id of the participant. */
  readonly participant: string
  /** The origin to which deliveries go; empty for deliveries without an address. */
  readonly origin: string
  readonly waiting: number
  readonly dead: number
  /** The number of answers that are held because they have no address. */
  readonly held: number
  /** The time at which the oldest of the waiting, dead and held deliveries was made. */
  readonly oldest: Date
  /** The number of failed attempts in a row at this destination. */
  readonly failures: number
  readonly opened_at: Date | null
  readonly probe_at: Date | null
  /** The number of deliveries to this destination that were given up, by the cause. */
  readonly reasons: Readonly<Record<string, number>>
  /** The last error of one of the waiting deliveries; else `no_address` when some are held; else null. */
  readonly last_error: string | null
}

/**
 * Lists destinations: those with the most dead letters first, then those with the most waiting deliveries.
 * @param chosen.participant sender_id; null: all
 * @param chosen.registry namespace; null: all
 */
export async function listDestinations(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry }: { readonly participant: string | null; readonly registry: string | null },
  limit: number,
): Promise<readonly ListedDestination[]> {
  const { rows } = await pool.query<ListedDestination>({
    name: 'list destinations',
    text: `with asked as (
        select ${participantIdSql('$1')} as participant,
          ${registryIdSql('$2')} as registry
      ),
      waiting as (
        select participant, origin, count(*) as waiting, min(created_at) as oldest,
          min(id::text) filter (where attempts > 0) as attempted
        from delivery
        where state = 'pending' and ($1::text is null or participant = (select participant from asked))
          and ($2::text is null or registry = (select registry from asked))
        group by participant, origin
      ),
      reasons as (
        select participant, origin, coalesce(reason, '') as reason, count(*) as dead, min(created_at) as oldest
        from delivery
        where state = 'dead' and ($1::text is null or participant = (select participant from asked))
          and ($2::text is null or registry = (select registry from asked))
        group by participant, origin, reason
      ),
      dead as (
        select participant, origin, sum(dead) as dead, min(oldest) as oldest, json_object_agg(reason, dead) as reasons
        from reasons group by participant, origin
      ),
      held as (
        select participant, origin, count(*) as held, min(created_at) as oldest
        from delivery
        where state = 'held' and ($1::text is null or participant = (select participant from asked))
          and ($2::text is null or registry = (select registry from asked))
        group by participant, origin
      )
      select sender_id as participant, origin, coalesce(waiting, 0)::float8 as waiting, coalesce(dead, 0)::float8 as dead,
        coalesce(held, 0)::float8 as held, least(waiting.oldest, dead.oldest, held.oldest) as oldest, coalesce(failures, 0) as failures, opened_at, probe_at,
        coalesce(reasons, '{}') as reasons,
        coalesce(${lastErrorSql('attempted::uuid')}, case when held > 0 then 'no_address' end) as last_error
      from waiting full join dead using (participant, origin) full join held using (participant, origin) left join breaker using (participant, origin)
        join ${PARTICIPANTS_SQL} as owner on owner.id = participant
      order by dead desc, waiting desc, held desc, sender_id, origin limit $3`,
    values: [participant, registry, limit],
  })
  return rows
}
