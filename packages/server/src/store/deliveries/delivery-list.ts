/** Deliveries as an operator looks at them, and what is done with them by hand. */
import type { EncryptedReply } from '../../model/delivery.ts'
import type { Database } from '../db/database.ts'
import { MAILBOXES, WORK_CHANNEL } from '../db/queue.ts'
import type { DeliveryRow } from '../db/tables.ts'
import { isStorable } from '../db/text.ts'
import { isNotifiedBy } from './deliveries.ts'

export type DeliveryState = DeliveryRow['state']
export const DELIVERY_STATES = [
  'pending',
  'delivered',
  'refused',
  'dead',
  'dropped',
  'held',
] as const satisfies readonly DeliveryState[]

/** Which deliveries; what is not given does not matter. */
export interface DeliveryChoice {
  readonly ids?: readonly string[]
  readonly participant?: string
  readonly state?: DeliveryState
  /** Made at this time or later. */
  readonly since?: Date
  /** Made before this time. */
  readonly until?: Date
}

export interface ListedDelivery {
  readonly id: string
  /** `sender_id` */
  readonly participant: string
  /** Its namespace; null: it is not there any more. */
  readonly registry: string | null
  readonly callback: string
  readonly page: number
  readonly message_id: string
  readonly correlation_id: string | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly target: string | null
  readonly reason: string | null
  readonly created_at: Date
  readonly next_attempt_at: Date | null
  readonly finished_at: Date | null
}

export interface ListedAttempt {
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
  /** Encrypted at rest for `answerContext`. */
  readonly answer: Buffer | null
}

/** When it is due, as people read it: one that an operator asked for is due since then (`NOW_AND_FIRST`). */
export const DUE = 'greatest(next_attempt_at, since)'

const LISTED = `delivery.id, participant.sender_id as participant,
  (select namespace from registry where registry.id = delivery.registry) as registry, callback, page, message_id, correlation_id, state,
  attempts, target, reason, delivery.created_at, ${DUE} as next_attempt_at, finished_at`

const CHOSEN = `($1::uuid[] is null or delivery.id = any($1)) and ($2::text is null or participant.sender_id = $2)
  and ($3::text is null or state = $3) and ($4::timestamptz is null or delivery.created_at >= $4)
  and ($5::timestamptz is null or delivery.created_at < $5)`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What is no UUID is no delivery's. */
function valuesOf({ ids, participant, state, since, until }: DeliveryChoice): unknown[] {
  const name = participant === undefined || isStorable(participant) ? participant : ''
  return [ids?.filter((id) => UUID.test(id)), name, state, since, until].map((value) => value ?? null)
}

/** The newest first, `limit` of them at most. */
export async function listDeliveries(
  { pool }: Pick<Database, 'pool'>,
  choice: DeliveryChoice,
  limit: number,
): Promise<readonly ListedDelivery[]> {
  const { rows } = await pool.query<ListedDelivery>(
    `select ${LISTED} from delivery join participant on participant.id = delivery.participant
      where ${CHOSEN} order by delivery.created_at desc, delivery.id limit $6`,
    [...valuesOf(choice), limit],
  )
  return rows
}

/** One with its attempts, and its encrypted body (`deliveryContext`); null when there is none. */
export async function findDelivery(
  { pool }: Pick<Database, 'pool'>,
  id: string,
): Promise<(ListedDelivery & { body: EncryptedReply; made: readonly ListedAttempt[] }) | null> {
  if (!UUID.test(id)) return null
  const { rows } = await pool.query<ListedDelivery & { body: EncryptedReply }>(
    `select ${LISTED}, body from delivery join participant on participant.id = delivery.participant
      where delivery.id = $1`,
    [id],
  )
  const [found] = rows
  if (found === undefined) return null
  const attempts = await pool.query<ListedAttempt>(
    `select number, at, duration_ms, status, error, answer from delivery_attempt
      where delivery = $1 order by number`,
    [id],
  )
  return { ...found, made: attempts.rows }
}

interface Change {
  /** What it can be done with. */
  readonly from: readonly DeliveryState[]
  readonly set: string
  /** Whether it is to be attempted now. */
  readonly sends: boolean
}

/** At the beginning of its schedule, with the message_id that it always had. */
const again = (due: string): string => `state = 'pending', next_attempt_at = ${due}, since = now(),
  earlier = attempts, reason = null, finished_at = null`
/** Before all that is due to its destination by itself; among those that were asked for, the oldest first. */
const NOW_AND_FIRST = "created_at - interval '100 years'"

export const DELIVERY_CHANGES = {
  /** What waits is attempted now, what was given up is attempted again. */
  retry: { from: ['pending', 'dead'], set: again(NOW_AND_FIRST), sends: true },
  /** Nothing more is attempted. */
  drop: {
    from: ['pending', 'held', 'dead'],
    set: `state = 'dropped', next_attempt_at = null, claim = null, claimed_until = null,
      reason = coalesce(reason, 'operator'), finished_at = now()`,
    sends: false,
  },
  /** What came to its end is sent again. */
  replay: { from: ['delivered', 'refused', 'dead', 'dropped', 'held'], set: again('now()'), sends: true },
} as const satisfies Record<string, Change>

/** Nothing is sent from there until it is open again. */
const IN_CLOSED_MAILBOX = `exists (
  select 1 from mailbox where mailbox.id = delivery.mailbox and mailbox.state = 'closed')`

/** How many of the chosen deliveries a change leaves as they are, because their mailbox is closed. */
export async function countInClosedMailboxes(
  { pool }: Pick<Database, 'pool'>,
  change: keyof typeof DELIVERY_CHANGES,
  choice: DeliveryChoice,
): Promise<number> {
  const { from, sends }: Change = DELIVERY_CHANGES[change]
  if (!sends) return 0
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer from delivery join participant on participant.id = delivery.participant
      where ${CHOSEN} and state = any($6) and ${IN_CLOSED_MAILBOX}`,
    [...valuesOf(choice), from],
  )
  return rows[0]?.count ?? 0
}

/**
 * Changes the chosen deliveries that are in a suitable state, and announces their participants to the workers:
 * where a destination's breaker is open, with a probe. What is retried is attempted first. A
 * finished notification is not sent again: its events wait in the mailbox, and are composed anew under another message_id,
 * unless the mailbox is closed.
 * @returns how many
 */
export async function changeDeliveries(
  { pool }: Pick<Database, 'pool'>,
  change: keyof typeof DELIVERY_CHANGES,
  choice: DeliveryChoice,
): Promise<number> {
  const { from, set, sends }: Change = DELIVERY_CHANGES[change]
  const { rows } = await pool.query<{ changed: number }>(
    `with chosen as (
        select delivery.id, notifications, $7 and mailbox is not null and state <> 'pending' as anew
        from delivery join participant on participant.id = delivery.participant
        where ${CHOSEN} and state = any($6) and not ($7 and ${IN_CLOSED_MAILBOX})
      ),
      changed as (
        update delivery set ${set} from chosen where delivery.id = chosen.id and not anew and state = any($6)
        returning participant, origin, mailbox
      ),
      renewed as (
        update notification set state = 'waiting', delivery = null from chosen
        where ${isNotifiedBy('chosen')} and anew
        returning chosen.id, notification.mailbox
      ),
      replaced as (
        update delivery set state = 'dropped', reason = 'replayed', finished_at = coalesce(finished_at, now())
        from (select distinct id from renewed) as old
        where delivery.id = old.id and delivery.state <> 'delivered'
      ),
      probed as (
        update breaker set probe_at = now()
        where $7 and opened_at is not null and (participant, origin) in (select participant, origin from changed)
      ),
      announced as (
        select pg_notify('${WORK_CHANNEL}', participant::text) from (select distinct participant from changed) as those
        where $7
        union all
        select pg_notify('${WORK_CHANNEL}', '${MAILBOXES}') where exists (
          select 1 from renewed union all select 1 from changed where not $7 and mailbox is not null)
      )
      select (select count(*) from changed) + (select count(distinct id) from renewed) as changed,
        (select count(*) from announced) as announced`,
    [...valuesOf(choice), from, sends],
  )
  return rows[0]?.changed ?? 0
}
