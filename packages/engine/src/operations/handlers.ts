/** The table with the handler of each operation. */

import { type Exchange, type Message, referenceId } from '@rollcall/core/model/exchange'
import { type Operation, operation } from '@rollcall/protocol'
import { answerBatch, answerFurtherBatchPage } from './batch.ts'
import { answerDisabilityDetails, answerDisabilitySupport, answerDisabled } from './disability.ts'
import { answerEnrolled, answerEnrolmentStatus } from './enrolled.ts'
import { answerEnrolmentUpdates } from './enrolment-updates.ts'
import type { AnswerDeps, FurtherPage, Item, MessageToAnswer } from './item.ts'
import type { Outcome } from './outcome.ts'
import { searchItem, searchPage } from './search.ts'
import { answerSubscribe } from './subscribe.ts'
import { answerTxnStatus, unansweredQuestionMembers } from './txn-status.ts'
import { answerUnsubscribe, unansweredUnsubscribeMembers } from './unsubscribe.ts'

interface OperationHandler {
  /** Set when a batch that is answered later reads all its records from one snapshot. */
  readonly needsSnapshot?: true
  readonly answer: (deps: AnswerDeps, asked: MessageToAnswer) => Promise<Outcome>
  /** Answers a further page. `pages` has the page of each item by its position. Absent: the operation has no further pages. */
  readonly page?: (deps: AnswerDeps, asked: MessageToAnswer, pages: ReadonlyMap<number, FurtherPage>) => Promise<Outcome>
  /**
   * Makes the members of a reply that answers no item. Absent: the reply has an empty array of items, or no member when the
   * operation has no batch.
   */
  readonly unanswered?: (exchange: UnansweredExchange, message: Message, reason: string) => Outcome['members']
}

/** The members of an exchange that a reply without answered items needs. */
type UnansweredExchange = Pick<Exchange, 'operation' | 'correlation_id'>

const HANDLERS = new Map<Operation, OperationHandler>([
  [
    operation('search'),
    {
      needsSnapshot: true,
      answer: (deps, asked) => answerBatch(deps, asked, searchItem),
      page: (deps, asked, pages) => answerFurtherBatchPage(deps, asked, pages, searchPage),
    },
  ],
  [operation('subscribe'), { answer: answerSubscribe }],
  [operation('unsubscribe'), { answer: answerUnsubscribe, unanswered: unansweredUnsubscribeMembers }],
  [operation('enrolled'), { answer: answerEnrolled }],
  [operation('enrolment-status'), { answer: answerEnrolmentStatus }],
  [operation('disabled'), { answer: answerDisabled }],
  [operation('disability-details'), { answer: answerDisabilityDetails }],
  [operation('disability-support'), { answer: answerDisabilitySupport }],
  [operation('enrolment-updates'), { answer: answerEnrolmentUpdates }],
  [operation('txn-status'), { answer: answerTxnStatus, unanswered: unansweredQuestionMembers }],
])

/** Answers a message with the handler of its operation. */
export const answerMessage = (deps: AnswerDeps, asked: MessageToAnswer): Promise<Outcome> =>
  handlerOf(asked.exchange).answer(deps, asked)

/** True when a batch of this operation is answered from one snapshot of the records when it is answered later. */
export const needsRecordSnapshot = (exchange: Pick<Exchange, 'operation'>): boolean => handlerOf(exchange).needsSnapshot === true

/** Answers a further page. @param pages the page of each item that has one, by the item's position */
export async function answerFurtherPage(
  deps: AnswerDeps,
  asked: MessageToAnswer,
  pages: ReadonlyMap<number, FurtherPage>,
): Promise<Outcome> {
  const { page } = handlerOf(asked.exchange)
  if (page === undefined) throw new Error(`there are no pages of operation ${asked.exchange.operation.name}`)
  return page(deps, asked, pages)
}

/**
 * The members of a reply that answers no item, because the header was rejected or the registry failed.
 * @param message has only a transaction_id when the message of the request cannot be read
 */
export function unansweredMembers(exchange: UnansweredExchange, message: Message, reason: string): Outcome['members'] {
  const { items } = exchange.operation.reply
  return handlerOf(exchange).unanswered?.(exchange, message, reason) ?? (items === null ? {} : { [items]: [] })
}

function handlerOf(exchange: Pick<Exchange, 'operation'>): OperationHandler {
  const handler = HANDLERS.get(exchange.operation)
  if (handler === undefined) throw new Error(`no handler for operation ${exchange.operation.name}`)
  return handler
}

const REQUEST_FAILED_REASON = 'the registry failed to answer this request; it may be sent again under a new message_id'
const LATER_PAGES_FAILED_REASON =
  'the registry failed to answer this page and those after it; the request may be sent again under a new message_id'
const ITEM_FAILED_REASON = 'the registry failed; nothing is known to be wrong with this item'

/**
 * The outcome of an exchange that the registry failed to answer: status rjct without a code, because none of the standard's codes
 * fits (N18).
 * @param items the items that the failed page would have answered; none when they cannot be read
 * @param options.page the number of the failed page, from 1
 * @param options.count the number of items in the request, or in the chunk
 */
export function failedOutcome(
  exchange: Pick<Exchange, 'operation' | 'correlation_id'>,
  transaction_id: string,
  items: readonly Item[],
  { page, count }: { readonly page: number; readonly count: number },
  now = new Date(),
): Outcome {
  const timestamp = now.toISOString()
  const rejected = items.map((item) => ({
    reference_id: referenceId(item),
    timestamp,
    status: 'rjct',
    status_reason_message: ITEM_FAILED_REASON,
    ...(item.locale !== undefined && { locale: item.locale }),
  }))
  const { items: member } = exchange.operation.reply
  const reason = page === 1 ? REQUEST_FAILED_REASON : LATER_PAGES_FAILED_REASON
  return {
    status: 'rjct',
    status_reason_message: reason,
    total_count: items.length > 0 ? items.length : count,
    completed_count: items.length,
    audited: items.map(() => ({ code: 'rjct' })),
    members: member === null ? unansweredMembers(exchange, { transaction_id }, reason) : { [member]: rejected },
  }
}
