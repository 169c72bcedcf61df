/** Reads the stored request of an accepted exchange. */

import { runInSlot, type Semaphore } from '@rollcall/base/shared/semaphore'
import { type Exchange, type Message, requestBodyBinding } from '@rollcall/core/model/exchange'
import { BodyUnreadable, parseDecryptedBody } from '@rollcall/keys/bodies'
import { joinSplitMessage } from '@rollcall/participants/reading/large'
import { LEAST_LARGE_TEXT_LENGTH } from '@rollcall/participants/reading/threads'
import { type Operation, operation } from '@rollcall/protocol'
import { type AcceptedExchange, findEncryptedRequest } from '../store/exchanges/accepted-exchanges.ts'
import { batchItemsOf, type OpenRequestDeps } from './item.ts'

/** The decrypted request of an accepted exchange. It was checked when it was accepted. */
export interface OpenedRequest {
  readonly header: Exchange['header']
  readonly message: Message
  /** The traceparent; null or undefined when the request had none. */
  readonly traceparent?: string | null
}

/**
 * Reads a stored request, which takes several times its stored size in memory. The callers limit how many large requests are open
 * at a time: a node claims only a few large exchanges to answer, and `openAndReadStoredRequest` opens one after another.
 * @throws BodyUnreadable
 */
export async function openRequest(deps: OpenRequestDeps, accepted: AcceptedExchange): Promise<OpenedRequest> {
  const { id, parent, participant } = accepted
  const row = operation(accepted.operation)
  const open = async (from: string, request: Buffer): Promise<OpenedRequest> =>
    parseRequestText(deps, row, participant, await deps.bodies.decryptBody(request, requestBodyBinding(from)))
  const own = accepted.request ?? (await findEncryptedRequest(deps.db, id))
  if (own !== null) return open(id, own)
  const whole = parent === null ? null : await findEncryptedRequest(deps.db, parent)
  if (parent === null || whole === null) throw new BodyUnreadable('forgotten')
  return chunkOf(row, await open(parent, whole), accepted)
}

/**
 * The part of a request that is one chunk, for an exchange that an earlier version accepted: that version stored the whole
 * request only in the row of the parent exchange (`parent`), to which the chunks belong.
 */
function chunkOf(row: Operation, { message, ...rest }: OpenedRequest, { first_item, items }: AcceptedExchange): OpenedRequest {
  const own = batchItemsOf({ operation: row }, message).slice(first_item, first_item + items)
  return { ...rest, message: { ...message, [row.request.items ?? '']: own } }
}

async function parseRequestText(
  { reading }: OpenRequestDeps,
  row: Operation,
  participant: number,
  text: string,
): Promise<OpenedRequest> {
  if (text.length < LEAST_LARGE_TEXT_LENGTH) return asOpenedRequest(parseDecryptedBody(text))
  const read = await reading.run(participant, 'persisted', { text, operation: row.name })
  if (read === null) throw new BodyUnreadable('altered')
  return asOpenedRequest({ ...read, message: await joinSplitMessage(row, read.message, 'values') })
}

/** Takes a stored object as a request: it was checked at acceptance, and encryption has protected it since then. */
const asOpenedRequest = (checked: object): OpenedRequest => checked as OpenedRequest

/**
 * Opens a stored request, and returns the result of `read` for it. Large requests are opened one after another.
 * @throws BodyUnreadable
 */
export async function openAndReadStoredRequest<Result>(
  deps: OpenRequestDeps & { readonly turns: Semaphore },
  accepted: AcceptedExchange,
  read: (request: OpenedRequest) => Result,
): Promise<Result> {
  const work = async (): Promise<Result> => read(await openRequest(deps, accepted))
  return accepted.request === null ? runInSlot(deps.turns, LARGE_BODY_SEMAPHORE_KEY, work) : work()
}

/** The key of the semaphore under which large stored requests and answers are opened, one after another. */
export const LARGE_BODY_SEMAPHORE_KEY = 'large bodies of questions'
