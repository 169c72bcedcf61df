/**
 * The check of a sandbox participant. Nobody here has its keys: its own system sends the requests, and our records show
 * what arrived and what was acknowledged. The check itself sends a test notification and sends a callback once more:
 * only we can do that.
 */

import { type CheckStep, STEP_STATES } from '@rollcall/core/model/check'
import { type Grant, isNameGranted } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import { changeDeliveries } from '@rollcall/delivery/store/deliveries/delivery-changes'
import { type DeliveryCheckFacts, readDeliveryCheckFacts } from '@rollcall/delivery/store/events/seen-deliveries'
import { type RequestCheckFacts, readRequestCheckFacts } from '@rollcall/engine/store/exchanges/seen-requests'
import { findGrant } from '@rollcall/participants/store/grants'
import { findCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { type ParticipantCheck, saveCheck } from '@rollcall/participants/store/participant-checks'
import { oneOf, operationsOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import packageJson from '../../package.json' with { type: 'json' }
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { queueTestNotification } from '../events/subscription-mailbox.ts'
import { closed, dateOf, flag, instant, isoTime, Namespace, SenderId, text } from '../members.ts'
import type { HasSamples } from '../registries/samples.ts'
import { requireParticipant } from './participants.ts'

interface CheckFacts extends RequestCheckFacts, DeliveryCheckFacts {}

interface CheckStepDefinition {
  readonly name: string
  /** The operation that the step needs: without a grant for it the step is skipped. Null: the step is never skipped. */
  readonly operation: string | null
  /** The step needs an address for callbacks; a system that only asks synchronously has none. */
  readonly called?: true
  readonly seen: (evidence: CheckFacts) => Date | null
  readonly passed: string
  /** The advice when the step was not seen. */
  readonly missing: string
}

/** The steps, in the order in which a system that is being connected takes them. */
const CHECK_STEPS: readonly CheckStepDefinition[] = [
  {
    name: 'token',
    operation: null,
    seen: ({ asked_at }) => asked_at,
    passed: 'a request with an access token was accepted',
    missing:
      'no request was accepted: get a token at /oauth2/client/token with client_id and client_secret, sign a request with a registered key, and send it',
  },
  {
    name: 'search',
    operation: 'search',
    seen: ({ searched_at }) => searched_at,
    passed: 'a signed synchronous search was verified and answered',
    missing: 'no signed synchronous search was answered: send one to registry/sync/search for a person of this registry',
  },
  {
    name: 'callback',
    operation: 'search',
    called: true,
    seen: ({ delivered_at }) => delivered_at,
    passed: 'the answer to an asynchronous search was acknowledged',
    missing:
      'no on-search was acknowledged: send a search to registry/search; rollcall participant test tries the callback address, rollcall deliveries list shows what happened to the answer',
  },
  {
    name: 'retry',
    operation: 'search',
    called: true,
    seen: ({ retried_at }) => retried_at,
    passed: 'an on-search that was sent again with the same message_id was acknowledged again',
    missing:
      'no on-search was acknowledged a second time: the check sends it again; acknowledge a message_id that is known, and do not process it twice',
  },
  {
    name: 'subscribe',
    operation: 'subscribe',
    seen: ({ subscribed_at }) => subscribed_at,
    passed: 'a subscription was made',
    missing: 'there is no subscription: send a subscribe request to registry/subscribe',
  },
  {
    name: 'notification',
    operation: 'subscribe',
    seen: ({ notified_at }) => notified_at,
    passed: 'a test notification was acknowledged',
    missing:
      'no test notification was acknowledged: the check sends one while a subscription is live; rollcall deliveries list shows what happened to it',
  },
  {
    name: 'unsubscribe',
    operation: 'unsubscribe',
    seen: ({ unsubscribed_at }) => unsubscribed_at,
    passed: 'a subscription was ended by a request',
    missing: 'no subscription was ended: send an unsubscribe request after the test notification',
  },
]

/** The members of the report of a participant's check, with their schemas. */
export const CHECK_REPORT = {
  namespace: Namespace,
  since: instant('What was seen at this time or later counts.'),
  checked_at: instant('When it was looked.'),
  version: text('Version of this software.'),
  passed: flag('Whether every step that is not skipped was seen.'),
  steps: Type.Array(
    closed({
      name: text('Name of the step.'),
      state: oneOf(STEP_STATES, {
        description: 'skipped: its operation is not granted, or it needs callbacks and no address is allowed.',
      }),
      text: text('What was seen, or what to do.'),
    }),
  ),
} as const

interface CheckDeps extends HasSamples {
  readonly now?: () => Date
}

/** Checks what a sandbox participant has done, stores the report, and sends the messages that only we can send. */
export const checkParticipant = defineAct(
  {
    name: 'participant check',
    approval: 'never',
    input: closed({ sender_id: SenderId, namespace: Namespace, since: CHECK_REPORT.since }),
    result: closed({ sender_id: SenderId, ...CHECK_REPORT }),
  },
  async ({ db, samples, now = () => new Date() }: CheckDeps, { sender_id, namespace, since }) => {
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const grant = await requireCheckGrant({ db }, participant, registry)
    const of = { participant, registry, since: dateOf(since) }
    const evidence = { ...(await readRequestCheckFacts(db, of)), ...(await readDeliveryCheckFacts(db, of)) }
    const { allowed, default_url } = await findCallbackSettings(db, participant.id)
    const isCalled = allowed.length > 0 || default_url !== null
    const steps = CHECK_STEPS.map((row) => judgeCheckStep(row, grant, registry, { ...evidence, isCalled }))
    const passed = steps.every(({ state }) => state !== 'missing')
    const report = { checked_at: now(), version: packageJson.version, passed, steps }
    await saveCheck(db, of, report)
    await sendMessagesForCheck({ db, samples }, grant, evidence)
    return { sender_id, ...shownCheckReport({ namespace, since: of.since, ...report }) }
  },
)

/** Returns the participant's grant in force. @throws AdminRefusal its system cannot be checked in this registry */
async function requireCheckGrant({ db }: Pick<HasSamples, 'db'>, participant: Participant, registry: Registry): Promise<Grant> {
  const { sender_id, environment, signature_policy } = participant
  if (environment !== 'sandbox') {
    throw new AdminRefusal(`${sender_id} is live; only a sandbox participant is checked`)
  }
  if (registry.environment !== 'sandbox') {
    throw new AdminRefusal(`the registry ${registry.namespace} is live; a participant is checked in a sandbox registry`)
  }
  if (signature_policy !== 'required') {
    throw new AdminRefusal(
      `the messages of ${sender_id} need not be signed; run rollcall participant policy ${sender_id} --signature required first`,
    )
  }
  const found = await findGrant(db, participant.id, registry.id)
  const grant = found && readStoredGrant(registry.kind, found)
  if (grant !== null) return grant
  throw new AdminRefusal(
    `${sender_id} has no grant in force in ${registry.namespace}; run rollcall grant set ${sender_id} ${registry.namespace} first`,
  )
}

function judgeCheckStep(
  { name, operation, called, seen, passed, missing }: CheckStepDefinition,
  { operations }: Grant,
  { kind }: Pick<Registry, 'kind'>,
  { isCalled, ...evidence }: CheckFacts & { readonly isCalled: boolean },
): CheckStep {
  if (operation !== null) {
    const isOffered = operationsOf(kind).some((row) => row.name === operation)
    if (!isOffered || !isNameGranted(operations, operation)) {
      return { name, state: 'skipped', text: `${operation} is not granted here` }
    }
  }
  if (called && !isCalled) {
    return { name, state: 'skipped', text: 'no address for callbacks is allowed: it gets answers at once only' }
  }
  const at = seen(evidence)
  if (at === null) return { name, state: 'missing', text: missing }
  return { name, state: 'passed', text: `${passed} at ${at.toISOString()}` }
}

/**
 * Sends messages that the participant's system must acknowledge, for steps of the check that are still missing. Sends an answer
 * again that was acknowledged at its first attempt, if none was sent again yet. Queues a test notification for a live
 * subscription, if none was acknowledged and none is under way.
 */
async function sendMessagesForCheck(
  { db, samples }: HasSamples,
  { operations }: Grant,
  { delivery, retried_at, subscription, notified_at, testing }: CheckFacts,
): Promise<void> {
  if (delivery !== null && retried_at === null) await changeDeliveries(db, 'replay', { ids: [delivery] })
  if (subscription !== null && notified_at === null && !testing && isNameGranted(operations, 'subscribe')) {
    await queueTestNotification({ db, samples }, subscription)
  }
}

/** Turns a stored report of a check into the form of the answer. */
export const shownCheckReport = ({ namespace, since, checked_at, version, passed, steps }: ParticipantCheck) => ({
  namespace,
  since: isoTime(since),
  checked_at: isoTime(checked_at),
  version,
  passed,
  steps,
})
