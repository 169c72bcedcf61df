/**
 * The view that a participant has of itself on the partner page. Each function is about `sender_id`, which comes from
 * the session and never from the input. No function shows a person, another participant or an id of the database.
 */

import type { Clock } from '@rollcall/base/shared/clock'
import { findSubscription } from '@rollcall/delivery/store/events/subscription-list'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import type { BaseActDeps } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasClock } from '../deps.ts'
import { listSubscriptions, SUBSCRIPTION_STATES } from '../events/subscriptions.ts'
import { explainGrant, listGrants } from '../grants/grants.ts'
import { describeGrant } from '../grants/words.ts'
import { closed, instant, Namespace, NO_INPUT, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { type HasDayLimits, showParticipant } from '../participants/show.ts'

export interface SampleIdentifier {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** The dependencies of the functions of the partner page. */
export interface PartnerDeps extends HasDayLimits, BaseActDeps {
  readonly clock: Pick<Clock, 'date'>
  /** The participant that is signed in. */
  readonly sender_id: string
  /** Counts deliveries that the participant asks for again; throws when the number in this minute exceeds the limit. */
  readonly mayReplay: (deliveries: number) => void
  /** Returns an identifier of a synthetic person in a registry; null: none can be shown. */
  readonly sampleOf: (namespace: string) => SampleIdentifier | null
}

const participantProperties = showParticipant.result.properties
const { keys, published_keys, quotas, callback } = participantProperties
const { allowed, default_url, notify_url, auth } = callback.properties

/** The member of an input that limits how many rows one call lists. */
export const ListLimit = Type.Optional(wholeNumber('At most so many (default: 50).', 1, 100))

export const showOwnParticipant = defineAdminFunction(
  {
    input: NO_INPUT,
    result: closed({
      sender_id: SenderId,
      name: participantProperties.name,
      client_id: participantProperties.client_id,
      environment: participantProperties.environment,
      last_seen: participantProperties.last_seen,
      signature_policy: participantProperties.signature_policy,
      encryption_policy: participantProperties.policy.properties.encryption_policy,
      jwks_uri: participantProperties.policy.properties.jwks_uri,
      keys,
      published_keys,
      addresses: closed({ allowed, default_url, notify_url, auth }),
      max_page_size: participantProperties.max_page_size,
      rate_limit: participantProperties.rate_limit,
      concurrency_limit: participantProperties.concurrency_limit,
      quotas,
      accepted_today: participantProperties.accepted_today,
      callbacks_today: participantProperties.callbacks_today,
      max_subscriptions: participantProperties.max_subscriptions,
      subscriptions: participantProperties.subscriptions,
    }),
  },
  async ({ db, limits, sender_id }: PartnerDeps) => {
    const shown = await showParticipant({ db, limits }, { sender_id })
    const { policy, callback: addresses } = shown
    return {
      sender_id,
      name: shown.name,
      client_id: shown.client_id,
      environment: shown.environment,
      last_seen: shown.last_seen,
      signature_policy: shown.signature_policy,
      encryption_policy: policy.encryption_policy,
      jwks_uri: policy.jwks_uri,
      keys: shown.keys,
      published_keys: shown.published_keys,
      addresses: {
        allowed: addresses.allowed,
        default_url: addresses.default_url,
        notify_url: addresses.notify_url,
        auth: addresses.auth,
      },
      max_page_size: shown.max_page_size,
      rate_limit: shown.rate_limit,
      concurrency_limit: shown.concurrency_limit,
      quotas: shown.quotas,
      accepted_today: shown.accepted_today,
      callbacks_today: shown.callbacks_today,
      max_subscriptions: shown.max_subscriptions,
      subscriptions: shown.subscriptions,
    }
  },
)

const UNREADABLE_GRANT_WORDS = [{ about: 'grant', words: 'cannot be read any more: ask the operator' }]

/** Lists the participant's grants: those in force in words, without values of conditions; of later ones only the times. */
export const listOwnGrants = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        namespace: Namespace,
        valid_from: text('When it begins to count.'),
        valid_until: orNull(text('When it ends; null: no end.')),
        in_force: Type.Boolean({ description: 'Whether it counts now.' }),
        words: Type.Array(closed({ about: text('What the words are about.'), words: text('What is granted.') }), {
          description: 'Of a grant in force.',
        }),
      }),
    ),
  },
  async ({ db, sender_id, now: clock = () => new Date() }: PartnerDeps & HasClock) => {
    const now = clock().toISOString()
    const grants = (await listGrants({ db }, { sender_id })).filter(
      ({ valid_until }) => valid_until === null || valid_until > now,
    )
    return Promise.all(
      grants.map(async ({ namespace, valid_from, valid_until }) => {
        const in_force = valid_from <= now
        const words = in_force ? await grantWordsOf(db, { sender_id, namespace }) : []
        return { namespace, valid_from, valid_until, in_force, words }
      }),
    )
  },
)

async function grantWordsOf(db: PartnerDeps['db'], of: { readonly sender_id: string; readonly namespace: string }) {
  try {
    const words = describeGrant(await explainGrant({ db }, of), { conditions: false })
    return words.map(([about, said]) => ({ about, words: said }))
  } catch (error) {
    if (error instanceof AdminRefusal) return UNREADABLE_GRANT_WORDS
    throw error
  }
}

const subscriptionMembers = listSubscriptions.result.items.properties

/** Lists the participant's subscriptions, without criteria and reasons: both may be personal data, such as a death. */
export const listOwnSubscriptions = defineAdminFunction(
  {
    input: closed({
      state: Type.Optional(oneOf(SUBSCRIPTION_STATES, { description: 'Only those in this state.' })),
      before: Type.Optional(text('Code of one: only those older than it.')),
      limit: ListLimit,
    }),
    result: Type.Array(
      closed({
        code: subscriptionMembers.code,
        namespace: Namespace,
        event_type: subscriptionMembers.event_type,
        record_type: subscriptionMembers.record_type,
        state: subscriptionMembers.state,
        cron: subscriptionMembers.cron,
        start_at: subscriptionMembers.start_at,
        end_at: subscriptionMembers.end_at,
        created_at: instant('When it was made.'),
        ended_at: subscriptionMembers.ended_at,
      }),
    ),
  },
  async ({ db, sender_id }: PartnerDeps, { state, before, limit = 50 }) => {
    if (before !== undefined && (await findSubscription(db, before))?.participant !== sender_id) {
      throw new AdminRefusal('before: there is no such subscription', { reason: 'not_found' })
    }
    const rows = await listSubscriptions({ db }, { participant: sender_id, state, before, limit })
    return rows.map(({ participant: _, reason: __, ...row }) => row)
  },
)
