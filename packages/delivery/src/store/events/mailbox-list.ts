/** Lists mailboxes for operators: how many notifications wait for which participant, never about which person. */
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

export interface ListedMailbox {
  readonly id: number
  /** The id of the mailbox, as `header.meta` of its envelopes has it. */
  readonly public_id: string
  /** The sender_id of the participant. */
  readonly participant: string
  /** The namespace of the registry. */
  readonly registry: string
  readonly state: 'open' | 'closed'
  /** The number of the mailbox's last envelope. */
  readonly sequence: number
  /**
   * The time since which nothing can be sent from the mailbox, such as for want of an address; null: the mailbox does not rest.
   */
  readonly resting_since: Date | null
  readonly closed_at: Date | null
  readonly waiting: number
  readonly oldest_due: Date | null
  /** The number of subscriptions that have not ended, suspended ones included. */
  readonly subscriptions: number
  readonly suspended: number
  /** The id of the mailbox's pending delivery, of which it has at most one; null when it has none. */
  readonly delivery: string | null
}

/** The conditions that listed mailboxes must fulfil. A null condition allows every mailbox. */
export interface MailboxChoice {
  /** The sender_id of the participant. */
  readonly participant: string | null
  /** The namespace of the registry. */
  readonly registry: string | null
  readonly state: 'open' | 'closed' | null
  /** The `public_id` of a mailbox: only mailboxes that come after it in the list, which has the newest first. */
  readonly before: string | null
}

/** Lists mailboxes, the newest first. */
export async function listMailboxes(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, state, before }: MailboxChoice,
  limit: number,
): Promise<readonly ListedMailbox[]> {
  const { rows } = await pool.query<ListedMailbox>({
    name: 'list mailboxes',
    text: `select mailbox.id, public_id, sender_id as participant, namespace as registry, mailbox.state,
        mailbox.sequence::float8 as sequence, resting_since, closed_at, held.waiting, held.oldest_due,
        filed.subscriptions, filed.suspended,
        (select delivery.id from delivery where delivery.mailbox = mailbox.id and delivery.state = 'pending' limit 1) as delivery
      from mailbox join ${PARTICIPANTS_SQL} as participant on participant.id = mailbox.participant
        join ${REGISTRIES_SQL} as registry on registry.id = mailbox.registry
        cross join lateral (
          select count(*)::integer as waiting, min(due_at) as oldest_due from notification
          where notification.mailbox = mailbox.id and notification.state = 'waiting'
        ) as held
        cross join lateral (
          select count(*)::integer as subscriptions, (count(*) filter (where state = 'suspended'))::integer as suspended
          from subscription where subscription.mailbox = mailbox.id and state <> 'ended'
        ) as filed
      where ($1::text is null or sender_id = $1) and ($2::text is null or namespace = $2)
        and ($3::text is null or mailbox.state = $3)
        and ($4::uuid is null or mailbox.id < (select id from mailbox where public_id = $4))
      order by mailbox.id desc limit $5`,
    values: [participant, registry, state, before, limit],
  })
  return rows
}
