/** How each operation is answered, as rows; receive asks for the answer. */

import type { Exchange, Message } from '@rollcall/core/model/exchange'
import { referenceId } from '@rollcall/core/model/reference-id'
import { type Operation, operation } from '@rollcall/protocol'
import { answerBatch, answerPage } from './batch.ts'
import { answerDisabilityDetails, answerDisabilitySupport, answerDisabled } from './disability.ts'
import { answerEnrolled, answerEnrolmentStatus } from './enrolled.ts'
import { answerEnrolmentUpdates } from './enrolment-updates.ts'
import type { Answering, Asked, Item, PersistedPage } from './item.ts'
import type { Outcome } from './outcome.ts'
import { searchItem, searchPage } from './search.ts'
import { answerSubscribe } from './subscribe.ts'
import { answerTxnStatus, unansweredQuestion } from './txn-status.ts'
import { answerUnsubscribe, unansweredUnsubscribe } from './unsubscribe.ts'

interface Handler {
  /**
   * `reads`: a batch that is answered later is answered in one state of the records. `writes`: it returns effects, which
   * are committed together with the reply.
   */
  readonly access: 'reads' | 'writes'
  readonly answer: (parts: Answering, asked: Asked) => Promise<Outcome>
  /** Answers a further page of the items that have one, by their positions. Absent: there are no pages. */
  readonly page?: (parts: Answering, asked: Asked, pages: ReadonlyMap<number, PersistedPage>) => Promise<Outcome>
  /** The members of a reply that answers nothing of the message. Absent: its array of items, empty. */
  readonly unanswered?: (exchange: Unanswered, message: Message, reason: string) => Outcome['members']
}

type Unanswered = Pick<Exchange, 'operation' | 'correlation_id'>

const HANDLERS = new Map<Operation, Handler>([
  [
    operation('search'),
    {
      access: 'reads',
      answer: (parts, asked) => answerBatch(parts, asked, searchItem),
      page: (parts, asked, pages) => answerPage(parts, asked, pages, searchPage),
    },
  ],
  [operation('subscribe'), { access: 'writes', answer: answerSubscribe }],
  [operation('unsubscribe'), { access: 'writes', answer: answerUnsubscribe, unanswered: unansweredUnsubscribe }],
  [operation('enrolled'), { access: 'reads', answer: answerEnrolled }],
  [operation('enrolment-status'), { access: 'reads', answer: answerEnrolmentStatus }],
  [operation('disabled'), { access: 'reads', answer: answerDisabled }],
  [operation('disability-details'), { access: 'reads', answer: answerDisabilityDetails }],
  [operation('disability-support'), { access: 'reads', answer: answerDisabilitySupport }],
  // Its writes are committed while it is answered, portion by portion.
  [operation('enrolment-updates'), { access: 'reads', answer: answerEnrolmentUpdates }],
  [operation('txn-status'), { access: 'reads', answer: answerTxnStatus, unanswered: unansweredQuestion }],
])

/** Lets the exchange's operation answer its message. */
export const answerMessage = (parts: Answering, asked: Asked): Promise<Outcome> =>
  handlerOf(asked.exchange).answer(parts, asked)

/** What the operation does with records. */
export const accessOf = (exchange: Pick<Exchange, 'operation'>): Handler['access'] => handlerOf(exchange).access

/** Lets the exchange's operation answer a further page of the items that have one, by their positions. */
export async function answerFurtherPage(
  parts: Answering,
  asked: Asked,
  pages: ReadonlyMap<number, PersistedPage>,
): Promise<Outcome> {
  const { page } = handlerOf(asked.exchange)
  if (page === undefined) throw new Error(`there are no pages of operation ${asked.exchange.operation.name}`)
  return page(parts, asked, pages)
}

/**
 * The members of a reply that answers nothing: of a message whose header was rejected, or that the registry failed to
 * answer. A message that cannot be read has a transaction_id only.
 */
export function unansweredMembers(exchange: Unanswered, message: Message, reason: string): Outcome['members'] {
  const { items } = exchange.operation.reply
  return handlerOf(exchange).unanswered?.(exchange, message, reason) ?? (items === null ? {} : { [items]: [] })
}

function handlerOf(exchange: Pick<Exchange, 'operation'>): Handler {
  const handler = HANDLERS.get(exchange.operation)
  if (handler === undefined) throw new Error(`no handler for operation ${exchange.operation.name}`)
  return handler
}

const REQUEST = 'the registry failed to answer this request; it may be sent again under a new message_id'
const LATER_PAGES =
  'the registry failed to answer this page and those after it; the request may be sent again under a new message_id'
const ITEM = 'the registry failed; nothing is known to be wrong with this item'

/**
 * Rejected as a whole, without a reason code: none of the standard's is true (N18).
 * @param items those that were still to be answered; none where they cannot be read
 * @param about.page from 1
 * @param about.count how many items the request has
 */
export function failedOutcome(
  exchange: Pick<Exchange, 'operation' | 'correlation_id'>,
  transaction_id: string,
  items: readonly Item[],
  { page, count }: { readonly page: number; readonly count: number },
): Outcome {
  const timestamp = new Date().toISOString()
  const rejected = items.map((item) => ({
    reference_id: referenceId(item),
    timestamp,
    status: 'rjct',
    status_reason_message: ITEM,
    ...(item.locale !== undefined && { locale: item.locale }),
  }))
  const { items: member } = exchange.operation.reply
  const reason = page === 1 ? REQUEST : LATER_PAGES
  return {
    status: 'rjct',
    status_reason_message: reason,
    total_count: items.length > 0 ? items.length : count,
    completed_count: items.length,
    accounted: items.map(() => ({ code: 'rjct' })),
    members: member === null ? unansweredMembers(exchange, { transaction_id }, reason) : { [member]: rejected },
  }
}
