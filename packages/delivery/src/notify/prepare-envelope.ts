/**
 * Prepares the next envelope of a mailbox: finds its receiver, plans envelopes when none is planned, reads the documents of the
 * events, composes, encrypts for the database, and makes the audit entry. Planning drops notifications that may not be sent any
 * more, and suspends subscriptions.
 */
import { randomUUID } from 'node:crypto'
import { auditEntryOfNotification, type EntryWithPersons, makeAuditedMessage } from '@rollcall/audit/audit-entry-of'
import type { Semaphore } from '@rollcall/base/shared/semaphore'
import type { StoredEnvelope } from '@rollcall/core/model/delivery'
import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { GrantQuota } from '@rollcall/participants/admission/grant-quota'
import { findGrant } from '@rollcall/participants/store/grants'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import type { CanonicalText } from '@rollcall/protocol'
import { RequestFault } from '@rollcall/protocol'
import type { DeliverDeps } from '../delivery/deliver.ts'
import { encryptForStorage } from '../delivery/stored-envelope.ts'
import { callbackNamed, findCallbackTarget } from '../delivery/targets.ts'
import type { ClaimedMailbox } from '../store/events/mailboxes.ts'
import { findEventDocument } from '../store/events/waiting.ts'
import { type ComposedEnvelope, composeEnvelope, type ItemWithDocument } from './compose.ts'
import type { PlannedItem } from './group-items.ts'
import { type PlannedEnvelope, planNextEnvelopes } from './plan-envelopes.ts'

/** The dependencies of `prepareNextEnvelope`. */
export interface PrepareDeps extends DeliverDeps {
  readonly db: Database
  readonly grantQuota: GrantQuota
  /**
   * Limits the bytes of all envelopes that this node composes, commits or attempts for the first time. After
   * `FIRST_ATTEMPT_WAIT_MS` milliseconds of its attempt an envelope no longer counts.
   */
  readonly envelopeBytes: Semaphore
}

/** The callback that takes envelopes of notifications. */
export const NOTIFY_CALLBACK = callbackNamed('notify')
/**
 * The most milliseconds from the reading of notifications to the commit of an envelope that was composed during the attempt of
 * another one. After them it is composed again: records, grant or subscriptions may have changed.
 */
const ENVELOPE_STALE_AFTER_MS = 1_000
/**
 * Milliseconds after which notifications are read and planned again before the next envelope is composed. The rest of
 * `ENVELOPE_STALE_AFTER_MS` is left for the attempt at the envelope before it, which is still being sent.
 */
const MOST_PLAN_AGE_MS = ENVELOPE_STALE_AFTER_MS / 2

/** The participant that receives a mailbox's envelopes, with the registry, grant, settings and address that apply now. */
interface EnvelopeReceiver {
  readonly participant: Participant
  readonly registry: Registry
  /** The grant in force; null when the participant has none: waiting notifications are then dropped. */
  readonly grant: Grant | null
  readonly settings: CallbackSettings
  readonly target: string
}

/** The planned envelopes of a mailbox that are not composed yet, and the time at which their notifications were read. */
export interface EnvelopePlan {
  envelopes: PlannedEnvelope[]
  at: number
}

/** A composed envelope, encrypted for the database. `commitEnvelope` stores it as a delivery, with its audit entry. */
export interface EnvelopeToCommit extends EnvelopeReceiver {
  readonly composed: ComposedEnvelope
  readonly auditEntry: EntryWithPersons
  readonly id: string
  readonly header: object
  readonly message: CanonicalText
  readonly body: StoredEnvelope
  readonly isFollowed: PlannedEnvelope['isFollowed']
  /** Ends the use of `envelopeBytes` by this envelope, so that other envelopes can be composed. */
  readonly leave: () => void
}

/**
 * The next envelope. Null: nothing that may be sent is due, or the events were deleted. `not now`: the participant is disabled,
 * has no allowed address, has a grant that this node cannot read, or has used up its daily quota of records; or the registry was
 * removed.
 */
type NextEnvelope = EnvelopeToCommit | 'not now' | null

/**
 * Finds the receiver, plans and composes the next envelope.
 * @param plan of which this takes the first envelope; when none is left or they are too old, it plans anew
 */
export async function prepareNextEnvelope(
  deps: PrepareDeps,
  mailbox: ClaimedMailbox,
  sequence: number,
  plan: EnvelopePlan,
): Promise<NextEnvelope> {
  const now = deps.clock.now()
  const receiver = await findReceiver(deps, mailbox)
  if (receiver === null || (await isRecordQuotaUsedUp(deps, receiver))) return 'not now'
  // Without a grant, envelopes are planned too: the planning drops the notifications that are due.
  if (plan.envelopes.length === 0 || now - plan.at > MOST_PLAN_AGE_MS) {
    plan.envelopes = await planNextEnvelopes(deps.db, mailbox.id, receiver)
    plan.at = now
  }
  const planned = plan.envelopes.shift()
  const { grant } = receiver
  if (planned === undefined || grant === null) return null
  const { isFollowed } = planned
  const bytes = planned.items.reduce((sum, { notifications: [first] }) => sum + first.bytes, 0)
  const { begun, end: leave } = deps.envelopeBytes.take('all', bytes)
  await begun
  try {
    const items = await addEventDocuments(deps, planned.items)
    if (items.length === 0) {
      // The events and their notifications were deleted since the notifications were read. So no envelope is returned.
      leave()
      return null
    }
    const envelope = { ...receiver, grant, mailbox: mailbox.public_id, sequence: sequence + 1 }
    const composed = composeEnvelope(envelope, items, deps.clock)
    const id = randomUUID()
    const { header, message, body, digest } = await encryptForStorage(deps, id, composed.header, composed.message)
    const reply = makeAuditedMessage(composed.header.message_id, digest, null)
    const auditEntry = auditEntryOfNotification({ ...receiver, grant }, composed.message, items.length, composed.named, reply)
    return { ...receiver, composed, auditEntry, id, header, message, body, isFollowed, leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** Finds the receiver of a mailbox; null: nothing may be sent to it now, or it has no allowed address. */
async function findReceiver(
  { db, directory, grants, callbacks }: PrepareDeps,
  mailbox: ClaimedMailbox,
): Promise<EnvelopeReceiver | null> {
  const participant = await directory.participantById(mailbox.participant)
  const registry = await directory.registryById(mailbox.registry)
  if (participant?.status !== 'active' || registry === undefined) return null
  const grant = await grants.of(participant, registry)
  // A stored grant that this version cannot read, or this node has not seen yet, is no reason to drop notifications.
  if (grant === null && (await findGrant(db, participant.id, registry.id)) !== null) return null
  const settings = await callbacks.of(participant)
  try {
    const target = findCallbackTarget(settings, mailbox.sender_uri, NOTIFY_CALLBACK)
    return target === null ? null : { participant, registry, grant, settings, target }
  } catch (error) {
    if (error instanceof RequestFault) return null
    throw error
  }
}

/** True when the daily quota of records is used up: the notifications then wait for the next day. */
const isRecordQuotaUsedUp = async ({ grantQuota }: PrepareDeps, { grant, ...of }: EnvelopeReceiver): Promise<boolean> =>
  grant !== null && grantQuota.isUsedUp('records', { ...of, grant })

async function addEventDocuments(
  { db: { pool } }: PrepareDeps,
  planned: readonly PlannedItem[],
): Promise<readonly ItemWithDocument[]> {
  const shown = await Promise.all(planned.map(({ event }) => findEventDocument(pool, event)))
  return planned.flatMap((item, at) => {
    const document = shown[at]
    return document === undefined ? [] : [{ ...item, shown: document }]
  })
}

/** True when an envelope that was composed during the attempt of another one is too old to be committed. */
export const isEnvelopeStale = (next: NextEnvelope, { at }: EnvelopePlan, now: number): boolean =>
  next !== null && next !== 'not now' && now - at > ENVELOPE_STALE_AFTER_MS

/** Ends the use of `envelopeBytes` by an envelope that is not sent. Does nothing when there is no envelope. */
export function releaseEnvelopeBytes(next: NextEnvelope | undefined): void {
  if (next && next !== 'not now') next.leave()
}
