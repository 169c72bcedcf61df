/** Finds facts about the requests of a participant's system: the last one, and the steps that it has done. */
import { AUDIT_ENTRIES_SQL } from '@rollcall/audit/store/audit-entries'
import type { CheckedSystem } from '@rollcall/core/model/check'
import type { Participant } from '@rollcall/core/model/participant'
import type { DatabaseWithPool } from '@rollcall/database/database'
import { DELIVERIES_SQL } from '@rollcall/delivery/store/deliveries/delivery-names'
import type { ChecklistStepTimes } from '@rollcall/participants/store/milestones'

/** The time at which a participant's newest stored request was received; null when there is none. */
export async function findLastRequestTime({ pool }: DatabaseWithPool, { id }: Pick<Participant, 'id'>): Promise<Date | null> {
  const { rows } = await pool.query<{ received_at: Date }>(
    'select received_at from exchange where participant = $1 order by received_at desc limit 1',
    [id],
  )
  return rows[0]?.received_at ?? null
}

/** The number of newest messages, and of newest deliveries, that are read: a participant may have millions. */
const MOST_CHECKLIST_ROWS = 500

const READ_CHECKLIST_STEP_TIMES = `with newest as (
    select message_id, correlation_id, operation, received_at from exchange
    where participant = $1 order by received_at desc limit ${MOST_CHECKLIST_ROWS}
  ), sent as (
    select state, finished_at from ${DELIVERIES_SQL} as delivery where participant = $1 order by created_at desc limit ${MOST_CHECKLIST_ROWS}
  )
  select (select min(received_at) from newest) as token,
    (select min(received_at) from newest where operation = 'search') as search,
    (select min(received_at) from newest join ${AUDIT_ENTRIES_SQL} as account on account.message_id = newest.message_id
      where account.correlation_id = newest.correlation_id::text
        and account.members -> 'request' ->> 'signature' is not null) as signature,
    (select min(finished_at) from sent where state = 'delivered') as callback`

/**
 * Finds the time of each step of the checklist on the partner page: the first time among the participant's newest messages and
 * deliveries (`MOST_CHECKLIST_ROWS`). An earlier time is not found.
 * @param participant `Participant.id`
 */
export async function readChecklistStepTimes({ pool }: DatabaseWithPool, participant: number): Promise<ChecklistStepTimes> {
  const { rows } = await pool.query<ChecklistStepTimes>(READ_CHECKLIST_STEP_TIMES, [participant])
  const [row] = rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  return row
}

/** The times of a participant's last request and last search in a registry; null: none in the checked time. */
export interface RequestCheckFacts {
  /** The time of the last stored request. Every stored request had a valid access token. */
  readonly asked_at: Date | null
  /** The time of the last synchronous search with a verified signature in which an item succeeded. */
  readonly searched_at: Date | null
}

const READ_REQUEST_CHECK_FACTS = `select
  (select max(received_at) from exchange where participant = $1 and registry = $2 and received_at >= $3) as asked_at,
  (select max(exchange.received_at) from exchange
    join ${AUDIT_ENTRIES_SQL} as account on account.message_id = exchange.message_id
    where participant = $1 and registry = $2 and operation = 'search' and exchange.received_at >= $3
      and account.members ->> 'kind' = 'answer' and account.correlation_id = exchange.correlation_id::text
      and account.members -> 'request' ->> 'signature' is not null and account.members -> 'outcomes' ? 'succ') as searched_at`

/** Finds when requests of a participant in a registry were last received. Requests before `since` are ignored. */
export async function readRequestCheckFacts(
  { pool }: DatabaseWithPool,
  { participant, registry, since }: CheckedSystem,
): Promise<RequestCheckFacts> {
  const { rows } = await pool.query<RequestCheckFacts>(READ_REQUEST_CHECK_FACTS, [participant.id, registry.id, since])
  const [row] = rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  return row
}
