/**
 * The life of a callback that another system sends to us, because we may be a requester too (spec "Endpoints"). Its checks are
 * those of `receive.ts` that concern callbacks, in the same order. Then it is stored and acknowledged (docs/inbox.md).
 */

import { randomUUID } from 'node:crypto'
import type { Limits } from '@rollcall/core/limits'
import type { Message } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { BodyEncryption } from '@rollcall/keys/bodies'
import { type DayLimitDeps, storeWithinDailyLimit } from '@rollcall/participants/admission/day-limits'
import { decodeBody, type IncomingRequest, readJsonBody } from '@rollcall/participants/reading/body'
import {
  checkBodyBeginning,
  envelopeBounds,
  readCallbackEnvelope,
  readCallbackMessage,
} from '@rollcall/participants/reading/envelope'
import { type OpenDeps, openMessage, type VerifyDeps, verifyEnvelope } from '@rollcall/participants/trust/messages'
import {
  ACCEPTED_TYPES,
  assumedUtc,
  type Callback,
  CorrelationId,
  canonicalJson,
  HeaderRejection,
  type IncomingHeader,
  isResultEncrypted,
  type JsonObject,
  OPERATIONS,
  validator,
} from '@rollcall/protocol'
import { type AdmitDeps, admitRequest, requireActiveParticipant } from '../exchange/admit.ts'
import { batchLength, checkItemCount, checkReceiver, checkSender, checkVersionAndAction } from '../exchange/checks.ts'
import { duplicateMessageIdRejection, exchangeFingerprint } from '../exchange/remember.ts'
import { acknowledgement, type Reply, refusalAck } from '../exchange/reply.ts'
import { type Inbox, inboxBodyBinding, type NewInboxMessage } from '../store/exchanges/inbox.ts'

/** The dependencies of `receiveCallback`. */
export type ReceiveCallbackDeps = { readonly limits: Limits } & AdmitDeps & OpenDeps & VerifyDeps & PersistCallbackDeps

/** Stores a callback, and then acknowledges it. @throws RequestFault it is refused: an ack ERR with an HTTP status */
export async function receiveCallback(
  deps: ReceiveCallbackDeps,
  callback: Callback,
  registry: Registry,
  request: IncomingRequest,
): Promise<Reply> {
  const { limits } = deps
  // 1. Checks token, quotas and environment before a byte of the body is read.
  const { participant, admission } = await admitRequest(deps, registry, request)
  try {
    // 2. Reads the body: size, JSON, and the form of header and message.
    const bounds = envelopeBounds(limits, callback.message)
    const check = (bytes: Buffer): void => checkBodyBeginning(bytes, bounds)
    const text = decodeBody(await readJsonBody({ ...request, ...admission }, limits.body_bytes, ACCEPTED_TYPES.callback, check))
    const envelope = readCallbackEnvelope(callback, participant.sender_id, text, bounds)
    const { header } = envelope
    request.onHeaderRead?.(header)

    // 3. Sender: the caller is the sender, with the valid signature that its policy demands, which may be days old (N16).
    checkSender(header, participant)
    await verifyEnvelope(deps, participant, envelope.source, { callback: true })

    // 4. Address: the header names our version, this registry and this callback.
    checkReceiver(header, registry)
    checkVersionAndAction(header, callback)

    // 5. Decrypts the message. A callback that rejects a request may have no message.
    const open = (message: JsonObject): Promise<JsonObject> => {
      const encrypted = isResultEncrypted(header, message)
      return openMessage(deps, { participant, header, encrypted }, callback, message, { answered: false })
    }
    const opened = envelope.message === undefined ? null : await open(envelope.message)
    // A large body takes long to arrive, so it is checked again that the participant is active.
    await requireActiveParticipant(deps, participant)

    // 6. Checks that the message has the form of this callback's message.
    const read = opened === null ? null : readCallbackMessage(callback.message, registry.kind, opened)
    const message = read?.message ?? null
    if (message !== null) {
      checkItemCount(header, callback.message, batchLength(callback.message, message), limits.batch_items)
    }
    const noted = assumedUtc(envelope.assumed_utc, read?.assumed_utc ?? [])

    // 7. The callback is stored once, and acknowledged each time that it arrives.
    const { path } = request
    const received = { callback, registry, participant, header, message, noted, path }
    return acknowledgement(await persistCallback(deps, received))
  } catch (error) {
    admission.leave({ refused: true })
    throw error instanceof HeaderRejection ? refusalAck(error) : error
  } finally {
    admission.leave()
  }
}

/** The dependencies of `persistCallback`. */
export type PersistCallbackDeps = DayLimitDeps & { readonly inbox: Inbox; readonly bodies: Pick<BodyEncryption, 'encryptBody'> }

/** A callback from another system, checked and decrypted, to be stored in the inbox. */
export interface CheckedCallback {
  readonly callback: Callback
  readonly registry: Registry
  readonly participant: Participant
  readonly header: IncomingHeader & { readonly status?: unknown }
  /** The message; null when the callback is a rejection without a message. */
  readonly message: Message | null
  /** The JSON paths of timestamps without a time zone, which were taken as UTC. They are stored with header and message. */
  readonly noted: ReturnType<typeof assumedUtc>
  /** The path of the call. An equal message at another path counts as a different message. */
  readonly path: string
}

/**
 * Stores a callback. Returns the correlation_id for its ack: that of the callback. If the callback has no valid correlation_id,
 * the ack has a random one, which is stored with the callback: the ack of a repeated callback has the same.
 * @throws HeaderRejection rjct.message_id.duplicate
 * @throws RequestFault 429 err.request.too_many_requests
 */
export async function persistCallback(deps: PersistCallbackDeps, received: CheckedCallback): Promise<string> {
  const { callback, registry, participant, header, message, noted, path } = received
  const { namespace } = registry
  const given = textOrNull(message?.correlation_id)
  const key = {
    participant: participant.id,
    message_id: header.message_id,
    fingerprint: exchangeFingerprint({ header, message, namespace, path }),
  }
  const make = async (): Promise<NewInboxMessage> => ({
    ...key,
    callback: callback.name,
    registry: registry.id,
    // The schema of a notification has no correlation_id, so the `given` one of a notification was not checked yet.
    correlation_id: given !== null && canBeCorrelationId(registry, given) ? given : randomUUID(),
    transaction_id: message?.transaction_id ?? null,
    status: textOrNull(header.status),
    state: ANSWER_CALLBACKS.has(callback) ? 'quarantined' : 'stored',
    body: await deps.bodies.encryptBody(canonicalJson({ header, message, ...noted }), inboxBodyBinding(key)),
  })
  const persisted = await storeWithinDailyLimit(deps, 'inbox', participant.id, {
    persist: async () => deps.inbox.persist(await make()),
    known: () => deps.inbox.known(key),
  })
  if (persisted.known === 'different') throw duplicateMessageIdRejection()
  return persisted.correlation_id
}

const correlationIdValidator = validator(CorrelationId)

const canBeCorrelationId = ({ kind: { relaxed } }: Registry, text: string): boolean =>
  relaxed?.unpatterned.includes('correlation_id') ? text !== '' && text.length <= 99 : correlationIdValidator.accepts(text)

/** The callbacks that answer a request. They are quarantined, because this server sends no requests. */
const ANSWER_CALLBACKS: ReadonlySet<Callback | null> = new Set(OPERATIONS.map(({ callback }) => callback))

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
