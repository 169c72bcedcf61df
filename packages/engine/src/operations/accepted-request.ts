/** The request of an accepted exchange, as it is persisted. */

import { inTurn, type Semaphore } from '@rollcall/base/shared/semaphore'
import { type Exchange, type Message, requestContext } from '@rollcall/core/model/exchange'
import { BodyUnreadable, parsePersisted } from '@rollcall/keys/bodies'
import { wholeMessage } from '@rollcall/participants/reading/large'
import { LARGE } from '@rollcall/participants/reading/threads'
import { type Operation, operation } from '@rollcall/protocol'
import { type AcceptedExchange, findRequest } from '../store/exchanges/accepted-exchanges.ts'
import { itemsOf, type OpeningRequest } from './item.ts'

/** What was checked when it was accepted. */
export interface AcceptedRequest {
  readonly header: Exchange['header']
  readonly message: Message
  /** Null or undefined: it had none. */
  readonly traceparent?: string | null
}

/**
 * In memory a request takes several times its size: how many large ones are open at a time is decided where exchanges are
 * claimed, or by turns (`readRequest`).
 * @throws BodyUnreadable
 */
export async function openRequest(parts: OpeningRequest, accepted: AcceptedExchange): Promise<AcceptedRequest> {
  const { id, parent, participant } = accepted
  const row = operation(accepted.operation)
  const open = async (from: string, request: Buffer): Promise<AcceptedRequest> =>
    readText(parts, row, participant, await parts.bodies.decryptBody(request, requestContext(from)))
  const own = accepted.request ?? (await findRequest(parts.db, id))
  if (own !== null) return open(id, own)
  const whole = parent === null ? null : await findRequest(parts.db, parent)
  if (parent === null || whole === null) throw new BodyUnreadable('forgotten')
  return chunkOf(row, await open(parent, whole), accepted)
}

/** A chunk of an exchange that an earlier version accepted: the request is with its parent. */
function chunkOf(
  row: Operation,
  { message, ...rest }: AcceptedRequest,
  { first_item, items }: AcceptedExchange,
): AcceptedRequest {
  const own = itemsOf({ operation: row }, message).slice(first_item, first_item + items)
  return { ...rest, message: { ...message, [row.request.items ?? '']: own } }
}

async function readText(
  { reading }: OpeningRequest,
  row: Operation,
  participant: number,
  text: string,
): Promise<AcceptedRequest> {
  if (text.length < LARGE) return requestIn(parsePersisted(text))
  const read = await reading.run(participant, 'persisted', { text, operation: row.name })
  if (read === null) throw new BodyUnreadable('altered')
  return requestIn({ ...read, message: await wholeMessage(row, read.message, 'values') })
}

/** It was checked when it was accepted, and could not be altered since. */
const requestIn = (checked: object): AcceptedRequest => checked as AcceptedRequest

/**
 * What a question about an exchange needs to know of its request. Large requests are read one after the other.
 * @throws BodyUnreadable
 */
export async function readRequest<Result>(
  parts: OpeningRequest & { readonly turns: Semaphore },
  accepted: AcceptedExchange,
  read: (request: AcceptedRequest) => Result,
): Promise<Result> {
  const work = async (): Promise<Result> => read(await openRequest(parts, accepted))
  return accepted.request === null ? inTurn(parts.turns, LARGE_BODIES, work) : work()
}

/** The turn of questions that need a large body. */
export const LARGE_BODIES = 'large bodies of questions'
