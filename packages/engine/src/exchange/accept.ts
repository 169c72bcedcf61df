/** Accepts a request that is answered later: commits it to the queue, and then acknowledges it. */
import { randomUUID } from 'node:crypto'
import {
  auditEntryOfAccepted,
  auditEntryOfUnsentMessage,
  type EntryWithPersons,
  makeAuditedMessage,
} from '@rollcall/audit/audit-entry-of'
import type { AuditLogWithRowWrites } from '@rollcall/audit/audit-log'
import type { Limits } from '@rollcall/core/limits'
import { type Exchange, requestBodyBinding } from '@rollcall/core/model/exchange'
import { withTraceparent } from '@rollcall/core/model/traceparent'
import { readSenderUri, type SenderUriDeps } from '@rollcall/delivery/delivery/targets'
import type { BodyEncryption } from '@rollcall/keys/bodies'
import { type DayLimitDeps, storeWithinDailyLimit } from '@rollcall/participants/admission/day-limits'
import { canonicalJson } from '@rollcall/protocol'
import {
  type AcceptedRequestMembers,
  isSmallRequest,
  type KnownOrNewExchange,
  type NewAcceptedExchange,
  type NewChunk,
  type NewExchange,
  REQUEST_JOINT_WRITE,
} from '../store/exchanges/exchanges.ts'
import type { AcceptanceSlots, ReservedWorkerSlot } from './acceptance-slots.ts'
import { checkHeader } from './checks.ts'
import type { CheckedRequest, ItemChunk, VerifiedRequest } from './read-request.ts'
import { duplicateMessageIdRejection, makeExchangeRow, type RememberDeps } from './remember.ts'
import { acknowledgement, type Reply } from './reply.ts'
import { commitAfterAuditEntry } from './unsent-entry.ts'

export type AcceptDeps = SenderUriDeps &
  DayLimitDeps &
  RememberDeps & {
    readonly auditLog: AuditLogWithRowWrites
    readonly bodies: Pick<BodyEncryption, 'encryptBody'>
    /** Wakes the loop of this node that claims accepted exchanges. */
    readonly exchangeAccepted: () => void
    readonly acceptanceSlots: Pick<AcceptanceSlots, 'keep'>
    readonly limits: Pick<Limits, 'message_ts_window'>
  }

/**
 * Accepts a request, and returns its ack (spec "Responses" 2, N11). A message that was accepted before gets an ack
 * with the same correlation_id. A message that is refused by one of these errors is not stored.
 * @throws RequestFault err.sender_uri.invalid: the answer may not be sent to this address
 * @throws HeaderRejection the header is rejected, or rjct.message_id.duplicate
 * @throws RequestFault 429 err.request.too_many_requests: the daily limit of the participant is reached
 * @throws RequestFault, HeaderRejection as `RequestWithEnvelope.readAndCheckMessage` does
 */
export async function acceptRequest(
  deps: AcceptDeps,
  { exchange, received, opened, signed, path }: VerifiedRequest,
): Promise<Reply> {
  checkHeader(exchange, deps.limits.message_ts_window)
  const checked = await received.readAndCheckMessage(exchange, opened, signed !== null)
  const { header, operation, participant } = exchange
  // The address is checked now, so that the sender learns of a problem. An attempt checks the address again if the settings may
  // have changed since. The address is stored in its normal spelling.
  const sender_uri = await readSenderUri(deps, participant, header.sender_uri ?? null, operation.callback)
  const request = { exchange, signed, checked, sender_uri, row: makeExchangeRow(exchange, checked.content, path) }
  const stored = await storeWithinDailyLimit<StoreRequestResult>(deps, 'accepted', participant.id, {
    persist: () => storeRequest(deps, request),
    known: () => deps.exchanges.known(request.row),
  })
  if (stored.known === 'different') throw duplicateMessageIdRejection()
  if (stored.ack !== undefined) return stored.ack
  // The same message was accepted before. This ack has the correlation_id of the first ack.
  const { ack, auditEntry } = makeAckAndAuditEntry(request, stored.correlation_id)
  await deps.auditLog.write(...auditEntry)
  return ack
}

/** A request whose message and address are checked. */
interface RequestToStore extends Pick<VerifiedRequest, 'exchange' | 'signed'> {
  readonly checked: CheckedRequest
  readonly sender_uri: string | null
  readonly row: NewExchange
}

/** A stored request. `ack` is set when this call has stored the request. */
type StoreRequestResult = KnownOrNewExchange & { readonly ack?: Reply }

/** Stores a request with the audit entry of its ack, unless a request with this message_id is stored already. */
async function storeRequest(deps: AcceptDeps, request: RequestToStore): Promise<StoreRequestResult> {
  const { exchange, checked, sender_uri, row } = request
  const { chunks, reference_ids } = checked
  const chunkRows = await makeChunkRows(deps, exchange, chunks)
  const accepted: AcceptedRequestMembers = { sender_uri, encrypted: exchange.encrypted, reference_ids, chunks: chunkRows }
  const rowToStore = { ...row, accepted }
  const { ack, auditEntry } = makeAckAndAuditEntry(request, row.correlation_id)
  if (isSmallRequest(rowToStore)) {
    const slot = reserveAcceptanceSlot(deps, exchange, chunks[0].message.transaction_id, accepted)
    const isStored = await storeRequestWithAuditEntry(deps, rowToStore, auditEntry, slot)
    if (isStored) return { known: 'new', correlation_id: row.correlation_id, ack }
  }
  // The message_id is stored already, or the request is large. In one statement with small requests, it would delay these.
  const stored = (await deps.exchanges.known(row)) ?? (await storeRequestAfterAuditEntry(deps, rowToStore, auditEntry))
  return stored.known === 'new' ? { ...stored, ack } : stored
}

/** Makes an ack and its audit entry. The entry has the digest of the ack, so both are made before the request is stored. */
function makeAckAndAuditEntry({ exchange, signed, checked: { chunks, digest } }: RequestToStore, correlation_id: string) {
  const ack = acknowledgement(correlation_id)
  const messages = { request: makeAuditedMessage(exchange.header.message_id, digest, signed), reply: ack.audited }
  const { transaction_id } = chunks[0].message
  return { ack, auditEntry: auditEntryOfAccepted({ ...exchange, correlation_id }, transaction_id, messages) }
}

/** Reserves a slot of this node for a request; null: the request is divided into chunks, or `AcceptanceSlots.keep` gives none. */
function reserveAcceptanceSlot(
  { acceptanceSlots }: Pick<AcceptDeps, 'acceptanceSlots'>,
  { correlation_id, participant, registry, operation, received_at }: Exchange,
  transaction_id: string,
  { sender_uri, encrypted, chunks: [chunk, ...others] }: AcceptedRequestMembers,
): ReservedWorkerSlot | null {
  if (chunk === undefined || others.length > 0) return null
  return acceptanceSlots.keep({
    ...chunk,
    correlation_id,
    participant: participant.id,
    registry: registry.id,
    operation: operation.name,
    transaction_id,
    sender_uri,
    encrypted,
    references_stored: true,
    parent: null,
    open_chunks: null,
    first_item: 0,
    state: 'accepted',
    page: 0,
    received_at,
    // In the row, both times are those of the statement that stores it, a moment later. The answer reads only `received_at`.
    started_at: received_at,
  })
}

/**
 * Stores a request and its audit entry in one statement. If both are committed, the answer begins in the reserved slot, or any
 * node claims the request.
 * @returns false when nothing was committed, because a request with this message_id is stored already
 */
async function storeRequestWithAuditEntry(
  { auditLog, exchangeAccepted }: Pick<AcceptDeps, 'auditLog' | 'exchangeAccepted'>,
  row: NewAcceptedExchange,
  auditEntry: EntryWithPersons,
  slot: ReservedWorkerSlot | null,
): Promise<boolean> {
  const claimed = { ...row, accepted: { ...row.accepted, claim: slot?.claim ?? null } }
  let isCommitted = false
  try {
    isCommitted = await auditLog.writeWith(REQUEST_JOINT_WRITE, claimed, ...auditEntry)
  } finally {
    if (!isCommitted) slot?.free()
    // The answer begins now, so its callback may reach the sender before the acknowledgement.
    else if (slot !== null) slot.begin()
    else exchangeAccepted()
  }
  return isCommitted
}

/**
 * Stores a request in a statement of its own. Its audit entry is written before, because any node may answer the request as soon
 * as it is stored. If the entry cannot be written, the request is not stored. If the request cannot be stored
 * (`commitAfterAuditEntry`), or its message_id was stored meanwhile, another entry says that the acknowledgement was not sent.
 */
async function storeRequestAfterAuditEntry(
  { auditLog, exchanges, exchangeAccepted }: Pick<AcceptDeps, 'auditLog' | 'exchanges' | 'exchangeAccepted'>,
  asked: NewAcceptedExchange,
  auditEntry: EntryWithPersons,
): Promise<KnownOrNewExchange> {
  await auditLog.write(...auditEntry)
  const stored = await commitAfterAuditEntry(auditLog, auditEntry, () => exchanges.remember(asked))
  if (stored.known === 'new') exchangeAccepted()
  else await auditLog.write(...auditEntryOfUnsentMessage(auditEntry))
  return stored
}

/** Makes the row of each chunk of a request. A chunk is answered alone, and its encryption is bound to its own row. */
async function makeChunkRows(
  { bodies }: Pick<AcceptDeps, 'bodies'>,
  { correlation_id, header, traceparent }: Exchange,
  chunks: readonly ItemChunk[],
): Promise<readonly NewChunk[]> {
  const made: NewChunk[] = []
  for (const { message, items } of chunks) {
    const id = chunks.length === 1 ? correlation_id : randomUUID()
    const text = canonicalJson({ header, message })
    const request = await bodies.encryptBody(withTraceparent(text, traceparent), requestBodyBinding(id))
    made.push({ id, items, request, request_bytes: Buffer.byteLength(text) })
  }
  return made
}
