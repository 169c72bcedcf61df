/**
 * Decides what the items of a request do to a participant's subscriptions. The items are decided in order, from rows of the
 * database. The result is written with the reply. If the rows have changed by then, nothing is written, and all is decided again.
 */

import { newSubscriptionCode } from '@rollcall/core/events/codes'
import type { SubscribeCriteria } from '@rollcall/core/events/criteria'
import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Limits } from '@rollcall/core/limits'
import { OutcomeOutdated } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { ReplyEffect } from '@rollcall/database/transaction'
import { ItemRejection } from '@rollcall/protocol'
import {
  countSubscriptions,
  findEqualSubscriptions,
  type SubscriptionEqualToRequested,
} from '../store/events/find-subscriptions.ts'
import { lockRegistryFor } from '../store/events/lock.ts'
import { ensureMailbox } from '../store/events/mailboxes.ts'
import {
  insertSubscriptions,
  lockSubscriber,
  type NewSubscription,
  renewSubscriptions,
  type SubscribeRequestAndMailbox,
  type SubscriptionRenewal,
} from '../store/events/subscriptions.ts'

/** The participant that subscribes, and its request. */
export interface Subscriber {
  readonly participant: Participant
  readonly registry: Registry
  /** The checked address for the answers to the request; null when the request names none. */
  readonly sender_uri: string | null
  readonly encrypted: boolean
  readonly transaction_id: string
  readonly correlation_id: string
}

/** An item of a subscribe request: its reference_id and locale. */
export interface SubscribingItem {
  readonly reference_id: string
  readonly locale: string | null
}

/** The decision about one item of a subscribe request, with the code of the item's subscription. */
export interface SubscribeDecision {
  readonly code: string
  readonly is: 'made' | 'renewed' | 'resumed'
  /** True when the request has another sender_uri than the stored subscription has. */
  readonly isMoved: boolean
}

/** A subscription as the earlier items of the same request have made or changed it. */
interface PendingSubscription {
  readonly code: string
  end_at: Date | null
  /** The subscription as stored before the request; undefined when the request makes a new one. */
  readonly found?: Pick<SubscriptionEqualToRequested, 'id' | 'state' | 'end_at' | 'mailbox' | 'sender_uri'>
  readonly criteria?: SubscribeCriteria
  readonly item?: SubscribingItem
  /** The new criteria; set when an item of the request has renewed the subscription. */
  renewed?: SubscribeCriteria
}

/**
 * Decides the items of one subscribe request, one after the other. A decision takes account of the subscriptions that earlier
 * items have made or renewed.
 */
export class SubscribeDecider {
  readonly #subscriber: Subscriber
  readonly #most: number
  readonly #standing: Map<string, PendingSubscription>
  #left: number

  private constructor(subscriber: Subscriber, standing: Map<string, PendingSubscription>, most: number, count: number) {
    this.#subscriber = subscriber
    this.#standing = standing
    this.#most = most
    this.#left = most - count
  }

  /** Reads the subscriptions that a request may renew. @param asked what the items of the request ask for */
  static async begin(
    db: Pick<Database, 'pool'>,
    subscriber: Subscriber,
    limits: Pick<Limits, 'subscriptions'>,
    asked: readonly SubscribeCriteria[],
  ): Promise<SubscribeDecider> {
    const { participant, registry } = subscriber
    const found = await findEqualSubscriptions(db, participant.id, registry.id, asked.map(subscriptionIdentityOf))
    const standing = new Map(
      found.map((same) => [subscriptionIdentityText(same), { code: same.code, end_at: same.end_at, found: same }]),
    )
    const most = participant.max_subscriptions ?? limits.subscriptions
    const count = await countSubscriptionsUpTo(db, participant.id, most)
    return new SubscribeDecider(subscriber, standing, most, count)
  }

  /**
   * Decides whether an item makes a new subscription, renews one with the same criteria, or resumes a suspended one.
   * @throws ItemRejection rjct.event.already_subscribed: the item has the criteria and the end of a subscription that is not
   * suspended; rjct.notify_details.invalid: the participant has too many subscriptions
   */
  decide(criteria: SubscribeCriteria, item: SubscribingItem): SubscribeDecision {
    const same = subscriptionIdentityOf(criteria)
    const { end_at } = criteria
    const standing = this.#standing.get(subscriptionIdentityText(same))
    if (standing === undefined) {
      this.#takeOne()
      const code = newSubscriptionCode()
      this.#standing.set(subscriptionIdentityText(same), { code, end_at, criteria, item })
      return { code, is: 'made', isMoved: false }
    }
    const { code, found, renewed } = standing
    const isSuspended = found?.state === 'suspended' && renewed === undefined
    if (!isSuspended && standing.end_at?.getTime() === end_at?.getTime()) {
      throw new ItemRejection(
        'rjct.event.already_subscribed',
        `subscribe_criteria: the same is subscribed to under the code ${code}`,
      )
    }
    standing.end_at = end_at
    standing.renewed = criteria
    const isMoved = found !== undefined && found.sender_uri !== this.#subscriber.sender_uri
    return { code, is: isSuspended ? 'resumed' : 'renewed', isMoved }
  }

  #takeOne(): void {
    if (this.#left < 1) {
      throw new ItemRejection(
        'rjct.notify_details.invalid',
        `subscribe_criteria: the sender may have at most ${this.#most} subscriptions; end others first`,
      )
    }
    this.#left -= 1
  }

  /** The functions that write the decisions to the database. */
  get effects(): readonly ReplyEffect[] {
    const all = [...this.#standing.values()]
    const made = all.flatMap((standing) => newSubscriptionOf(standing) ?? [])
    const renewals = all.flatMap((standing) => subscriptionRenewalOf(standing) ?? [])
    if (made.length + renewals.length === 0) return []
    const { participant, registry, sender_uri, ...request } = this.#subscriber
    return [
      async (client) => {
        await lockRegistryFor(client, registry.id, 'subscribe')
        await lockSubscriber(client, participant.id)
        const count = await countSubscriptionsUpTo({ pool: client }, participant.id, this.#most)
        if (made.length > 0 && count + made.length > this.#most) throw new OutcomeOutdated()
        const owner = { participant: participant.id, registry: registry.id }
        const mailbox = await ensureMailbox(client, { ...owner, sender_uri })
        const making: SubscribeRequestAndMailbox = { ...owner, mailbox, ...request }
        if ((await insertSubscriptions(client, making, made)) < made.length) throw new OutcomeOutdated()
        if ((await renewSubscriptions(client, making, renewals)) < renewals.length) {
          throw new OutcomeOutdated()
        }
      },
    ]
  }
}

/** Counts the subscriptions of a participant, up to the limit. Without a limit it does not count, and returns 0. */
const countSubscriptionsUpTo = (
  db: Parameters<typeof countSubscriptions>[0],
  participant: number,
  most: number,
): Promise<number> => (most === Infinity ? Promise.resolve(0) : countSubscriptions(db, participant, most))

const subscriptionIdentityOf = ({ eventType, recordType, fingerprint }: SubscribeCriteria) => ({
  event_type: eventType.name,
  record_type: recordType.name,
  fingerprint,
})

const subscriptionIdentityText = ({ event_type, record_type, fingerprint }: ReturnType<typeof subscriptionIdentityOf>): string =>
  `${event_type} ${record_type} ${Buffer.from(fingerprint).toString('hex')}`

/** The subscription to insert; null when the subscription is stored already. */
function newSubscriptionOf({ code, end_at, criteria, item, renewed }: PendingSubscription): NewSubscription | null {
  if (criteria === undefined || item === undefined) return null
  const { text, person, predicate, frequency } = criteria
  const { consent } = renewed ?? criteria
  return {
    code,
    ...subscriptionIdentityOf(criteria),
    criteria: text,
    person,
    ...item,
    end_at,
    consent,
    // A later item of the request may have renewed the subscription with another end. Then the frequency has that end too.
    frequency: frequency && { ...frequency, end_at: end_at ?? frequency.end_at },
    keys: keysOfFilter(predicate),
  }
}

function subscriptionRenewalOf({ found, end_at, renewed }: PendingSubscription): SubscriptionRenewal | null {
  if (found === undefined || renewed === undefined) return null
  const { id, state, mailbox } = found
  const from = { state, mailbox, end_at: found.end_at }
  const { event_type, record_type } = subscriptionIdentityOf(renewed)
  const { predicate, consent } = renewed
  return { id, event_type, record_type, end_at, from, consent, keys: keysOfFilter(predicate) }
}
