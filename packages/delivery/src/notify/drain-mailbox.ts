/**
 * Drains a mailbox: composes, commits and sends one envelope after another. Draining stops when nothing is due or may be sent
 * now, when an envelope cannot be committed, when the first attempt of an envelope leaves its delivery pending, or when the turn
 * is over.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { auditEntryOfEnvelope, type EntryWithPersons, makeAuditedMessage } from '@rollcall/audit/audit-entry-of'
import type { JointAuditLog } from '@rollcall/audit/audit-log'
import type { Semaphore } from '@rollcall/base/shared/semaphore'
import {
  type DeliveryClaim,
  type Destination,
  type NewDelivery,
  type StoredEnvelope,
  targetOrigin,
} from '@rollcall/core/model/delivery'
import { dailyLimitOf, disclosingGrantOf, type Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { isUnavailable } from '@rollcall/database/database-errors'
import type { GrantQuota } from '@rollcall/participants/admission/grant-quota'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import type { CanonicalText } from '@rollcall/protocol'
import { RequestFault } from '@rollcall/protocol'
import { type DeliverDeps, deliverNow, type ReservedAttempt, reserveAttempt } from '../delivery/deliver.ts'
import { encryptForStorage } from '../delivery/stored-envelope.ts'
import { callbackNamed, callbackTarget } from '../delivery/targets.ts'
import { ENVELOPE_JOINT_WRITE, type NewEnvelope } from '../store/events/envelopes.ts'
import { type ClaimedMailbox, letMailboxRest, releaseMailbox } from '../store/events/mailboxes.ts'
import { findEventDocument } from '../store/events/waiting.ts'
import { type ComposedNotification, composeEnvelope, type ItemWithDocument } from './compose.ts'
import type { PlannedItem } from './items.ts'
import { takeNextEnvelopes } from './next-items.ts'

/** The dependencies of draining a mailbox. */
export interface NotifyDeps extends DeliverDeps {
  readonly db: Database
  readonly auditLog: JointAuditLog
  readonly grantQuota: GrantQuota
  /** Limits the bytes of all envelopes on this node that are composed, or attempted for at most `FIRST_ATTEMPT_WAIT_MS`. */
  readonly envelopeBytes: Semaphore
}

const NOTIFY_CALLBACK = callbackNamed('notify')
/** Milliseconds for which one mailbox is drained before other mailboxes have their turn. */
const MAILBOX_TURN_MS = 10_000
/**
 * An envelope that was composed ahead is composed again when its notifications were read more than this many milliseconds ago:
 * records, grant or subscriptions may have changed. An envelope is composed only from notifications that were read within half of
 * this time. The other half is for the attempt before it.
 */
const ENVELOPE_STALE_AFTER_MS = 1_000
/**
 * Seconds for which a mailbox rests when nothing may be sent to its receiver now, or when draining failed although the database
 * was available.
 */
const MAILBOX_REST_SECONDS = 60

/** The receiver of a mailbox's envelopes, with the grant and settings that apply now. */
interface Recipient {
  readonly participant: Participant
  readonly registry: Registry
  /** The grant in force; null when the participant has none: waiting notifications are then dropped. */
  readonly grant: Grant | null
  readonly settings: CallbackSettings
  readonly target: string
}

/**
 * Sends what is due in a mailbox that this node has claimed.
 * @param signal when it is aborted, no further envelope is begun
 * @returns true when the mailbox must be looked at again: the turn is over, the signal was aborted, an envelope could not be
 * committed, or nothing may be sent any more after an envelope
 */
export async function drainMailbox(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  signal: AbortSignal,
): Promise<boolean> {
  const { pool } = deps.db
  try {
    const left = await sendEnvelopes(deps, mailbox, claim, signal)
    if (left === 'nowhere') await letMailboxRest(pool, mailbox.id, { ...claim, seconds: MAILBOX_REST_SECONDS })
    else if (left === 'nothing' || left === 'lost') await releaseMailbox(pool, mailbox.id, claim)
    return left === 'more' || left === 'lost'
  } catch (error) {
    if (!isUnavailable(error)) await letMailboxRest(pool, mailbox.id, { ...claim, seconds: MAILBOX_REST_SECONDS })
    throw error
  }
}

/**
 * How a mailbox was left. `more`: look again; an envelope was committed, which ended the claim of the mailbox. `done`: an
 * envelope was committed, and its delivery continues or nothing more is due. `nowhere`: nothing may be sent now, or there is no
 * address, and the claim still holds. `lost`: an envelope was not committed. `nothing`: nothing was due.
 */
type DrainResult = 'more' | 'done' | 'nowhere' | 'lost' | 'nothing'

async function sendEnvelopes(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  signal: AbortSignal,
): Promise<DrainResult> {
  const end = deps.clock.now() + MAILBOX_TURN_MS
  const ahead: UncomposedEnvelopes = { envelopes: [], isAll: false, at: Number.NEGATIVE_INFINITY }
  let { sequence } = mailbox
  let next = await prepareNextEnvelope(deps, mailbox, sequence, ahead)
  while (next !== null) {
    // A commit has ended the claim of the mailbox. Then the mailbox is claimed again, and rests.
    if (next === 'nowhere') return sequence === mailbox.sequence ? 'nowhere' : 'more'
    const attemptNow = await commitEnvelope(deps, mailbox, claim, sequence, next)
    if (attemptNow === 'lost') return 'lost'
    if (attemptNow === 'left') return 'done'
    sequence += 1
    const goesOn = !signal.aborted && deps.clock.now() < end
    // The next envelope is composed while the committed envelope is being sent.
    const following = goesOn && !next.isLast ? prepareNextEnvelope(deps, mailbox, sequence, ahead) : null
    following?.catch(() => undefined)
    if (!(await attemptNow())) {
      releaseEnvelopeBytes(await following?.catch(() => null))
      return 'done'
    }
    if (following === null) return next.isLast ? 'done' : 'more'
    next = await following
    if (isEnvelopeStale(next, deps.clock.now())) {
      releaseEnvelopeBytes(next)
      ahead.at = Number.NEGATIVE_INFINITY
      next = await prepareNextEnvelope(deps, mailbox, sequence, ahead)
    }
  }
  return sequence === mailbox.sequence ? 'nothing' : 'done'
}

/** The planned envelopes of a mailbox that are not composed yet. `isAll`: they take all notifications that were due. */
interface UncomposedEnvelopes {
  envelopes: (readonly PlannedItem[])[]
  isAll: boolean
  /** The time at which the due notifications of these envelopes were read. */
  at: number
}

/** An envelope that is ready to be committed. */
interface EnvelopeToCommit extends Recipient {
  readonly composed: ComposedNotification
  readonly auditEntry: EntryWithPersons
  readonly id: string
  readonly header: object
  readonly message: CanonicalText
  readonly body: StoredEnvelope
  /** The time at which the notifications of this envelope were read from the database. */
  readonly at: number
  /** True when this envelope takes the last of the notifications that were due when they were read. */
  readonly isLast: boolean
  /** Gives the bytes of this envelope back to `envelopeBytes`. */
  readonly leave: () => void
}

type NextEnvelope = EnvelopeToCommit | 'nowhere' | null

const isEnvelopeStale = (next: NextEnvelope, now: number): boolean =>
  next !== null && next !== 'nowhere' && now - next.at > ENVELOPE_STALE_AFTER_MS

function releaseEnvelopeBytes(next: NextEnvelope | undefined): void {
  if (next && next !== 'nowhere') next.leave()
}

/**
 * Composes the next envelope; null: nothing that may be sent is due, or the events were deleted; `nowhere`: nothing may be sent
 * now, or there is no address.
 * @param ahead the planned envelopes; when none is left or they are too old, envelopes are planned anew
 */
async function prepareNextEnvelope(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  sequence: number,
  ahead: UncomposedEnvelopes,
): Promise<NextEnvelope> {
  const now = deps.clock.now()
  const recipient = await findRecipient(deps, mailbox)
  if (recipient === null || (await isRecordQuotaUsedUp(deps, recipient))) return 'nowhere'
  if (ahead.envelopes.length === 0 || now - ahead.at > ENVELOPE_STALE_AFTER_MS / 2) {
    const next = await takeNextEnvelopes(deps.db, mailbox.id, recipient)
    ahead.envelopes = [...next.envelopes]
    ahead.isAll = next.isAll
    ahead.at = now
  }
  const { at } = ahead
  const planned = ahead.envelopes.shift()
  const { grant } = recipient
  if (planned === undefined || grant === null) return null
  const isLast = ahead.isAll && ahead.envelopes.length === 0
  const bytes = planned.reduce((sum, { notifications: [first] }) => sum + first.bytes, 0)
  const { begun, end: leave } = deps.envelopeBytes.take('all', bytes)
  await begun
  try {
    const items = await addEventDocuments(deps, planned)
    if (items.length === 0) {
      // The events and their notifications were deleted since the notifications were read.
      leave()
      return null
    }
    const envelope = { ...recipient, grant, mailbox: mailbox.public_id, sequence: sequence + 1 }
    const composed = composeEnvelope(envelope, items, deps.clock)
    const id = randomUUID()
    const { header, message, body, digest } = await encryptForStorage(deps, id, composed.header, composed.message)
    const reply = makeAuditedMessage(composed.header.message_id, digest, null)
    const auditEntry = auditEntryOfEnvelope({ ...recipient, grant }, composed.message, items.length, composed.named, reply)
    return { ...recipient, composed, auditEntry, id, header, message, body, at, isLast, leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** True when the daily quota of records is used up: the notifications then wait for the next day. */
const isRecordQuotaUsedUp = async ({ grantQuota }: NotifyDeps, { grant, ...of }: Recipient): Promise<boolean> =>
  grant !== null && grantQuota.isUsedUp('records', { ...of, grant })

async function addEventDocuments(
  { db: { pool } }: NotifyDeps,
  planned: readonly PlannedItem[],
): Promise<readonly ItemWithDocument[]> {
  const shown = await Promise.all(planned.map(({ event }) => findEventDocument(pool, event)))
  return planned.flatMap((item, at) => {
    const document = shown[at]
    return document === undefined ? [] : [{ ...item, shown: document }]
  })
}

/** Finds the receiver of a mailbox; null: nothing may be sent to it, or it has no allowed address. */
async function findRecipient({ directory, grants, callbacks }: NotifyDeps, mailbox: ClaimedMailbox): Promise<Recipient | null> {
  const participant = await directory.participantById(mailbox.participant)
  const registry = await directory.registryById(mailbox.registry)
  if (participant?.status !== 'active' || registry === undefined) return null
  const grant = await grants.of(participant, registry)
  const settings = await callbacks.of(participant)
  try {
    const target = callbackTarget(settings, mailbox.sender_uri, NOTIFY_CALLBACK)
    return target === null ? null : { participant, registry, grant, settings, target }
  } catch (error) {
    if (error instanceof RequestFault) return null
    throw error
  }
}

/**
 * Commits an envelope.
 * @returns a function that makes the first attempt, and returns whether the delivery has ended; `lost`: the envelope was not
 * committed; `left`: the envelope was committed, and the dispatcher attempts its delivery
 */
async function commitEnvelope(
  deps: NotifyDeps,
  mailbox: ClaimedMailbox,
  claim: DeliveryClaim,
  after: number,
  { participant, registry, grant, settings, target, composed, auditEntry, id, header, message, body, leave }: EnvelopeToCommit,
): Promise<(() => Promise<boolean>) | 'lost' | 'left'> {
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
    made: grant === null ? null : disclosingGrantOf(grant),
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
    return 'left'
  }
  const { permit, claim: attemptClaim } = reserved
  let inline = true
  // While the caller waits, the result of the attempt says that the delivery has ended. An announcement would only
  // have the mailbox polled once more.
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
const RESERVE_PAUSE_MS = 10
const MOST_RESERVE_TRIES = 25

/** Tries several times to reserve an attempt, because the dispatcher costs far more. Null: none could be reserved. */
async function reserveAttemptWithRetries(deps: NotifyDeps, destination: Destination): Promise<ReservedAttempt | null> {
  for (let tries = 1; ; tries += 1) {
    const reserved = await reserveAttempt(deps, destination)
    if (reserved !== null || tries === MOST_RESERVE_TRIES) return reserved
    await sleep(RESERVE_PAUSE_MS)
  }
}
