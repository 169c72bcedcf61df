/**
 * Answers txn-status: what became of an earlier request of the sender (spec "TxnStatusRequest", "TxnStatusResponse";
 * N4). The answer has the answer to that request, or the status of its items.
 */

import { copyConsentUses } from '@rollcall/consents/store/consent-uses'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import type { ReplyMembers } from '@rollcall/core/model/outcome'
import { permissionFor } from '@rollcall/core/policy/permission'
import { findExchangeByCodes } from '@rollcall/delivery/store/events/find-subscriptions'
import {
  CorrelationId,
  isJsonObject,
  type JsonObject,
  type Operation,
  operation,
  RequestFault,
  TxnStatusQuestion,
  TxnType,
  validator,
} from '@rollcall/protocol'
import {
  type ExchangeAskedAbout,
  findExchangeAskedAbout,
  type StatusQuestionScope,
} from '../store/exchanges/accepted-exchanges.ts'
import { findExchangeByReferences } from '../store/exchanges/references.ts'
import type { AnswerDeps, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { storeMissingReferenceIds } from './references.ts'
import { readEarlierAnswer, type TxnAnswer } from './txn-answer.ts'

/** The operation that a txn_type asks about. A question with another txn_type is answered by `notFoundAnswer`. */
const TXN_OPERATIONS: Readonly<Partial<Record<TxnStatusQuestion['txn_type'], Operation>>> = {
  search: operation('search'),
  subscribe: operation('subscribe'),
  unsubscribe: operation('unsubscribe'),
  receipt: operation('enrolment-updates'),
}

/** The exchange that a status question is about, and the items of it. */
interface FoundExchange {
  readonly asked: ExchangeAskedAbout
  /** The reference_ids of the items that the question names; null: all. */
  readonly references: readonly string[] | null
}

/** Finds the exchange that a status question names, among the sender's own exchanges with this registry. */
type ExchangeFinder = (deps: AnswerDeps, asker: StatusQuestionScope, values: readonly string[]) => Promise<FoundExchange | null>

/** Makes the result of a finder for a question about all items; null when no exchange was found. */
const wrapFoundExchange = (asked: ExchangeAskedAbout | null): FoundExchange | null => asked && { asked, references: null }

/** The finder of the earlier exchange, for each attribute_type of a status question (D15). */
const EXCHANGE_FINDERS: Readonly<Record<TxnStatusQuestion['attribute_type'], ExchangeFinder>> = {
  transaction_id: async ({ db }, asker, transaction_ids) =>
    wrapFoundExchange(await findExchangeAskedAbout(db, asker, { transaction_ids })),
  correlation_id: async ({ db }, asker, correlation_ids) =>
    wrapFoundExchange(await findExchangeAskedAbout(db, asker, { correlation_ids })),
  reference_id_list: async (deps, asker, reference_ids) => {
    const asked = await findExchangeWithReferences(deps, asker, reference_ids)
    return asked && { asked, references: reference_ids }
  },
  subscription_code_list: async ({ db }, asker, codes) => {
    const named = await findExchangeByCodes(db, asker, codes)
    if (named === null) return null
    const { correlation_id, reference_ids } = named
    const asked = await findExchangeAskedAbout(db, asker, { correlation_ids: [correlation_id] })
    return asked && { asked, references: reference_ids }
  },
}

/**
 * Answers one question. Exchanges of other participants are answered like exchanges that never existed (N4). A question
 * without a txn_type is about a search.
 * @throws RequestFault err.request.bad: a synchronous question has no txn_type, and names no search of the sender. An
 * asynchronous question without txn_type gets the answer that nothing was found.
 */
export async function answerTxnStatus(deps: AnswerDeps, { mode, exchange, message }: MessageToAnswer): Promise<Outcome> {
  const given = message.txnstatus_request as Omit<TxnStatusQuestion, 'txn_type'> & Partial<TxnStatusQuestion>
  const question = { ...given, txn_type: given.txn_type ?? 'search' }
  const values = [question.attribute_value].flat()
  const operation = TXN_OPERATIONS[question.txn_type]
  const asker = { participant: exchange.participant.id, registry: exchange.registry.id, operation: operation?.name ?? '' }
  // The earlier answer is shown only while the grant still has its operation.
  const isGranted = operation !== undefined && permissionFor(exchange.grant, { operation: operation.name }).allowed
  const found = isGranted && (await EXCHANGE_FINDERS[question.attribute_type](deps, asker, values))
  if (given.txn_type === undefined && !found && mode === 'sync') {
    throw new RequestFault('err.request.bad', 'message.txnstatus_request.txn_type: is required')
  }
  const answer =
    operation && found
      ? await readEarlierAnswer(deps, { exchange, operation }, found.asked, found.references)
      : notFoundAnswer(exchange, message, question)
  deps.metrics.itemAnswered(exchange.operation.name, answer.status, answer.code ?? 'none')
  const { consented } = answer
  return {
    ...outcomeOfTxnAnswer(question, answer),
    ...(mode === 'async' &&
      consented !== undefined && { effects: [(client) => copyConsentUses(client, consented, exchange.correlation_id)] }),
  }
}

function outcomeOfTxnAnswer({ txn_type }: TxnStatusQuestion, answer: TxnAnswer): Outcome {
  const { status, reason, txn_status, items, encrypted, repeats, code = status } = answer
  return {
    status,
    ...(reason !== undefined && { status_reason_message: reason }),
    total_count: items.length,
    completed_count: items.filter((item) => item.status === 'succ' || item.status === 'rjct').length,
    members: { txnstatus_response: { txn_type, txn_status } },
    audited: [{ code }],
    ...(repeats !== undefined && { repeats: [repeats] }),
    ...(encrypted && { encrypted }),
  }
}

/**
 * The answer when no exchange is found. It is made only from the question, so it does not show whether the exchange
 * belongs to another participant (N4).
 */
function notFoundAnswer(exchange: Exchange, message: Message, question: TxnStatusQuestion): TxnAnswer {
  const code = 'rjct.reference_id.invalid'
  const status_reason_message = `txnstatus_request.attribute_value: ${NOT_FOUND_REASON}`
  const nothing = answerNothingFound(exchange, message, question, { status_reason_code: code, status_reason_message })
  return { status: 'rjct', code, reason: `txnstatus_request: ${NOT_FOUND_REASON}`, ...nothing }
}

const NOT_FOUND_REASON = 'names no transaction of this type that the sender has with this registry'

/** The most requests, accepted by an earlier version, whose missing reference_ids one question reads and stores. */
const MOST_OLD_REQUESTS_READ = 8

/** Finds the asker's exchange with the largest number of the given reference_ids, the newest of several; null: there is none. */
export async function findExchangeWithReferences(
  deps: AnswerDeps,
  asker: StatusQuestionScope,
  reference_ids: readonly string[],
): Promise<ExchangeAskedAbout | null> {
  await storeMissingReferenceIds(deps, MOST_OLD_REQUESTS_READ, asker.participant)
  const correlation_id = await findExchangeByReferences(deps.db, asker, reference_ids)
  if (correlation_id === null) return null
  return findExchangeAskedAbout(deps.db, asker, { correlation_ids: [correlation_id] })
}

/** The exchange in which the status question came. */
type StatusQuestionExchange = Pick<Exchange, 'correlation_id'>

/** The parts of the answer to a status question for which no exchange was found. */
export interface NothingFoundAnswer {
  /** An answer in the form of a search answer whose items are all rejected. Its ids are those of `exchangeIdsForStatusAnswer`. */
  readonly txn_status: ReplyMembers
  readonly items: readonly JsonObject[]
}

const correlationIdValidator = validator(CorrelationId)
const questionValidator = validator(TxnStatusQuestion)
const txnTypeValidator = validator(TxnType)

/**
 * The answer that nothing was found. It has a rejected item for each reference_id that the question names; if it names none, one
 * with the reference_id of the question.
 * @param reason the reason of each item
 */
export function answerNothingFound(
  exchange: StatusQuestionExchange,
  message: Pick<Message, 'transaction_id'>,
  question: TxnStatusQuestion,
  reason: { readonly status_reason_code: string; readonly status_reason_message: string },
  now = new Date(),
): NothingFoundAnswer {
  const { attribute_type, attribute_value, reference_id } = question
  const values = [attribute_value].flat()
  const timestamp = now.toISOString()
  const named = attribute_type === 'reference_id_list' && values.length > 0 ? values : [reference_id]
  const items = [...new Set(named)].map((named): JsonObject => ({ reference_id: named, timestamp, status: 'rjct', ...reason }))
  return { items, txn_status: { ...exchangeIdsForStatusAnswer(exchange, message, question), search_response: items } }
}

/** The ids in the answer to a status question: those that the question asks about, or else the question's own ids. */
function exchangeIdsForStatusAnswer(
  { correlation_id }: StatusQuestionExchange,
  { transaction_id }: Pick<Message, 'transaction_id'>,
  { attribute_type, attribute_value }: Pick<TxnStatusQuestion, 'attribute_type' | 'attribute_value'>,
): { readonly transaction_id: string; readonly correlation_id: string } {
  const [value = ''] = [attribute_value].flat()
  const isCorrelationId = attribute_type === 'correlation_id' && correlationIdValidator.accepts(value)
  return {
    transaction_id: attribute_type === 'transaction_id' && value !== '' ? value : transaction_id,
    correlation_id: isCorrelationId ? value : correlation_id,
  }
}

/**
 * The members of a reply to a question that was not answered: its header was rejected, or the registry failed. The reply has no
 * item, because an item would say something about an earlier request.
 * @param message may have another form than a question; its readable members are sent back
 */
export function unansweredQuestionMembers(exchange: StatusQuestionExchange, message: Message): ReplyMembers {
  const asked = message.txnstatus_request
  const question = questionValidator.accepts(asked) ? (asked as TxnStatusQuestion) : questionFromReadableMembers(exchange, asked)
  const txn_status = { ...exchangeIdsForStatusAnswer(exchange, message, question), search_response: [] }
  return { txnstatus_response: { txn_type: question.txn_type, txn_status } }
}

/** Makes a question from readable members. A txn_type that is not readable becomes `search`, the specification's only one. */
function questionFromReadableMembers(
  { correlation_id }: StatusQuestionExchange,
  asked: unknown,
): Omit<TxnStatusQuestion, 'reference_id'> {
  const { txn_type } = isJsonObject(asked) ? asked : {}
  return {
    txn_type: txnTypeValidator.accepts(txn_type) ? (txn_type as TxnType) : 'search',
    attribute_type: 'correlation_id',
    attribute_value: correlation_id,
  }
}
