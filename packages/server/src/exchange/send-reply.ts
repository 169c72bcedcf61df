/** A page of the answer to an accepted exchange: written down together with its delivery, then attempted at once. */

import { randomUUID } from 'node:crypto'
import { type Callback, CanonicalText, canonicalJson, RequestFault } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { deliverNow, reserve } from '../delivery/deliver.ts'
import { callbackTarget } from '../delivery/targets.ts'
import { deliveryContext, type NewDelivery, originOf } from '../model/delivery.ts'
import type { Exchange } from '../model/exchange.ts'
import type { Outcome } from '../model/outcome.ts'
import type { CallbackSettings } from '../store/directory/participant-callbacks.ts'
import { commitReply, type NewItem } from '../store/exchanges/replies.ts'
import { replyHeader, replyMessage } from './reply.ts'

/** What is needed of an exchange to answer it, even where its request cannot be read any more. */
export type Answered = Pick<
  Exchange,
  'correlation_id' | 'operation' | 'registry' | 'participant' | 'encrypted'
> & {
  readonly transaction_id: string
  /** Where its request wanted the answer; null: it did not say. */
  readonly sender_uri: string | null
}

/** One step of an answer. */
export interface ReplyPage {
  readonly outcome: Outcome
  /** Its number, from 1: the page, where the batch is one portion. */
  readonly page: number
  /** The step before it; the number before it unless said otherwise. */
  readonly from?: number
  readonly state: 'replying' | 'replied' | 'failed'
  readonly items: readonly NewItem[]
  /** Whether another job is to go on. */
  readonly more: boolean
}

/**
 * Commits a page and hands it over, or leaves that to the participant's `drain` job.
 * @returns false when another run has committed it: then nothing is sent
 */
export async function sendReply(context: Context, exchange: Answered, page: ReplyPage): Promise<boolean> {
  const { correlation_id, participant } = exchange
  const { callback } = exchange.operation
  if (callback === null) throw new Error(`operation ${exchange.operation.name} has no callback`)
  const header = replyHeader(exchange, callback.action, page.outcome)
  const message = new CanonicalText(
    canonicalJson(replyMessage(exchange, exchange.transaction_id, page.outcome)),
  )
  const id = randomUUID()
  const delivery: NewDelivery = {
    id,
    participant: participant.id,
    registry: exchange.registry.id,
    correlation_id,
    callback: callback.name,
    page: page.page,
    message_id: header.message_id,
    target: targetOf(await context.callbacks.of(participant), exchange.sender_uri, callback),
    encrypted: exchange.encrypted || page.outcome.encrypted === true,
    body: await context.bodies.encryptBody(canonicalJson({ header, message }), deliveryContext(id)),
  }
  const origin = originOf(delivery.target)
  const reserved = origin === '' ? null : await reserve(context, { participant: participant.id, origin })
  const { state, items, more } = page
  const step = {
    correlation_id,
    from: page.from ?? page.page - 1,
    page: page.page,
    state,
    items,
    delivery,
    more,
  }
  let committed = false
  try {
    committed = await commitReply(context.db, { ...step, claim: reserved?.claim ?? null })
  } finally {
    if (!committed) reserved?.place.leave('unused')
  }
  if (committed && reserved !== null) await deliverNow(context, { delivery, ...reserved, header, message })
  return committed
}

/** An address that is not allowed any more stays with the delivery, whose attempt says why nothing is sent there. */
function targetOf(settings: CallbackSettings, sender_uri: string | null, callback: Callback): string | null {
  try {
    return callbackTarget(settings, sender_uri, callback)
  } catch (error) {
    if (error instanceof RequestFault) return sender_uri
    throw error
  }
}
