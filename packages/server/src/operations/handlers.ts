/** Which operations are answered here, as rows; http mounts a route for each, receive asks it for the answer. */

import { type Operation, operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../model/exchange.ts'
import type { Outcome } from '../model/outcome.ts'
import { answerBatch, answerPage, type Range } from './batch.ts'
import type { ItemHandler, KeptPage, PageHandler, Reading } from './item.ts'
import { searchItem, searchPage } from './search.ts'
import { unansweredQuestion } from './txn-nothing.ts'
import { answerTxnStatus } from './txn-status.ts'

interface Handler {
  answer(
    context: Context,
    exchange: Exchange,
    message: Message,
    reading?: Reading,
    range?: Range,
  ): Promise<Outcome>
  /** Answers a further page of the items that have one, by their positions. Absent: there are no pages. */
  readonly page?: (
    context: Context,
    exchange: Exchange,
    message: Message,
    pages: ReadonlyMap<number, KeptPage>,
  ) => Promise<Outcome>
  /** The members of a reply that answers nothing of the message. Absent: its array of items, empty. */
  readonly unanswered?: (exchange: Unanswered, message: Message, reason: string) => Outcome['members']
}

type Unanswered = Pick<Exchange, 'operation' | 'correlation_id'>

const batchOf = (item: ItemHandler, page: PageHandler): Handler => ({
  answer: (context, exchange, message, reading, range) =>
    answerBatch(context, exchange, message, item, reading, range),
  page: (context, exchange, message, pages) => answerPage(context, exchange, message, pages, page),
})

const HANDLERS = new Map<Operation, Handler>([
  [operation('search'), batchOf(searchItem, searchPage)],
  [operation('txn-status'), { answer: answerTxnStatus, unanswered: unansweredQuestion }],
])

/** The operations that this server answers. */
export const ANSWERED_OPERATIONS: readonly Operation[] = [...HANDLERS.keys()]

/**
 * Lets the exchange's operation answer its message.
 * @param reading given on the asynchronous road, where further pages may follow
 * @param range of the items to answer; all unless said otherwise
 */
export function answerMessage(
  context: Context,
  exchange: Exchange,
  message: Message,
  reading?: Reading,
  range?: Range,
): Promise<Outcome> {
  return handlerOf(exchange).answer(context, exchange, message, reading, range)
}

/** Lets the exchange's operation answer a further page of the items that have one, by their positions. */
export async function answerFurtherPage(
  context: Context,
  exchange: Exchange,
  message: Message,
  pages: ReadonlyMap<number, KeptPage>,
): Promise<Outcome> {
  const { page } = handlerOf(exchange)
  if (page === undefined) throw new Error(`there are no pages of operation ${exchange.operation.name}`)
  return page(context, exchange, message, pages)
}

/**
 * The members of a reply that answers nothing: of a message whose header was rejected, or that the registry failed to
 * answer. A message that cannot be read has a transaction_id only.
 */
export function unansweredMembers(
  exchange: Unanswered,
  message: Message,
  reason: string,
): Outcome['members'] {
  const { items } = exchange.operation.reply
  return (
    handlerOf(exchange).unanswered?.(exchange, message, reason) ?? (items === null ? {} : { [items]: [] })
  )
}

function handlerOf(exchange: Pick<Exchange, 'operation'>): Handler {
  const handler = HANDLERS.get(exchange.operation)
  if (handler === undefined) throw new Error(`no handler for operation ${exchange.operation.name}`)
  return handler
}
