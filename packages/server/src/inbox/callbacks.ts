/**
 * The life of a callback, top to bottom: results of requests and events, which another system sends to us because we
 * can be the one who asks as well (spec "Endpoints"). Its checks are those of `receive.ts`, in the same order; then it is
 * kept and acknowledged. docs/inbox.md tells of it.
 */

import { type Callback, HeaderRejection, isResultEncrypted, type JsonObject } from '@rollcall/protocol'
import type { Quota } from '../admission/quota.ts'
import { acknowledgement, refusalOf } from '../exchange/ack.ts'
import { type Authenticating, authenticate } from '../exchange/authenticate.ts'
import { batchLength, checkAddress, checkCount, checkSender } from '../exchange/checks.ts'
import type { Reply } from '../exchange/reply.ts'
import type { Limits } from '../limits.ts'
import type { Message } from '../model/exchange.ts'
import type { Registry } from '../model/registry.ts'
import { decodeBody, type IncomingRequest, readJsonBody } from '../reading/body.ts'
import { envelopeBounds } from '../reading/bounds.ts'
import { checkBeginning, readCallbackEnvelope, readResult } from '../reading/envelope.ts'
import { type Opening, openMessage, type Verifying, verifyEnvelope } from '../trust/messages.ts'
import { type KeepingCallback, keep } from './keep.ts'

export type ReceivingCallback = { readonly quota: Quota; readonly limits: Limits } & Authenticating &
  Opening &
  Verifying &
  KeepingCallback

/**
 * Acknowledges one callback after it is kept.
 * @throws RequestFault when it is refused: an ack ERR with an HTTP status
 */
export async function receiveCallback(
  parts: ReceivingCallback,
  callback: Callback,
  registry: Registry,
  request: IncomingRequest,
): Promise<Reply> {
  const { limits } = parts
  // 1. Who is calling, and may it call now? Asked before a byte of the body is read.
  const participant = await authenticate(parts, request)
  const visit = await parts.quota.enter(participant)
  try {
    // 2. What was sent? Its size, its JSON, and the frame of header and message.
    const bounds = envelopeBounds(limits, callback.message)
    const check = (bytes: Buffer): void => checkBeginning(bytes, bounds)
    const text = decodeBody(await readJsonBody({ ...request, ...visit }, limits.body_bytes, check))
    const envelope = readCallbackEnvelope(callback, participant.sender_id, text, bounds)
    const { header } = envelope

    // 3. Is the sender the caller, and did it sign this, in these days?
    checkSender(header, participant)
    await verifyEnvelope(parts, participant, envelope.source, { callback: true })

    // 4. Is it for this version, this registry and this callback?
    checkAddress(header, registry, callback)

    // 5. What does it say, when opened? A rejection may say nothing.
    const open = (message: JsonObject): Promise<JsonObject> => {
      const encrypted = isResultEncrypted(header, message)
      return openMessage(parts, { participant, header, encrypted }, callback, message, {
        answered: false,
      })
    }
    const opened = envelope.message === undefined ? null : await open(envelope.message)

    // 6. Is the message what the callback carries?
    const checkMessage = (message: JsonObject): Message => {
      const checked = readResult(callback.message, registry.kind, message)
      checkCount(header, callback.message, batchLength(callback.message, checked), limits.batch_items)
      return checked
    }
    const message = opened === null ? null : checkMessage(opened)

    // 7. Kept once; an ack for each time that it comes.
    const { path } = request
    return acknowledgement(await keep(parts, { callback, registry, participant, header, message, path }))
  } catch (error) {
    visit.leave(true)
    throw error instanceof HeaderRejection ? refusalOf(error) : error
  } finally {
    visit.leave()
  }
}
