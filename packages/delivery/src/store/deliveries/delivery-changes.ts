/** Changes deliveries by hand: an operator retries, replays or drops them, and a participant asks for its own again. */
import type { Database } from '@rollcall/database/database'
import { MAILBOXES_NOTIFY_PREFIX, WORK_CHANNEL } from '@rollcall/database/queue'
import { queryWithoutTimeLimit } from '@rollcall/database/transaction'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { isNewestEnvelopeSql, SET_NOTIFICATION_WAITING_SQL } from './deliveries.ts'
import { type DeliveryFilter, type DeliveryState, makeDeliveryFilterSql } from './delivery-choice.ts'

interface DeliveryChange {
  /** The states of a delivery in which this change is possible. */
  readonly from: readonly DeliveryState[]
  readonly set: string
  /** True when the change makes the delivery due, so that it is sent. */
  readonly sends: boolean
}

/** SQL that makes a delivery pending again, at the beginning of its retry schedule, under its message_id. */
const setPendingSql = (due: string): string => `state = 'pending', next_attempt_at = ${due}, since = now(),
  earlier = attempts, reason = null, finished_at = null`
/** SQL of a due time before those of all other deliveries: retried deliveries are attempted first, in the order of their age. */
const DUE_TIME_BEFORE_OTHERS_SQL = "created_at - interval '100 years'"

/** The changes of deliveries by hand: the states in which each is possible, and its SQL. */
export const MANUAL_DELIVERY_CHANGES = {
  /** Attempts pending deliveries now, and attempts dead ones again. */
  retry: { from: ['pending', 'dead'], set: setPendingSql(DUE_TIME_BEFORE_OTHERS_SQL), sends: true },
  /** Ends a delivery without a further attempt. */
  drop: {
    from: ['pending', 'held', 'dead'],
    set: `state = 'dropped', next_attempt_at = null, claim = null, claimed_until = null,
      reason = coalesce(reason, 'operator'), finished_at = now()`,
    sends: false,
  },
  /** Sends deliveries again that were delivered, refused, given up, dropped or held. */
  replay: { from: ['delivered', 'refused', 'dead', 'dropped', 'held'], set: setPendingSql('now()'), sends: true },
} as const satisfies Record<string, DeliveryChange>

/** SQL condition: the mailbox of the delivery is closed. Nothing is sent from a closed mailbox. */
const IS_IN_CLOSED_MAILBOX_SQL = `exists (
  select 1 from mailbox where mailbox.id = delivery.mailbox and mailbox.state = 'closed')`

/** SQL condition: the notifications of the delivery were put back into their mailbox, so the delivery itself was dropped. */
const IS_DROPPED_FOR_REPLAY_SQL = `(state = 'dropped' and reason is not distinct from 'replayed')`

/**
 * SQL condition: the envelope was delivered, and then the documents of one of its events were deleted
 * (`deleteSentEventDocuments`). So the envelope cannot be composed again.
 */
const HAS_EVENT_WITHOUT_DOCUMENT_SQL = `(state = 'delivered' and mailbox is not null and exists (
  select 1 from notification join event on event.id = notification.event
  where ${isNewestEnvelopeSql('delivery')} and event.document is null and event.identifiers is null))`

/** SQL condition: the delivery may be changed. Its notifications were not put back, and its events have their documents. */
const IS_CHANGEABLE_SQL = `not ${IS_DROPPED_FOR_REPLAY_SQL} and not ${HAS_EVENT_WITHOUT_DOCUMENT_SQL}`

/** The effect that a change would have on the deliveries of one participant. */
export interface DeliveryChangeCounts {
  /** The sender_id of the participant. */
  readonly participant: string
  /** The number of deliveries that would be changed. */
  readonly deliveries: number
  /** The number of deliveries that the change leaves as they are, because their mailbox is closed. */
  readonly in_closed_mailboxes: number
}

/** Counts the deliveries that a change would affect for each participant, the largest number first. */
export async function countDeliveryChange(
  { pool }: Pick<Database, 'pool'>,
  change: keyof typeof MANUAL_DELIVERY_CHANGES,
  choice: DeliveryFilter,
): Promise<readonly DeliveryChangeCounts[]> {
  const { from, sends }: DeliveryChange = MANUAL_DELIVERY_CHANGES[change]
  const { text, values } = makeDeliveryFilterSql(choice)
  const [states, sending] = [values.length + 1, values.length + 2]
  const { rows } = await pool.query<DeliveryChangeCounts>(
    `with those as (
        select participant, $${sending}::boolean and ${IS_IN_CLOSED_MAILBOX_SQL} as stays from delivery
        where ${text} and state = any($${states}) and ${IS_CHANGEABLE_SQL}
      )
      select sender_id as participant, count(*) filter (where not stays)::integer as deliveries,
        count(*) filter (where stays)::integer as in_closed_mailboxes
      from those join ${PARTICIPANTS_SQL} as participant on participant.id = those.participant
      group by sender_id order by count(*) desc, sender_id`,
    [...values, from, sends],
  )
  return rows
}

/**
 * Retries, drops or replays those of the chosen deliveries whose state allows the change, and tells the nodes what is due.
 * Retried deliveries are attempted first. A retry or replay of an envelope of notifications that is not pending puts the
 * notifications back into the mailbox, to be sent in new envelopes with other message_ids. Nothing is retried or replayed from a
 * closed mailbox.
 * @param options.probes true: a destination whose circuit breaker is open is probed at once
 * @returns the number of changed deliveries
 */
export async function changeDeliveries(
  db: Pick<Database, 'pool'>,
  change: keyof typeof MANUAL_DELIVERY_CHANGES,
  choice: DeliveryFilter,
  { probes = true }: { readonly probes?: boolean } = {},
): Promise<number> {
  return (await changeDeliveriesAtMost(db, change, choice, null, { probes, isLimited: true })).changed
}

/** How many deliveries were chosen, and how many of them were changed. */
interface ChosenAndChangedCounts {
  readonly chosen: number
  readonly changed: number
}

/**
 * Does the same as `changeDeliveries`, but changes nothing if more than `most` deliveries are chosen. The same
 * statement counts them.
 * @param most null: any number
 * @param options.isLimited true: the statement has the usual time limit; false or absent: it has none, because an operator may
 * change any number of deliveries
 */
export async function changeDeliveriesAtMost(
  { pool }: Pick<Database, 'pool'>,
  change: keyof typeof MANUAL_DELIVERY_CHANGES,
  choice: DeliveryFilter,
  most: number | null,
  { probes = true, isLimited = false }: { readonly probes?: boolean; readonly isLimited?: boolean } = {},
): Promise<ChosenAndChangedCounts> {
  const { from, set, sends }: DeliveryChange = MANUAL_DELIVERY_CHANGES[change]
  const { text, values } = makeDeliveryFilterSql(choice)
  const states = `$${values.length + 1}`
  const sending = `$${values.length + 2}::boolean`
  const bound = `$${values.length + 3}::bigint`
  const probing = `$${values.length + 4}::boolean`
  const statement = {
    text: `with chosen as (
        select delivery.id, notifications, ${sending} and mailbox is not null and state <> 'pending' as anew
        from delivery
        where ${text} and state = any(${states}) and ${IS_CHANGEABLE_SQL} and not (${sending} and ${IS_IN_CLOSED_MAILBOX_SQL})
      ),
      permitted as (select from chosen having ${bound} is null or count(*) <= ${bound}),
      changed as (
        update delivery set ${set} from chosen
        where delivery.id = chosen.id and not anew and state = any(${states}) and exists (select from permitted)
        returning participant, origin, mailbox
      ),
      renewed as (
        update notification set ${SET_NOTIFICATION_WAITING_SQL} from chosen
        where ${isNewestEnvelopeSql('chosen')} and anew and exists (select from permitted)
        returning chosen.id, notification.mailbox
      ),
      replaced as (
        update delivery set state = 'dropped', reason = 'replayed', finished_at = coalesce(finished_at, now())
        from (select distinct id from renewed) as old
        where delivery.id = old.id and delivery.state <> 'delivered'
      ),
      probed as (
        update breaker set probe_at = now()
        where ${probing} and opened_at is not null and (participant, origin) in (select participant, origin from changed)
      ),
      announced as (
        select pg_notify('${WORK_CHANNEL}', participant::text) from (select distinct participant from changed) as those
        where ${sending}
        union all
        select pg_notify('${WORK_CHANNEL}', '${MAILBOXES_NOTIFY_PREFIX}') where exists (
          select 1 from renewed union all select 1 from changed where not ${sending} and mailbox is not null)
      )
      select (select count(*) from chosen) as chosen,
        (select count(*) from changed) + (select count(distinct id) from renewed) as changed,
        (select count(*) from announced) as announced`,
    values: [...values, from, sends, most, sends && probes],
  }
  const { rows } = await (isLimited
    ? pool.query<ChosenAndChangedCounts>(statement)
    : queryWithoutTimeLimit<ChosenAndChangedCounts>(pool, statement))
  return rows[0] ?? { chosen: 0, changed: 0 }
}
