/** Commits a page of the answer to an accepted exchange, with its delivery, which is attempted at once if possible. */

import { randomUUID } from 'node:crypto'
import { auditEntryOfAnswer, auditEntryOfUnsentMessage, makeAuditedMessage } from '@rollcall/audit/audit-entry-of'
import type { AuditLogWithRowWrites } from '@rollcall/audit/audit-log'
import { type NewDelivery, targetOrigin } from '@rollcall/core/model/delivery'
import type { Exchange } from '@rollcall/core/model/exchange'
import { disclosingGrantOf } from '@rollcall/core/model/grant'
import { isLimitedToOnePerson } from '@rollcall/core/policy/basis'
import type { Database } from '@rollcall/database/database'
import { type DeliverDeps, deliverNow, reserveAttempt } from '@rollcall/delivery/delivery/deliver'
import { encryptForStorage } from '@rollcall/delivery/delivery/stored-envelope'
import { findCallbackTarget } from '@rollcall/delivery/delivery/targets'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { type Callback, RequestFault } from '@rollcall/protocol'
import type { Outcome } from '../operations/outcome.ts'
import type { ClaimedExchange } from '../store/exchanges/claims.ts'
import { commitPage, isSmallPage, PAGE_JOINT_WRITE, type PageToCommit } from '../store/exchanges/replies.ts'
import { makeReplyHeader } from './reply.ts'
import { commitAfterAuditEntry } from './unsent-entry.ts'

/** The dependencies of `sendReply`. */
export type SendReplyDeps = DeliverDeps & { readonly db: Database; readonly auditLog: AuditLogWithRowWrites }

/**
 * A claimed exchange with the operation, registry and participant themselves in place of their name and ids. An answer can be
 * made from it even if the request cannot be read any more.
 */
export type ExchangeToAnswer = Omit<ClaimedExchange, 'operation' | 'registry' | 'participant'> &
  Pick<Exchange, 'operation' | 'registry' | 'participant'>

/** A page of an answer, to be sent by `sendReply`. */
export type ReplyPage = Pick<PageToCommit, 'page' | 'state' | 'items' | 'goesOn'> & {
  readonly outcome: Outcome
  /** The grant, header and traceparent of the answered request; null: the page says that the registry failed. */
  readonly request: Pick<Exchange, 'grant' | 'header' | 'traceparent'> | null
}

/**
 * Commits a page, and attempts its delivery or leaves it to the dispatcher. Without an address the delivery is held.
 * @returns false when the claim of the exchange has ended; then nothing is sent
 */
export async function sendReply(
  deps: SendReplyDeps,
  exchange: ExchangeToAnswer,
  { outcome, request, ...page }: ReplyPage,
): Promise<boolean> {
  const { participant } = exchange
  const { callback } = exchange.operation
  if (callback === null) throw new Error(`operation ${exchange.operation.name} has no callback`)
  const header = makeReplyHeader(exchange, callback.action, outcome)
  const id = randomUUID()
  const traceparent = request?.traceparent ?? null
  const { transaction_id, correlation_id } = exchange
  const members = { transaction_id, correlation_id, ...outcome.members }
  const { message, body, digest } = await encryptForStorage(deps, id, header, members, traceparent)
  const { target, allowedBy } = deliveryTargetOf(await deps.callbacks.of(participant), exchange.sender_uri, callback)
  const delivery: NewDelivery = {
    id,
    participant: participant.id,
    registry: exchange.registry.id,
    correlation_id,
    callback: callback.name,
    page: page.page,
    message_id: header.message_id,
    target,
    encrypted: exchange.encrypted || outcome.encrypted === true,
    body,
    disclosedUnder: request === null ? null : disclosingGrantOf(request.grant),
  }
  // The audit entry is committed with the delivery, or before it. Every attempt sends the message that is in the entry.
  const auditedExchange = { ...exchange, grant: request?.grant ?? null, header: request?.header ?? null }
  const messages = { request: null, reply: makeAuditedMessage(header.message_id, digest, null) }
  const auditEntry = auditEntryOfAnswer('callback', auditedExchange, exchange.transaction_id, outcome, messages)
  const origin = targetOrigin(delivery.target)
  // The claim of the first attempt is committed with the delivery, so that no other node attempts it.
  const reserved = origin === '' ? null : await reserveAttempt(deps, { participant: participant.id, origin })
  const step: PageToCommit = {
    ...page,
    id: exchange.id,
    claim: exchange.claim,
    from: page.page - 1,
    delivery,
    deliveryClaim: reserved?.claim ?? null,
    ...(outcome.effects && { effects: outcome.effects }),
  }
  let committed = false
  try {
    committed = isSmallPage(step, exchange) && (await deps.auditLog.writeWith(PAGE_JOINT_WRITE, step, ...auditEntry))
    // The page is not committed together with its audit entry, for one of these reasons: it is not small; another transaction has
    // locked its exchange (`commitPage` waits for the lock); or the claim has ended (`commitPage` returns false).
    if (!committed) {
      await deps.auditLog.write(...auditEntry)
      committed = await commitAfterAuditEntry(deps.auditLog, auditEntry, () => commitPage(deps.db, step))
      if (!committed) await deps.auditLog.write(...auditEntryOfUnsentMessage(auditEntry))
    }
  } finally {
    if (!committed) reserved?.permit.release('unused')
  }
  if (!committed) return false
  // A grant that is limited to one person answers under a consent. The consent may have been withdrawn before the commit, so the
  // attempt checks it again.
  const checksPermission = request !== null && isLimitedToOnePerson(request.grant)
  const fresh = { delivery, header, message, traceparent, checksPermission, allowedBy, sender_uri: exchange.sender_uri }
  if (reserved !== null) await deliverNow(deps, { ...fresh, ...reserved })
  else if (origin !== '') deps.deliveryDue(participant.id, 0)
  return true
}

/**
 * Finds the address of a delivery; null when there is none. An address that is no longer allowed is returned without
 * `allowedBy`: then the attempt checks the address, and ends the delivery as `address_not_registered`.
 */
function deliveryTargetOf(
  settings: CallbackSettings,
  sender_uri: string | null,
  callback: Callback,
): { readonly target: string | null; readonly allowedBy?: CallbackSettings } {
  try {
    return { target: findCallbackTarget(settings, sender_uri, callback), allowedBy: settings }
  } catch (error) {
    if (error instanceof RequestFault) return { target: sender_uri }
    throw error
  }
}
