/** Reads a request body: of the right type, within its size, as text. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { type AcceptedTypes, bodyTypeProblem, RequestFault } from '@rollcall/protocol'

/** A request from the HTTP layer, whose body is not read yet. */
export interface IncomingRequest {
  /** The path of the operation, such as `registry/sync/search`. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
  /** Whether the connection has ended. */
  readonly isGone: () => boolean
  /** Called with the sender of the token. */
  readonly identified?: (sender_id: string) => void
  /** Called with the message_id of the header. */
  readonly named?: (message_id: string) => void
}

/** A request that was admitted. */
export interface Admission extends IncomingRequest {
  /** Called with the length of each piece of the body that is held in memory (`Admission.hold`). */
  readonly hold: Hold
  /** Resolves when this process works on no other large request of the participant (`Admission.largeTurn`). */
  readonly largeTurn: () => Promise<void>
  readonly endTurn: () => void
}

/** The dependencies for reading a body. */
type Body = Pick<Admission, 'headers' | 'body' | 'hold' | 'largeTurn' | 'endTurn'>

/** A longer request waits for its turn: a node works on one such request of a participant at a time. */
const TURN_BYTES = 1_048_576
/** The first bytes of a longer body are checked before the rest is read. */
const BEGINNING_BYTES = 262_144

/** Counts bytes against the memory budget. @throws RequestFault 429 when the budget is spent */
export type Hold = (bytes: number) => void

/**
 * Reads the bytes of the body; `decodeBody` turns them into text.
 * @param accepted the accepted types
 * @param checkBeginning throws to refuse a long body by its first bytes
 * @throws RequestFault err.request.bad: 415 its headers do not say plain UTF-8 JSON, 413 above `maxBytes`, 400 the
 * connection ends early
 */
export async function readJsonBody(
  { headers, body, hold, largeTurn, endTurn }: Body,
  maxBytes: number,
  accepted: AcceptedTypes,
  checkBeginning: (bytes: Buffer) => void,
): Promise<Buffer> {
  checkContentType(headers, accepted)
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const check = async (beginning: Buffer): Promise<void> => {
    await largeTurn()
    checkBeginning(beginning)
    // The rest may come slowly; meanwhile the turn is free for another request.
    endTurn()
  }
  const bytes = await readBytes(body, maxBytes, { hold, check })
  if (bytes.length >= TURN_BYTES) await largeTurn()
  return bytes
}

/**
 * One decoder for all bodies: each body is decoded at once, so it keeps no state. A byte order mark stays in the text,
 * because the text is what was signed; the JSON reader refuses it.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The body as text, whatever its type, without a byte order mark. Throws as `readJsonBody` and `decodeBody` do. */
export async function readText(body: Readable, maxBytes: number, hold?: Hold): Promise<string> {
  return decodeBody(await readBytes(body, maxBytes, { hold })).replace(/^\ufeff/, '')
}

/** A whole body as text. @throws RequestFault err.request.bad: its bytes are not UTF-8 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new RequestFault('err.request.bad', 'body: must be UTF-8')
  }
}

/** @throws RequestFault 415: the headers do not say plain UTF-8 JSON */
export function checkContentType(headers: IncomingHttpHeaders, accepted: AcceptedTypes): void {
  const problem = bodyTypeProblem(accepted, (name) => String(headers[name] ?? '') || null)
  if (problem !== null) throw new RequestFault('err.request.bad', problem, 415)
}

/**
 * The next piece of a body; null at its end. Nothing is read between two calls: when a caller stops, the HTTP layer
 * discards the rest.
 * @throws RequestFault 400: the connection ends early
 */
export function nextChunk(body: Readable): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => settle(() => resolve(chunk))
    const onEnd = (): void => settle(() => resolve(null))
    const onBroken = (): void => settle(() => reject(brokenOff()))
    const settle = (done: () => void): void => {
      body.pause()
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      done()
    }
    if (body.readableEnded) resolve(null)
    else if (body.destroyed) reject(brokenOff())
    else body.on('end', onEnd).on('error', onBroken).on('close', onBroken).on('data', onData).resume()
  })
}

/** Collects the body; above the limit nothing more is stored, and the HTTP layer discards the rest. */
function readBytes(
  body: Readable,
  maxBytes: number,
  { hold, check }: { hold?: Hold | undefined; check?: (beginning: Buffer) => Promise<void> },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      try {
        if (size > maxBytes) throw tooLarge(maxBytes)
        hold?.(chunk.length)
        chunks.push(chunk)
        if (check === undefined || size < BEGINNING_BYTES || size - chunk.length >= BEGINNING_BYTES) return
        body.pause()
        check(Buffer.concat(chunks)).then(
          () => body.resume(),
          (error: unknown) => settle(() => reject(error)),
        )
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const onEnd = (): void => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const onBroken = (): void => settle(() => reject(brokenOff()))
    const settle = (done: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      body.on('error', () => {})
      done()
    }
    if (body.destroyed) onBroken()
    else body.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

const brokenOff = (): RequestFault => new RequestFault('err.request.bad', 'body: ended before its announced length')

export const tooLarge = (maxBytes: number): RequestFault =>
  new RequestFault('err.request.bad', `body: must be at most ${maxBytes} bytes`, 413)
