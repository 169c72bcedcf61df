/** Lists subscriptions for an operator. Here only `findSubscription` returns criteria, which may be personal data. */
import type { SubscriptionEndReason, SubscriptionState, SubscriptionSuspensionReason } from '@rollcall/core/model/event'
import type { DatabaseWithPool } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

export interface ListedSubscription {
  readonly code: string
  /** The sender_id of the participant. */
  readonly participant: string
  readonly namespace: string
  readonly event_type: string
  readonly record_type: string
  readonly state: SubscriptionState
  /** Why the subscription is suspended or ended; null when it is live. */
  readonly reason: SubscriptionEndReason | SubscriptionSuspensionReason | null
  /** The cron expression of the frequency; null when notifications are sent at once. */
  readonly cron: string | null
  readonly start_at: Date | null
  readonly end_at: Date | null
  readonly created_at: Date
  readonly ended_at: Date | null
}

/** A subscription with its request, its mailbox and its criteria. */
export interface ShownSubscription extends ListedSubscription {
  readonly id: number
  /** `Registry.id` */
  readonly registry: number
  readonly sender_uri: string | null
  readonly transaction_id: string
  readonly correlation_id: string
  readonly reference_id: string
  readonly locale: string | null
  /** The number of waiting notifications for this subscription. */
  readonly waiting: number
  readonly mailbox: ShownMailbox
  /** The canonical text of the subscription's criteria. */
  readonly criteria: string
}

/** A mailbox, from which notifications are sent in order to one address. */
export interface ShownMailbox {
  /** The id of the mailbox, as `header.meta` of its envelopes has it. */
  readonly id: string
  readonly state: 'open' | 'closed'
  readonly closed_at: Date | null
  readonly sequence: number
  /** The number of notifications that wait in the mailbox. */
  readonly waiting: number
  /** The number of the mailbox's subscriptions that have not ended. */
  readonly subscriptions: number
}

/** The conditions that listed subscriptions must fulfil. An absent condition allows every subscription. */
export interface SubscriptionChoice {
  /** `Participant.id` */
  readonly participant?: number
  /** `Registry.id` */
  readonly registry?: number
  readonly state?: SubscriptionState
  /** The id of a subscription: only those with a lower id. */
  readonly before?: number
}

const LISTED_SUBSCRIPTION_COLUMNS = `subscription.code, participant.sender_id as participant, registry.namespace, subscription.event_type,
  subscription.record_type, subscription.state, subscription.reason, subscription.cron, subscription.start_at,
  subscription.end_at, subscription.created_at, subscription.ended_at`

/** SQL for a `from` clause: subscriptions, with the names of their participant and registry. */
const SUBSCRIPTIONS_WITH_OWNERS_SQL = `subscription join ${PARTICIPANTS_SQL} as participant on participant.id = subscription.participant
  join ${REGISTRIES_SQL} as registry on registry.id = subscription.registry`

/** Lists the event and record types of a participant's subscriptions that have not ended, each pair once. */
export async function listSubscribedTypes(
  { pool }: DatabaseWithPool,
  { participant, registry }: Required<Pick<SubscriptionChoice, 'participant' | 'registry'>>,
): Promise<readonly Pick<ListedSubscription, 'event_type' | 'record_type'>[]> {
  const { rows } = await pool.query<Pick<ListedSubscription, 'event_type' | 'record_type'>>(
    `select distinct event_type, record_type from subscription
     where participant = $1 and registry = $2 and state <> 'ended'`,
    [participant, registry],
  )
  return rows
}

/** Lists subscriptions, the newest first. */
export async function listSubscriptions(
  { pool }: DatabaseWithPool,
  { participant, registry, state, before }: SubscriptionChoice,
  limit: number,
): Promise<readonly ListedSubscription[]> {
  const { rows } = await pool.query<ListedSubscription>({
    name: 'list subscriptions',
    text: `select ${LISTED_SUBSCRIPTION_COLUMNS} from ${SUBSCRIPTIONS_WITH_OWNERS_SQL}
      where ($1::integer is null or subscription.participant = $1)
        and ($2::integer is null or subscription.registry = $2)
        and ($3::text is null or subscription.state = $3)
        and ($4::integer is null or subscription.id < $4)
      order by subscription.id desc limit $5`,
    values: [participant ?? null, registry ?? null, state ?? null, before ?? null, limit],
  })
  return rows
}

/** Finds a subscription by its code; null when there is none. */
export async function findSubscription({ pool }: DatabaseWithPool, code: string): Promise<ShownSubscription | null> {
  if (!isTextStorable(code)) return null
  const { rows } = await pool.query<SubscriptionRow>({
    name: 'find subscription',
    text: `select ${LISTED_SUBSCRIPTION_COLUMNS}, subscription.id, subscription.registry, nullif(mailbox.sender_uri, '') as sender_uri,
        subscription.transaction_id, subscription.correlation_id, subscription.reference_id, subscription.locale,
        (select count(*)::integer from notification
          where notification.subscription = subscription.id and notification.state = 'waiting') as waiting,
        subscription.criteria, mailbox.public_id, mailbox.state as mailbox_state, mailbox.closed_at, mailbox.sequence,
        (select count(*)::integer from waiting_notification where waiting_notification.mailbox = mailbox.id)
          as mailbox_waiting,
        (select count(*)::integer from subscription as other
          where other.mailbox = mailbox.id and other.state <> 'ended') as subscriptions
      from ${SUBSCRIPTIONS_WITH_OWNERS_SQL} join mailbox on mailbox.id = subscription.mailbox where subscription.code = $1`,
    values: [code],
  })
  const [row] = rows
  if (row === undefined) return null
  const { public_id: id, mailbox_state: state, closed_at, sequence, mailbox_waiting, ...others } = row
  const { subscriptions, ...found } = others
  return { ...found, mailbox: { id, state, closed_at, sequence, waiting: mailbox_waiting, subscriptions } }
}

interface SubscriptionRow extends Omit<ShownSubscription, 'mailbox'> {
  readonly public_id: string
  readonly mailbox_state: ShownMailbox['state']
  readonly closed_at: Date | null
  readonly sequence: number
  readonly mailbox_waiting: number
  readonly subscriptions: number
}

/** The numbers of a participant's subscriptions that have not ended. */
export interface SubscriptionCounts {
  readonly live: number
  readonly suspended: number
}

/** Counts the live and the suspended subscriptions of a participant in all registries. */
export async function countSubscriptionsByState(
  { pool }: DatabaseWithPool,
  { id }: { readonly id: number },
): Promise<SubscriptionCounts> {
  const { rows } = await pool.query<SubscriptionCounts>(
    `select (count(*) filter (where state = 'live'))::integer as live,
        (count(*) filter (where state = 'suspended'))::integer as suspended
      from subscription where participant = $1`,
    [id],
  )
  return rows[0] ?? { live: 0, suspended: 0 }
}
