/** What a question about a transaction is answered with when there is nothing to embed (spec "TxnStatusResponse", N4). */

import {
  CorrelationId,
  isJsonObject,
  type JsonObject,
  TxnStatusQuestion,
  TxnType,
  validator,
} from '@rollcall/protocol'
import type { Exchange, Message } from '../model/exchange.ts'
import type { ReplyMembers } from '../model/outcome.ts'
import { referenceId } from '../model/reference-id.ts'

/** The exchange of the question. */
type Asking = Pick<Exchange, 'correlation_id'>

export interface Nothing {
  /** Shaped as a search is answered: ids as far as the question names them, else its own. */
  readonly txn_status: ReplyMembers
  readonly items: readonly JsonObject[]
}

const correlationIds = validator(CorrelationId)
const questions = validator(TxnStatusQuestion)
const txnTypes = validator(TxnType)

/**
 * Every item that the question names, rejected; else the question itself.
 * @param reason of each item
 */
export function nothingTold(
  { correlation_id }: Asking,
  { transaction_id }: Pick<Message, 'transaction_id'>,
  question: TxnStatusQuestion,
  reason: { readonly status_reason_code?: string; readonly status_reason_message: string },
): Nothing {
  const { attribute_type, reference_id } = question
  const values = [question.attribute_value].flat()
  const timestamp = new Date().toISOString()
  const named = attribute_type === 'reference_id_list' && values.length > 0 ? values : [reference_id]
  const items = [...new Set(named)].map(
    (named): JsonObject => ({ reference_id: named, timestamp, status: 'rjct', ...reason }),
  )
  const [value = ''] = values
  const isCorrelationId = attribute_type === 'correlation_id' && correlationIds.accepts(value)
  return {
    items,
    txn_status: {
      transaction_id: attribute_type === 'transaction_id' && value !== '' ? value : transaction_id,
      correlation_id: isCorrelationId ? value : correlation_id,
      search_response: items,
    },
  }
}

/**
 * The members of a reply to a question that was not looked at, or not answered.
 * @param message may break the shape of a question; what of it can be read is sent back
 */
export function unansweredQuestion(
  exchange: Asking,
  message: Message,
  status_reason_message: string,
): ReplyMembers {
  const asked = message.txnstatus_request
  const question = questions.accepts(asked) ? (asked as TxnStatusQuestion) : readableQuestion(exchange, asked)
  const { txn_status } = nothingTold(exchange, message, question, { status_reason_message })
  return { txnstatus_response: { txn_type: question.txn_type, txn_status } }
}

/** `search` is the one type that the specification names. */
function readableQuestion({ correlation_id }: Asking, asked: unknown): TxnStatusQuestion {
  const { txn_type, reference_id } = isJsonObject(asked) ? asked : {}
  return {
    reference_id: referenceId({ reference_id }),
    txn_type: txnTypes.accepts(txn_type) ? (txn_type as TxnType) : 'search',
    attribute_type: 'correlation_id',
    attribute_value: correlation_id,
  }
}
