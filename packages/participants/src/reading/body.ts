/** Reads the body of a request: checks its type and size, and decodes it as UTF-8. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { ByteCollector } from '@rollcall/base/shared/pieces'
import { type AcceptedTypes, bodyTypeProblem, RequestFault } from '@rollcall/protocol'

/** A request from the HTTP layer, whose body is not read yet. */
export interface IncomingRequest {
  /** The path of the operation, such as `registry/sync/search`. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
  /** True when the connection is closed, so that no answer can be sent. */
  readonly isGone: () => boolean
  /** Called with the sender_id of the participant that the access token was issued to. */
  readonly onParticipantKnown?: (sender_id: string) => void
  /** Called when the form of the header has been checked. */
  readonly onHeaderRead?: (header: { readonly message_id: string }) => void
}

/** A request that the quotas have admitted. */
export interface AdmittedRequest extends IncomingRequest {
  /** Counts a piece of the body that is in memory (`Admission.hold` of `quota.ts`). */
  readonly hold: CountBytesInMemory
  /** Waits for the turn for a large request (`Admission.waitForLargeTurn` of `quota.ts`). */
  readonly waitForLargeTurn: () => Promise<void>
  readonly endLargeTurn: () => void
}

/** The members of an admitted request that reading its body needs. */
type RequestWithBodyToRead = Pick<AdmittedRequest, 'headers' | 'body' | 'hold' | 'waitForLargeTurn' | 'endLargeTurn'>

/**
 * When a body of this many bytes or more has been read, it waits for a turn (`waitForLargeTurn`): a node works on one such body
 * of a participant at a time.
 */
const LARGE_BODY_BYTES = 1_048_576
/** When this many bytes of a body have been read, they are checked before the rest is read. The check waits for a turn too. */
const BODY_BEGINNING_BYTES = 262_144

/** Counts bytes in memory. @throws RequestFault 429: too many bytes are in memory */
export type CountBytesInMemory = (bytes: number) => void

/**
 * Reads the bytes of a body; `decodeBody` turns them into text.
 * @param accepted the accepted content types
 * @param checkBeginning throws to refuse a long body by its first bytes
 * @throws RequestFault err.request.bad: 415 `checkContentType` refuses the headers; 413 the body is above `maxBytes`;
 * 400 the connection ends early. Faults of `hold` and `checkBeginning` are passed on
 */
export async function readJsonBody(
  { headers, body, hold, waitForLargeTurn, endLargeTurn }: RequestWithBodyToRead,
  maxBytes: number,
  accepted: AcceptedTypes,
  checkBeginning: (bytes: Buffer) => void,
): Promise<Buffer> {
  checkContentType(headers, accepted)
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLargeFault(maxBytes)
  const check = async (beginning: Buffer): Promise<void> => {
    await waitForLargeTurn()
    checkBeginning(beginning)
    // The rest of the body may come slowly, so another request may have the turn meanwhile.
    endLargeTurn()
  }
  const bytes = await readBytes(body, maxBytes, { hold, check })
  if (bytes.length >= LARGE_BODY_BYTES) await waitForLargeTurn()
  return bytes
}

/**
 * The decoder for whole bodies. Each body is decoded in one call, so the decoder keeps no state. A byte order mark
 * stays in the text, because a signature covers it; the JSON reader refuses it.
 */
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a body of any content type, and returns its text without a byte order mark.
 * @throws RequestFault err.request.bad: 413 the body is above `maxBytes`; 400 the connection ends early, or the bytes are not
 * UTF-8
 */
export async function readBodyText(body: Readable, maxBytes: number): Promise<string> {
  return decodeBody(await readBytes(body, maxBytes)).replace(/^\ufeff/, '')
}

/** Decodes a whole body as text. @throws RequestFault err.request.bad: the bytes are not UTF-8 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes)
  } catch {
    throw new RequestFault('err.request.bad', 'body: must be UTF-8')
  }
}

/** Checks the headers of a request. @throws RequestFault 415: the body is not of an accepted type, not UTF-8 or compressed */
export function checkContentType(headers: IncomingHttpHeaders, accepted: AcceptedTypes): void {
  const problem = bodyTypeProblem(accepted, (name) => String(headers[name] ?? '') || null)
  if (problem !== null) throw new RequestFault('err.request.bad', problem, 415)
}

/**
 * Reads the next piece of a body; null at its end. Nothing is read between two calls: if the caller stops, the HTTP
 * layer discards the rest.
 * @throws RequestFault 400: the connection ends early
 */
export function readNextPiece(body: Readable): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => settle(() => resolve(chunk))
    const onEnd = (): void => settle(() => resolve(null))
    const onBroken = (): void => settle(() => reject(brokenBodyFault()))
    const settle = (done: () => void): void => {
      body.pause()
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      done()
    }
    if (body.readableEnded) resolve(null)
    else if (body.destroyed) reject(brokenBodyFault())
    else body.on('end', onEnd).on('error', onBroken).on('close', onBroken).on('data', onData).resume()
  })
}

/** Collects the whole body. Above the limit nothing more is stored, and the HTTP layer discards the rest. */
function readBytes(
  body: Readable,
  maxBytes: number,
  { hold, check }: { readonly hold?: CountBytesInMemory; readonly check?: (beginning: Buffer) => Promise<void> } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks = new ByteCollector()
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      try {
        if (size > maxBytes) throw bodyTooLargeFault(maxBytes)
        hold?.(chunk.length)
        chunks.push(chunk)
        if (check === undefined || size < BODY_BEGINNING_BYTES || size - chunk.length >= BODY_BEGINNING_BYTES) return
        body.pause()
        check(chunks.bytes()).then(
          () => body.resume(),
          (error: unknown) => settle(() => reject(error)),
        )
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const onEnd = (): void => settle(() => resolve(chunks.bytes()))
    const onBroken = (): void => settle(() => reject(brokenBodyFault()))
    const settle = (done: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      body.on('error', () => {})
      done()
    }
    if (body.destroyed) onBroken()
    else body.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

const brokenBodyFault = (): RequestFault => new RequestFault('err.request.bad', 'body: ended before its announced length')

/** The refusal of a body with more than `maxBytes` bytes: 413 err.request.bad. */
export const bodyTooLargeFault = (maxBytes: number): RequestFault =>
  new RequestFault('err.request.bad', `body: must be at most ${maxBytes} bytes`, 413)
