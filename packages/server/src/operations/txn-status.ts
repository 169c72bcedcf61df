/**
 * txn-status: how an earlier request of the sender stands (spec "TxnStatusRequest", "TxnStatusResponse"; N4). What was
 * answered is embedded as it was; what is still worked on, with the status of its items.
 */

import { type Operation, operation, type TxnStatusQuestion } from '@rollcall/protocol'
import type { Exchange, Message } from '../model/exchange.ts'
import type { Outcome } from '../model/outcome.ts'
import { type AskedExchange, findAskedExchange } from '../store/exchanges/accepted-exchanges.ts'
import type { Asked } from './handlers.ts'
import type { Answering } from './item.ts'
import { nothingTold } from './txn-nothing.ts'
import { findHolding } from './txn-search.ts'
import { type Told, tellExchange } from './txn-told.ts'

/** The types whose answers are kept; of any other, nothing is found. */
const OPERATIONS: Readonly<Partial<Record<TxnStatusQuestion['txn_type'], Operation>>> = {
  search: operation('search'),
}

/** Finds what is asked for among the sender's own exchanges with this registry. */
type Look = (
  parts: Answering,
  asker: { readonly exchange: Exchange; readonly operation: Operation },
  values: readonly string[],
) => Promise<AskedExchange | null>

const asker = ({ exchange, operation }: Parameters<Look>[1]) => ({
  participant: exchange.participant.id,
  registry: exchange.registry.id,
  operation: operation.name,
})

/** One row for each attribute_type (D15). */
const LOOKS: Readonly<Record<TxnStatusQuestion['attribute_type'], Look>> = {
  transaction_id: ({ db }, who, transaction_ids) => findAskedExchange(db, asker(who), { transaction_ids }),
  correlation_id: ({ db }, who, correlation_ids) => findAskedExchange(db, asker(who), { correlation_ids }),
  reference_id_list: (parts, who, reference_ids) => findHolding(parts, asker(who), reference_ids),
  // There are no subscriptions, so nobody has a code of one.
  subscription_code_list: async () => null,
}

/** Answers one question. What is somebody else's is answered as what never was (N4). */
export async function answerTxnStatus(parts: Answering, { exchange, message }: Asked): Promise<Outcome> {
  const question = message.txnstatus_request as TxnStatusQuestion
  const values = [question.attribute_value].flat()
  const operation = OPERATIONS[question.txn_type]
  const found =
    operation === undefined
      ? null
      : await LOOKS[question.attribute_type](parts, { exchange, operation }, values)
  const references = question.attribute_type === 'reference_id_list' ? values : null
  const told =
    found === null || operation === undefined
      ? unknown(exchange, message, question)
      : await tellExchange(parts, { exchange, operation }, found, references)
  parts.metrics.itemAnswered(exchange.operation.name, told.status, told.code ?? 'none')
  return outcomeOf(question, told)
}

function outcomeOf({ txn_type }: TxnStatusQuestion, told: Told): Outcome {
  const { status, reason, txn_status, items, encrypted } = told
  return {
    status,
    ...(reason !== undefined && { status_reason_message: reason }),
    total_count: items.length,
    completed_count: items.filter((item) => item.status === 'succ' || item.status === 'rjct').length,
    members: { txnstatus_response: { txn_type, txn_status } },
    ...(encrypted && { encrypted }),
  }
}

/** The same whether there is none, or it is not the sender's: made of the question alone (N4). */
function unknown(exchange: Exchange, message: Message, question: TxnStatusQuestion): Told {
  const code = 'rjct.reference_id.invalid'
  const status_reason_message = `txnstatus_request.attribute_value: ${NOTHING}`
  const nothing = nothingTold(exchange, message, question, {
    status_reason_code: code,
    status_reason_message,
  })
  return { status: 'rjct', code, reason: `txnstatus_request: ${NOTHING}`, ...nothing }
}

const NOTHING = 'names no transaction of this type that the sender has with this registry'
