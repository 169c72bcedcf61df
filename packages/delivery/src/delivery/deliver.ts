/**
 * Attempts deliveries and records the results. The code that makes an envelope (its maker) attempts the delivery at once if it
 * gets a permit (`reserveAttempt`). The dispatcher claims the other deliveries (`dispatcher.ts`).
 */
import { randomUUID } from 'node:crypto'
import {
  type ClaimedDelivery,
  type DeliveryClaim,
  type DeliveryUpdate,
  type Destination,
  deliveryAnswerBinding,
  type NewDelivery,
  targetOrigin,
} from '@rollcall/core/model/delivery'
import { makeTraceparent } from '@rollcall/core/model/traceparent'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { BodyEncryption } from '@rollcall/keys/bodies'
import type { Metrics } from '@rollcall/observe/metrics'
import type { CallbackSettingsReader, Directory } from '@rollcall/participants/directory/directory'
import type { Grants } from '@rollcall/participants/directory/grants'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import type { CanonicalText } from '@rollcall/protocol'
import { type AcceptedRequestsSql, recordAttempt, releaseUnattemptedDelivery } from '../store/deliveries/deliveries.ts'
import { makeDeliveriesDue } from '../store/events/mailboxes.ts'
import { type AttemptDeps, type AttemptReport, postEnvelope, resultOfFailure } from './attempt.ts'
import type { Breakers } from './breaker.ts'
import { type AttemptResult, unsentResults } from './failures.ts'
import { type Limiter, type Permit, SLOW_ATTEMPT_MS } from './limiter.ts'
import { recallUnwantedEnvelope } from './recall.ts'
import { decideDeliveryUpdate, longestBreakerPauseSeconds } from './schedule.ts'
import { isDeliveryPermissionUnchanged, isStillPermitted } from './still-permitted.ts'
import type { DeliveryContents } from './stored-envelope.ts'
import { callbackNamed, findCallbackTarget, recheckTarget } from './targets.ts'

export interface DeliverDeps extends AttemptDeps, AcceptedRequestsSql {
  readonly db: Pick<Database, 'pool'>
  readonly directory: Pick<Directory, 'participantById' | 'registryById'>
  readonly grants: Grants
  readonly callbacks: CallbackSettingsReader
  readonly bodies: BodyEncryption
  readonly breakers: Breakers
  readonly limiter: Limiter
  /** The seconds between attempts at a delivery, for participants without a schedule of their own. */
  readonly retrySchedule: readonly number[]
  readonly metrics: Pick<Metrics, 'deliveryEnded' | 'deliveryAttempted'>
  /** Tells this node's dispatcher in how many seconds a delivery of a participant is due. */
  readonly deliveryDue: (participant: number, seconds: number) => void
  /** Tells this node that the delivery of a mailbox has ended, so that the next envelope may be made. */
  readonly mailboxDue: (mailbox: number) => void
}

/** A claim and a permit to attempt a delivery at once. The delivery is committed with this claim. */
export interface ReservedAttempt {
  readonly claim: DeliveryClaim
  /** `deliverNow` releases the permit. A caller that does not call it must release the permit as `unused`. */
  readonly permit: Permit
}

/** Reserves an attempt; null when the breaker is open or there is no permit: then the dispatcher makes the attempt. */
export async function reserveAttempt(
  { callbacks, breakers, limiter }: Pick<DeliverDeps, 'callbacks' | 'breakers' | 'limiter'>,
  destination: Destination,
): Promise<ReservedAttempt | null> {
  const settings = await callbacks.of({ id: destination.participant })
  if (!(await breakers.isClosed(destination))) return null
  const permit = limiter.acquireForMaker(destination, settings)
  return permit === null ? null : { claim: newAttemptClaim(settings), permit }
}

/** Makes a claim, which the caller stores. The claim lasts `CLAIM_GRACE_SECONDS` longer than the participant's timeout. */
export function newAttemptClaim({ timeout_ms }: Pick<CallbackSettings, 'timeout_ms'>): DeliveryClaim {
  return { id: randomUUID(), seconds: timeout_ms / 1_000 + CLAIM_GRACE_SECONDS }
}

/** Seconds that a claim adds to the participant's timeout, for recording the result of an attempt. */
const CLAIM_GRACE_SECONDS = 5
/**
 * Milliseconds for which the maker of an envelope waits for the first attempt, so that envelopes are not made faster than their
 * receiver takes them. After this time the limiter marks the destination as failing (`Permit.slow`).
 */
const FIRST_ATTEMPT_WAIT_MS = 500

/** A delivery that was committed just now, with a reserved claim. */
export interface JustStoredDelivery extends ReservedAttempt, Partial<Pick<ClaimedDelivery, 'sender_uri'>> {
  readonly delivery: NewDelivery
  /** The header and the message in clear; `delivery.body` has them encrypted. */
  readonly header: object
  readonly message: object | CanonicalText
  readonly traceparent?: string | null
  /**
   * True when the permission must be checked before the attempt, because a consent may have ended before the commit of the
   * delivery. If false or absent, the permission is checked only when the grant or the protected persons have changed.
   */
  readonly checksPermission?: boolean
  /** The settings that allowed `delivery.target`. The attempt checks the address again if they are absent or were read again. */
  readonly allowedBy?: CallbackSettings | undefined
}

/**
 * Makes the first attempt of a delivery. Resolves when the result is recorded, or after `FIRST_ATTEMPT_WAIT_MS`: then the attempt
 * continues in the background. Never rejects: the delivery is committed, and its claim ends by itself.
 * @returns true when the delivery has ended; false also when the attempt continues in the background
 */
export async function deliverNow(
  deps: DeliverDeps,
  { delivery, claim, permit, header, message, traceparent, checksPermission = false, allowedBy, sender_uri }: JustStoredDelivery,
): Promise<boolean> {
  const origin = targetOrigin(delivery.target)
  const attempting = attemptWithPermit(deps, permit, {
    delivery: { ...delivery, origin, number: 1, earlier: 0, sender_uri },
    claim,
    probe: false,
    checksPermission,
    allowedBy,
    read: async () => ({ header, message, traceparent: traceparent ?? null }),
  }).catch((error: unknown) => {
    logUnrecordedAttempt(deps, error)
    deps.deliveryDue(delivery.participant, claim.seconds)
    return false
  })
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => {
    permit.slow()
    resolve(false)
  }, FIRST_ATTEMPT_WAIT_MS)
  return Promise.race([attempting, late]).finally(() => clearTimeout(timer))
}

/** Logs for the operator that the result of an attempt could not be recorded. */
export function logUnrecordedAttempt({ log }: Pick<DeliverDeps, 'log'>, error: unknown): void {
  log.error(safeDatabaseError(error), 'an attempt could not be recorded; made again when its claim ends')
}

/**
 * Attempts a delivery and releases its permit. Marks the destination as failing if the attempt takes `SLOW_ATTEMPT_MS` or more.
 * @returns whether the delivery has ended
 */
export async function attemptWithPermit(deps: DeliverDeps, permit: Permit, claimed: DeliveryToAttempt): Promise<boolean> {
  const timer = setTimeout(() => permit.slow(), SLOW_ATTEMPT_MS)
  let result: PermitAndDeliveryEffects = { permitOutcome: 'failing', isEnded: false }
  try {
    result = await attemptAndRecord(deps, claimed)
  } finally {
    clearTimeout(timer)
    permit.release(result.permitOutcome)
  }
  return result.isEnded
}

/** A delivery that this node has claimed, with what is known for its attempt. */
export interface DeliveryToAttempt {
  readonly delivery: Omit<ClaimedDelivery, 'body'>
  readonly claim: DeliveryClaim
  /** Reads the delivery's header, message and traceparent, for example by decrypting its body. */
  readonly read: () => Promise<DeliveryContents>
  /** True when the attempt is the probe of an open circuit breaker. */
  readonly probe: boolean
  /** As in `JustStoredDelivery`; always true for a delivery that the dispatcher has claimed. */
  readonly checksPermission: boolean
  readonly allowedBy?: CallbackSettings | undefined
}

/** The effects of an attempt on its permit and on its delivery. */
interface PermitAndDeliveryEffects {
  /** The argument of `Permit.release`. `unused`: the attempt ended before signing began, so the peer was not called. */
  readonly permitOutcome: Parameters<Permit['release']>[0]
  /** True when the delivery has ended. */
  readonly isEnded: boolean
}

/**
 * Attempts one delivery and records the result. Makes and records no attempt if the participant is not active, or the registry is
 * not found. Instead of an attempt, it takes back an envelope of notifications that may not be sent as it is.
 */
async function attemptAndRecord(deps: DeliverDeps, claimed: DeliveryToAttempt): Promise<PermitAndDeliveryEffects> {
  const { delivery } = claimed
  const participant = await deps.directory.participantById(delivery.participant)
  const registry = await deps.directory.registryById(delivery.registry)
  if (participant?.status !== 'active' || registry === undefined) {
    await releaseUnattemptedDelivery(deps.db, delivery, claimed.claim)
    return { permitOutcome: 'unused', isEnded: false }
  }
  // Without `checksPermission` the database is asked only if the cached grant or protected persons differ from `disclosedUnder`.
  const checksPermission =
    claimed.checksPermission || !(await isDeliveryPermissionUnchanged(deps, delivery, { participant, registry }))
  // Takes back only an envelope of notifications. `checkAndSendDelivery` checks whether a reply may still be sent.
  if (checksPermission && (await recallUnwantedEnvelope(deps, delivery, { participant, registry }, claimed.claim))) {
    if (delivery.mailbox) deps.mailboxDue(delivery.mailbox)
    return { permitOutcome: 'unused', isEnded: true }
  }
  const settings = await deps.callbacks.of(participant)
  const schedule = settings.schedule ?? deps.retrySchedule
  const attempted = await checkAndSendDelivery(deps, { ...claimed, checksPermission }, { participant, registry, settings })
  const { result, duration_ms, target } = attempted
  const update = decideDeliveryUpdate(delivery, attempted, schedule)
  const isRecorded = await recordResult(deps, claimed, attempted, update, longestBreakerPauseSeconds(schedule))
  // While the breaker was open, the next attempts at envelopes of notifications may have moved hours away. Now the peer answers,
  // so these envelopes become due.
  if (claimed.probe && result.peer === 'up') await makeDeliveriesDue(deps.db, participant.id, { origin: targetOrigin(target) })
  if (isRecorded) announceDueDeliveryOrMailbox(deps, delivery, update)
  const isHealthy = result.peer === 'up' && duration_ms < SLOW_ATTEMPT_MS
  const permitOutcome = target === null ? 'unused' : isHealthy ? 'healthy' : 'failing'
  return { permitOutcome, isEnded: isRecorded && update.state !== 'pending' }
}

interface AttemptWithTarget extends AttemptReport {
  /** The address of the attempt; null when it ended before signing began. */
  readonly target: string | null
}

/** Records an attempt. @returns false when the delivery has another claim by now, or was ended meanwhile */
async function recordResult(
  deps: DeliverDeps,
  { delivery: { id, number, origin, participant }, claim, probe }: DeliveryToAttempt,
  { target, at, duration_ms, result, answer }: AttemptWithTarget,
  update: DeliveryUpdate,
  longest_pause: number,
): Promise<boolean> {
  return recordAttempt(
    deps.db,
    {
      delivery: id,
      number,
      at,
      duration_ms,
      status: result.status,
      error: result.verdict === 'delivered' ? null : result.name,
      answer: answer === '' ? null : await deps.bodies.encryptBody(answer, deliveryAnswerBinding(id, number)),
    },
    update,
    { participant, origin: target === null ? origin : targetOrigin(target), peer: result.peer, probe, longest_pause },
    { claim: claim.id, target },
  )
}

function announceDueDeliveryOrMailbox(
  deps: DeliverDeps,
  { participant, mailbox = null }: DeliveryToAttempt['delivery'],
  update: DeliveryUpdate,
): void {
  if (update.wait !== null) deps.deliveryDue(participant, update.wait)
  else if (update.state !== 'pending') {
    deps.metrics.deliveryEnded(update.state)
    if (mailbox !== null) deps.mailboxDue(mailbox)
  }
}

async function checkAndSendDelivery(
  deps: DeliverDeps,
  { delivery, read, checksPermission, allowedBy }: DeliveryToAttempt,
  to: Pick<Parameters<typeof postEnvelope>[1], 'participant' | 'registry' | 'settings'>,
): Promise<AttemptWithTarget> {
  const unsentAttempt = (result: AttemptResult): AttemptWithTarget => {
    return { target: null, at: new Date(deps.clock.date()), duration_ms: 0, result, retry_after: 0, answer: '', detail: null }
  }
  try {
    // Cached settings stay the same object. If this is another object, the settings were read again and may differ.
    const target = allowedBy === to.settings ? delivery.target : findAttemptTarget(to.settings, delivery)
    if (target === null) return unsentAttempt(unsentResults.no_address)
    const { header, message, traceparent } = await read()
    if (checksPermission && delivery.mailbox == null && !(await isStillPermitted(deps, delivery, to, message)))
      return unsentAttempt(unsentResults.not_permitted)
    // If encryption is required now, the participant gets nothing in clear, even when its request was in clear.
    const encrypted = delivery.encrypted || to.participant.encryption_policy === 'required'
    const trace = traceparent ?? makeTraceparent(delivery.correlation_id ?? delivery.id)
    const outgoing = { ...to, target, encrypted, header, message, traceparent: trace }
    return { target, ...(await postEnvelope(deps, outgoing)) }
  } catch (error) {
    return unsentAttempt(resultOfFailure(deps, error))
  }
}

/** Finds the address for this attempt, as allowed now; null: none. @throws RequestFault it is no longer allowed */
function findAttemptTarget(
  settings: CallbackSettings,
  { callback, sender_uri, target }: DeliveryToAttempt['delivery'],
): string | null {
  const row = callbackNamed(callback)
  if (sender_uri !== undefined) return findCallbackTarget(settings, sender_uri, row)
  return target === null ? null : recheckTarget(settings, target, row)
}
