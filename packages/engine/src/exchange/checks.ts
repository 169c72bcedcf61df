/** The checks of a request after its envelope is read and before its items. docs/message-flow.md shows their order. */

import { canBeConfidentialDetail, MOST_DETAIL_CHARACTERS } from '@rollcall/audit/audit-entry-of'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import {
  actionMeans,
  type Callback,
  HeaderRejection,
  type IncomingHeader,
  isJsonObject,
  isKnownAction,
  isSpokenVersion,
  isWithinWindow,
  type Message as MessageRow,
  type Operation,
  RequestFault,
} from '@rollcall/protocol'

/**
 * Checks that the sender in the header owns the token. The answer is the same whether the named sender exists or not.
 * @throws RequestFault 403 err.sender_id.invalid
 */
export function checkSender(header: IncomingHeader, participant: Participant): void {
  if (header.sender_id === participant.sender_id) return
  throw new RequestFault(
    'err.sender_id.invalid',
    'header.sender_id: must be the participant that the access token was issued to',
    403,
  )
}

/**
 * Checks that the message is for this registry. If it has another version, `checkVersionAndAction` rejects it for that.
 * @throws RequestFault 400 err.receiver_id.invalid: no code of a rejected header says that the receiver is another one
 */
export function checkReceiver({ version, receiver_id }: IncomingHeader, registry: Registry): void {
  if (receiver_id === undefined || receiver_id === registry.sender_id || registry.aliases.includes(receiver_id)) return
  if (isSpokenVersion(version)) throw new RequestFault('err.receiver_id.invalid', 'header.receiver_id: is not this registry')
}

/**
 * Checks that the message is for this version and this operation.
 * @throws HeaderRejection rjct.version.invalid, rjct.action.invalid, rjct.action.not_supported
 */
export function checkVersionAndAction({ version, action }: IncomingHeader, operation: Operation | Callback): void {
  if (!isSpokenVersion(version)) throw new HeaderRejection('rjct.version.invalid', 'header.version: must be 1.0.0')
  if (actionMeans(operation, action)) return
  if (isKnownAction(action)) {
    throw new HeaderRejection('rjct.action.invalid', `header.action: must be ${operation.action} on this path`)
  }
  throw new HeaderRejection(
    'rjct.action.not_supported',
    `header.action: is no action of this protocol; must be ${operation.action} on this path`,
  )
}

/**
 * Checks that the header says who asks and for which case, if the grant demands that. The audit entry gets these details.
 * @throws RequestFault 400 err.request.bad
 */
export function checkDemandedDetails({ terms }: Pick<Grant, 'terms'>, { meta }: IncomingHeader): void {
  const missing = terms.demands?.find((name) => !canBeConfidentialDetail(meta?.[name]))
  if (missing === undefined) return
  const rule = `is required of this participant: a text of 1 to ${MOST_DETAIL_CHARACTERS} characters`
  throw new RequestFault('err.request.bad', `header.meta.${missing}: ${rule}`)
}

/**
 * Checks version and action of a request, and that its message was written at most `window` seconds before or after its receipt.
 * The time of callbacks is not checked, because they are repeated unchanged for days (N16).
 * @param window seconds; 0: no limit
 * @throws HeaderRejection as `checkVersionAndAction`; rjct.message_ts.invalid
 */
export function checkHeader({ header, operation, received_at }: Exchange, window: number): void {
  checkVersionAndAction(header, operation)
  if (isWithinWindow(header.message_ts, window, received_at.getTime())) return
  throw new HeaderRejection('rjct.message_ts.invalid', `header.message_ts: must lie within ${window} seconds of now`)
}

/**
 * Checks that the batch has as many items as the header says, and not too many. A missing or zero total_count says nothing.
 * The numbers are compared only if the message is a batch, and `counted` is true for this sort of message.
 * @param length the number of items; null: the message is no batch
 * @param limit the most items
 * @throws HeaderRejection rjct.total_count.invalid, rjct.total_count.limit_exceeded
 */
export function checkItemCount(
  header: IncomingHeader,
  { batch, counted }: Pick<MessageRow, 'batch' | 'counted'>,
  length: number | null,
  limit: number,
): void {
  if (length === null) return
  if (counted && header.total_count !== undefined && header.total_count !== 0) {
    if (header.total_count !== length) {
      throw new HeaderRejection(
        'rjct.total_count.invalid',
        `header.total_count: must be the number of items in message.${batchMemberPath(batch)}`,
      )
    }
  }
  if (length > limit) {
    throw new HeaderRejection(
      'rjct.total_count.limit_exceeded',
      `message.${batchMemberPath(batch)}: must have at most ${limit} items`,
    )
  }
}

/**
 * Checks that a batch is not empty.
 * @param length the number of items; null: the message is no batch
 * @throws RequestFault 400 err.request.bad
 */
export function checkBatchNotEmpty({ batch }: Pick<MessageRow, 'batch'>, length: number | null): void {
  if (length !== 0) return
  throw new RequestFault('err.request.bad', `message.${batchMemberPath(batch)}: must have at least one item`)
}

/** The number of items in the batch of a message; null when the message has no batch. */
export function batchLength(row: Pick<MessageRow, 'batch'>, message: Message): number | null {
  if (row.batch === null) return null
  let found: unknown = message
  for (const name of row.batch) found = isJsonObject(found) ? found[name] : undefined
  return Array.isArray(found) ? found.length : null
}

const batchMemberPath = (batch: MessageRow['batch']): string => batch?.join('.') ?? ''
