/** Which operations are answered here, as rows; http mounts a route for each, receive asks it for the answer. */
import { type Operation, operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../exchange.ts'
import { answerBatch, type ItemHandler } from './batch.ts'
import type { Outcome } from './outcome.ts'
import { searchItem } from './search.ts'

type MessageHandler = (context: Context, exchange: Exchange, message: Message) => Promise<Outcome>

const batchOf =
  (handle: ItemHandler): MessageHandler =>
  (context, exchange, message) =>
    answerBatch(context, exchange, message, handle)

const HANDLERS = new Map<Operation, MessageHandler>([[operation('search'), batchOf(searchItem)]])

/** The operations that this server answers. */
export const ANSWERED_OPERATIONS: readonly Operation[] = [...HANDLERS.keys()]

/** Lets the exchange's operation answer its message. */
export function answerMessage(context: Context, exchange: Exchange, message: Message): Promise<Outcome> {
  const handler = HANDLERS.get(exchange.operation)
  if (handler === undefined) throw new Error(`no handler for operation ${exchange.operation.name}`)
  return handler(context, exchange, message)
}
