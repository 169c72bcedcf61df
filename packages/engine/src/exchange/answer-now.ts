/** Answers a synchronous request. The rejection of an item is reported in that item. */

import {
  auditEntryOfAccepted,
  auditEntryOfAnswer,
  auditEntryOfUnsentMessage,
  type EntryWithPersons,
  makeAuditedMessage,
} from '@rollcall/audit/audit-entry-of'
import type { AuditLogWithRowWrites } from '@rollcall/audit/audit-log'
import type { AuditedMessage, MakePseudonyms } from '@rollcall/core/model/audit-entry'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import { OutcomeOutdated } from '@rollcall/core/model/outcome'
import { HeaderRejection } from '@rollcall/protocol'
import { answerMessage } from '../operations/handlers.ts'
import type { AnswerDeps } from '../operations/item.ts'
import type { Outcome } from '../operations/outcome.ts'
import { type NewExchange, REQUEST_JOINT_WRITE } from '../store/exchanges/exchanges.ts'
import { commitReplyEffects } from '../store/exchanges/replies.ts'
import { checkHeader } from './checks.ts'
import type { VerifiedRequest } from './read-request.ts'
import { correlationIdOf, duplicateMessageIdRejection, makeExchangeRow, type RememberDeps, rememberExchange } from './remember.ts'
import { makeRejectionReply, makeReply, type Reply, type ReplyDeps } from './reply.ts'

/** The most tries to make an outcome. It is made again when the data for its decisions have changed meanwhile. */
const MOST_MAKE_OUTCOME_TRIES = 10
/**
 * The most tries to write an audit entry with the row of its message. Usually one try is enough. More are needed when an earlier
 * version has stored the row under another correlation_id, or when the retention deletes the row between two statements.
 */
const MOST_WRITE_TRIES = 10

export type AnswerNowDeps = RememberDeps &
  AnswerDeps &
  ReplyDeps & { readonly auditLog: AuditLogWithRowWrites; readonly pseudonyms: MakePseudonyms }

/**
 * Answers a verified synchronous request, and returns the reply to send. The reply to a message whose header is rejected has no
 * audit entry here: the route counts it with the refusals (`noteRejection`), which have entries of their own.
 * @throws RequestFault
 */
export async function answerNow(deps: AnswerNowDeps, request: VerifiedRequest): Promise<Reply> {
  let { exchange } = request
  const remember: RememberMessage = async (row) => {
    exchange = await rememberExchange(deps, request.exchange, row)
    return exchange
  }
  try {
    checkHeader(exchange, deps.limits.message_ts_window)
    return await (exchange.operation.writes ? answerMessageThatWrites : answerMessageThatReads)(deps, request, remember)
  } catch (error) {
    if (!(error instanceof HeaderRejection)) throw error
    return makeRejectionReply(deps, exchange, request.opened, error)
  }
}

/**
 * Stores the message of the request (`rememberExchange`). If the header is rejected after that, the reply has the correlation_id
 * of the first equal message.
 */
type RememberMessage = (row: NewExchange) => Promise<Exchange>

/**
 * Answers a message that may change something. The message is stored before anything is done. If a message with the same
 * message_id and content is stored already, the operation runs again under the grant that applies now, and the answer has the
 * correlation_id of the first message.
 */
async function answerMessageThatWrites(deps: AnswerNowDeps, request: VerifiedRequest, remember: RememberMessage): Promise<Reply> {
  const exchange = await remember(makeExchangeRow(request.exchange, request.opened, request.path))
  const checked = await readAndCheckMessage(request)
  // An audit entry says who asked for the change, before anything is changed. It stays even if the entry of the answer
  // cannot be written.
  const messages = { request: checked.audited, reply: null }
  await deps.auditLog.write(...auditEntryOfAccepted(exchange, checked.message.transaction_id, messages))
  const { reply, entry } = await answerAndMakeReply(deps, exchange, checked)
  await deps.auditLog.write(...entry)
  return reply
}

/**
 * Answers a message that changes nothing. The message is stored in one statement with the audit entry of its answer, before
 * the answer is sent. A message that is refused is stored alone, before the refusal is sent
 * (docs/decisions/message-memory.md).
 */
async function answerMessageThatReads(deps: AnswerNowDeps, request: VerifiedRequest, remember: RememberMessage): Promise<Reply> {
  const began = deps.clock.now()
  const fresh = makeExchangeRow(request.exchange, request.opened, request.path)
  const row = { ...fresh, correlation_id: await correlationIdOf(deps.pseudonyms, fresh) }
  try {
    // 6. Checks the message. 7. Answers the items.
    return await answerAndStore(deps, request.exchange, await readAndCheckMessage(request), { row, began })
  } catch (error) {
    // Whatever failed, the message is stored first, so that its message_id is used for no other message. Only a message whose
    // message_id another one has is not stored.
    if (!(error instanceof HeaderRejection && error.code === 'rjct.message_id.duplicate')) await remember(row)
    throw error
  }
}

/**
 * Answers the items and makes the reply; then its audit entry, which has the digest and the signature of the reply. Stores the
 * entry and the row of the message in one commit. Returns only a reply whose entry is committed.
 * @throws HeaderRejection rjct.message_id.duplicate
 */
async function answerAndStore(
  deps: AnswerNowDeps,
  received: Exchange,
  checked: MessageWithAuditEntryPart,
  { row, began }: { readonly row: NewExchange; readonly began: number },
): Promise<Reply> {
  const { auditLog, clock } = deps
  let exchange = { ...received, correlation_id: row.correlation_id }
  let made = await answerAndMakeReply(deps, exchange, checked)
  for (let tries = 1; tries <= MOST_WRITE_TRIES; tries += 1) {
    const joint = { ...row, correlation_id: exchange.correlation_id, age: clock.now() - began }
    // `writeWith` returns true also for a message that is sent again: its correlation_id is computed from its content, so the
    // statement finds the row that the first one stored.
    if (await auditLog.writeWith(REQUEST_JOINT_WRITE, joint, ...made.entry)) return made.reply
    // The message_id is stored with another correlation_id: for another message, or by an earlier version, which used a random
    // one; the answer must have that one.
    const { known, correlation_id } = await deps.exchanges.remember(row)
    if (known === 'different') {
      // The reply is made but not sent. Both are audited: which persons were looked up for it, and that it was not sent.
      await Promise.all([auditLog.write(...made.entry), auditLog.write(...auditEntryOfUnsentMessage(made.entry))])
      throw duplicateMessageIdRejection()
    }
    if (correlation_id === exchange.correlation_id) continue
    exchange = { ...exchange, correlation_id }
    // The items take quota again.
    made = await answerAndMakeReply(deps, exchange, checked)
  }
  throw new Error('the row of a message is deleted again and again')
}

/** The only chunk of a checked synchronous request, as a message, and what the audit entry says about the request. */
interface MessageWithAuditEntryPart {
  readonly message: Message
  /** The part of the audit entry about the request. */
  readonly audited: AuditedMessage
}

/** Reads and checks the message. @throws RequestFault, HeaderRejection */
async function readAndCheckMessage({ exchange, received, opened, signed }: VerifiedRequest): Promise<MessageWithAuditEntryPart> {
  const { chunks, digest } = await received.readAndCheckMessage(exchange, opened, signed !== null)
  return { message: chunks[0].message, audited: makeAuditedMessage(exchange.header.message_id, digest, signed) }
}

/** Answers the items, makes the reply and its audit entry. The caller commits the entry before it sends the reply. */
async function answerAndMakeReply(
  deps: AnswerNowDeps,
  exchange: Exchange,
  { message, audited }: MessageWithAuditEntryPart,
): Promise<{ readonly reply: Reply; readonly entry: EntryWithPersons }> {
  const { transaction_id } = message
  const outcome = await makeOutcomeWithRetries(deps, () => answerMessage(deps, { mode: 'sync', exchange, message }))
  const reply = await makeReply(deps, exchange, transaction_id, outcome)
  const messages = { request: audited, reply: reply.audited }
  return { reply, entry: auditEntryOfAnswer('answer', exchange, transaction_id, outcome, messages) }
}

/**
 * Makes an outcome, and commits its effects if it has any. Makes it again if the data for its decisions have changed meanwhile,
 * such as a consent that was withdrawn.
 */
async function makeOutcomeWithRetries(deps: AnswerNowDeps, makeOutcome: () => Promise<Outcome>): Promise<Outcome> {
  for (let times = 1; ; times += 1) {
    try {
      const outcome = await makeOutcome()
      if (outcome.effects !== undefined) await commitReplyEffects(deps.db, outcome.effects)
      return outcome
    } catch (error) {
      if (!(error instanceof OutcomeOutdated) || times === MOST_MAKE_OUTCOME_TRIES) throw error
    }
  }
}
