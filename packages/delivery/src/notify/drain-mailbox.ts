/**
 * Drains a mailbox: composes, commits and sends one envelope after another. Draining stops when nothing is due or may be sent
 * now, when an envelope cannot be committed, when the dispatcher must make the first attempt of an envelope, when the first
 * attempt leaves its delivery pending, or when the turn is over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditLogWithRowWrites } from '@rollcall/audit/audit-log'
import { type DeliveryClaim, type Destination, type NewDelivery, targetOrigin } from '@rollcall/core/model/delivery'
import { dailyLimitOf, disclosingGrantOf } from '@rollcall/core/model/grant'
import { isUnavailable } from '@rollcall/database/database-errors'
import { deliverNow, type ReservedAttempt, reserveAttempt } from '../delivery/deliver.ts'
import { ENVELOPE_JOINT_WRITE, type NewEnvelope } from '../store/events/envelopes.ts'
import { type ClaimedMailbox, letMailboxRest, releaseMailbox } from '../store/events/mailboxes.ts'
import {
  type EnvelopePlan,
  type EnvelopeToCommit,
  isEnvelopeStale,
  NOTIFY_CALLBACK,
  type PrepareDeps,
  prepareNextEnvelope,
  releaseEnvelopeBytes,
} from './prepare-envelope.ts'

/** The dependencies of draining a mailbox. */
export interface NotifyDeps extends PrepareDeps {
  readonly auditLog: AuditLogWithRowWrites
}

/** Milliseconds for which one mailbox is drained before other mailboxes have their turn. */
const MAILBOX_TURN_MS = 10_000
/**
 * Seconds for which a mailbox rests when nothing may be sent to its receiver now, or when draining failed although the database
 * was available.
 */
const MAILBOX_PAUSE_SECONDS = 60

/**
 * Sends what is due in a mailbox that this node has claimed.
 * @param signal when it is aborted, no further envelope is begun
 * @returns true when the mailbox must be claimed again (`more` or `lost`): the turn is over, the signal was aborted, an envelope
 * could not be committed, or the mailbox must rest after an envelope was committed, which needs a new claim
 */
export async function drainMailbox(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  signal: AbortSignal,
): Promise<boolean> {
  const { pool } = deps.db
  try {
    const result = await sendEnvelopes(deps, mailbox, claim, signal)
    if (result === 'not now') await letMailboxRest(pool, mailbox.id, { ...claim, seconds: MAILBOX_PAUSE_SECONDS })
    else if (result === 'nothing' || result === 'lost') await releaseMailbox(pool, mailbox.id, claim)
    return result === 'more' || result === 'lost'
  } catch (error) {
    if (!isUnavailable(error)) await letMailboxRest(pool, mailbox.id, { ...claim, seconds: MAILBOX_PAUSE_SECONDS })
    throw error
  }
}

/**
 * How the sending from a claimed mailbox ended. The commit of an envelope ends the claim of the mailbox.
 * - `more`: an envelope was committed. The mailbox must be claimed again, to send the next one or to let the mailbox rest.
 * - `done`: an envelope was committed, and nothing more is due, or the delivery of the envelope is pending. Nobody can claim the
 *   mailbox before this delivery ends.
 * - `not now`: no envelope was committed, because nothing may be sent now (`prepareNextEnvelope`). The mailbox is still claimed.
 * - `lost`: `ENVELOPE_JOINT_WRITE` did not commit the envelope, for example because another node has claimed the mailbox. The
 *   node that next claims it composes the envelope anew.
 * - `nothing`: no envelope was committed, because nothing was due. The mailbox is still claimed.
 */
type DrainResult = 'more' | 'done' | 'not now' | 'lost' | 'nothing'

/**
 * Sends the due envelopes of a mailbox, one after another. After `MAILBOX_TURN_MS` it begins no other one.
 * @returns why it stopped
 */
async function sendEnvelopes(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  signal: AbortSignal,
): Promise<DrainResult> {
  const end = deps.clock.now() + MAILBOX_TURN_MS
  const plan: EnvelopePlan = { envelopes: [], at: 0 }
  let { sequence } = mailbox
  const prepareNext = () => prepareNextEnvelope(deps, mailbox, sequence, plan)
  let next = await prepareNext()
  while (next !== null) {
    // If an envelope was committed, its commit ended the claim. The node must claim the mailbox again to let it rest.
    if (next === 'not now') return sequence === mailbox.sequence ? 'not now' : 'more'
    const attemptNow = await commitEnvelope(deps, mailbox, claim, sequence, next)
    if (attemptNow === 'lost') return 'lost'
    if (attemptNow === 'for dispatcher') return 'done'
    sequence += 1
    const goesOn = !signal.aborted && deps.clock.now() < end
    // The next envelope is composed while the committed envelope is being sent.
    const following = goesOn && next.isFollowed ? prepareNext() : null
    following?.catch(() => undefined)
    if (!(await attemptNow())) {
      releaseEnvelopeBytes(await following?.catch(() => null))
      return 'done'
    }
    if (following === null) return next.isFollowed ? 'more' : 'done'
    next = await following
    if (isEnvelopeStale(next, plan, deps.clock.now())) {
      releaseEnvelopeBytes(next)
      // The other envelopes of the plan were read at the same time, so they are stale too.
      plan.envelopes = []
      next = await prepareNext()
    }
  }
  return sequence === mailbox.sequence ? 'nothing' : 'done'
}

/**
 * Commits an envelope with its delivery, and reserves the first attempt before. If none can be reserved, the dispatcher makes it.
 * @returns a function that makes the first attempt, and returns whether the delivery has ended; or the text `lost`: the envelope
 * was not committed; or the text `for dispatcher`: the envelope was committed, and the dispatcher makes the first attempt
 */
async function commitEnvelope(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  after: number,
  { participant, registry, grant, settings, target, composed, auditEntry, id, header, message, body, leave }: EnvelopeToCommit,
): Promise<(() => Promise<boolean>) | 'lost' | 'for dispatcher'> {
  const { notifications, encrypted } = composed
  const delivery: NewDelivery = {
    id,
    participant: participant.id,
    registry: registry.id,
    correlation_id: null,
    callback: NOTIFY_CALLBACK.name,
    page: 1,
    message_id: composed.header.message_id,
    target,
    encrypted,
    body,
    mailbox: mailbox.id,
    disclosedUnder: grant === null ? null : disclosingGrantOf(grant),
  }
  let reserved: ReservedAttempt | null = null
  let committed = false
  try {
    reserved = await reserveAttemptWithRetries(deps, { participant: participant.id, origin: targetOrigin(target) })
    const envelope: NewEnvelope = {
      mailbox: mailbox.id,
      after,
      claim: claim.id,
      delivery,
      notifications,
      counted: grant === null || dailyLimitOf(grant.terms, 'records') === undefined ? 0 : composed.recordCount,
      deliveryClaim: reserved?.claim ?? null,
    }
    committed = await deps.auditLog.writeWith(ENVELOPE_JOINT_WRITE, envelope, ...auditEntry)
  } finally {
    if (!committed) reserved?.permit.release('unused')
    if (!committed || reserved === null) leave()
  }
  if (!committed) return 'lost'
  if (reserved === null) {
    deps.deliveryDue(participant.id, 0)
    return 'for dispatcher'
  }
  const { permit, claim: attemptClaim } = reserved
  let inline = true
  // While `sendEnvelopes` waits for the attempt, it learns from the result that the delivery has ended. An announcement would
  // only cause one more poll of the mailbox.
  const mailboxDue = (due: number): void => {
    if (!inline) deps.mailboxDue(due)
  }
  return async () => {
    const fresh = { delivery, permit, claim: attemptClaim, header, message, allowedBy: settings }
    const isEnded = await deliverNow({ ...deps, mailboxDue }, fresh)
    inline = false
    leave()
    return isEnded
  }
}

/** Milliseconds between two tries to reserve an attempt, and the most tries. */
const RESERVE_ATTEMPT_PAUSE_MS = 10
const MOST_RESERVE_ATTEMPT_TRIES = 25

/** Reserves an attempt; waits up to 240 ms for it, because the dispatcher would need more statements. Null: none was reserved. */
async function reserveAttemptWithRetries(deps: NotifyDeps, destination: Destination): Promise<ReservedAttempt | null> {
  for (let tries = 1; ; tries += 1) {
    const reserved = await reserveAttempt(deps, destination)
    if (reserved !== null || tries === MOST_RESERVE_ATTEMPT_TRIES) return reserved
    await sleep(RESERVE_ATTEMPT_PAUSE_MS)
  }
}
