/** Reads the parts of a multipart/form-data body (RFC 7578) in order. Only the body's newest piece is in memory. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Dicer } from '@fastify/busboy'
import { bodyTooLargeFault, type CountBytesInMemory, readNextPiece } from '@rollcall/participants/reading/body'
import { RequestFault } from '@rollcall/protocol'

/** What the parser has found in the body: the beginning of a part, with its name; a piece of its content; or its end. */
export type PartEvent =
  | { readonly is: 'part'; readonly name: string | null }
  | { readonly is: 'data'; readonly bytes: Buffer }
  | { readonly is: 'end' }

/** The parts of a multipart body, as a stream of events. */
export type PartEvents = AsyncGenerator<PartEvent, void, void>

/** The most header lines of one part of a multipart body. */
const MOST_PART_HEADER_LINES = 20

/** Finds the boundary in a Content-Type. It may have the characters of RFC 2046, 5.1.1, except the space. */
const BOUNDARY_PATTERN = /;\s*boundary=(?:"([0-9a-zA-Z'()+_,\-./:=?]{1,70})"|([0-9a-zA-Z'+_\-.]{1,70}))\s*(?:;|$)/i

/** Reads the boundary in the Content-Type. @throws RequestFault 400 it names none */
export function boundaryOf(headers: IncomingHttpHeaders): string {
  const [, quoted, bare] = BOUNDARY_PATTERN.exec(headers['content-type'] ?? '') ?? []
  const boundary = quoted ?? bare
  if (boundary !== undefined) return boundary
  throw badRequestFault('Content-Type: multipart/form-data needs a boundary of 1 to 70 characters')
}

/**
 * Reads parts, and only as much of the body as the caller asks for.
 * @throws RequestFault 413 above `maxBytes`; 400 a part has no header or is encoded, or the last boundary is missing
 */
export async function* readParts(
  body: Readable,
  boundary: string,
  maxBytes: number,
  hold: CountBytesInMemory = () => undefined,
): PartEvents {
  const splitter = new PartSplitter(boundary)
  for (let size = 0; ; ) {
    yield* splitter.take()
    if (splitter.state === 'complete') return
    const chunk = await readNextPiece(body)
    size += chunk?.length ?? 0
    if (size > maxBytes) throw bodyTooLargeFault(maxBytes)
    hold(chunk?.length ?? 0)
    await splitter.push(chunk)
  }
}

/** Yields the pieces of the current part. After the last piece, the next part can be read. */
export async function* readPartPieces(parts: PartEvents): AsyncGenerator<Buffer, void, void> {
  for (;;) {
    const { value, done } = await parts.next()
    if (done === true || value.is !== 'data') return
    yield value.bytes
  }
}

/** A part that the parser has begun, and what it has found in the part since the last `take`. */
interface PartBeingParsed {
  hasHead: boolean
  readonly found: (PartEvent | RequestFault)[]
}

/**
 * Turns pieces of a body into events. It uses the parser within `Busboy`, because `Busboy` skips parts without header
 * or name, which must be refused (docs/decisions/multipart-parser.md).
 */
class PartSplitter {
  readonly #dicer: Dicer
  /** The parts that have begun. Several may begin before the stream of the first emits its data. */
  #parts: PartBeingParsed[] = []
  state: 'open' | 'complete' | 'cut off' = 'open'

  constructor(boundary: string) {
    this.#dicer = new Dicer({ boundary, maxHeaderPairs: MOST_PART_HEADER_LINES })
      .on('part', (stream) => {
        const part: PartBeingParsed = { hasHead: false, found: [] }
        this.#parts.push(part)
        stream.on('header', (head) => {
          part.hasHead = true
          part.found.push(readPartHeader(head as PartHeaderLines))
          stream.on('data', (bytes) => part.found.push({ is: 'data', bytes: bytes as Buffer }))
          stream.on('end', () => part.found.push({ is: 'end' }))
        })
        // A stream without a listener for errors would throw. The parser emits the same error itself.
        stream.on('error', () => undefined)
      })
      .on('error', () => this.#end('cut off'))
      .on('finish', () => this.#end('complete'))
  }

  /** Yields the parser's findings since the last call, up to the first fault, which it throws. */
  *take(): Generator<PartEvent> {
    const last = this.#parts.length - 1
    for (const [index, { hasHead, found }] of this.#parts.entries()) {
      const isOver = index < last || this.state === 'complete'
      if (isOver && !hasHead) throw badRequestFault('body: a part has no head')
      for (const event of found.splice(0)) {
        if (event instanceof RequestFault) throw event
        yield event
      }
    }
    // Only the last part may continue in the next piece of the body.
    this.#parts = this.#parts.slice(-1)
    if (this.state === 'cut off') throw badRequestFault('body: ends before its last boundary')
  }

  /** Parses a piece of the body. @param chunk null: the body has ended */
  async push(chunk: Buffer | null): Promise<void> {
    if (chunk === null) this.#dicer.end()
    else this.#dicer.write(chunk)
    // The streams of the parts emit in the next ticks, all of which run before the next turn of the event loop.
    await nextTurn()
    if (chunk === null) this.#end('cut off')
  }

  /** Sets `state` when the body has ended. Only the first call has an effect. */
  #end(state: 'complete' | 'cut off'): void {
    if (this.state === 'open') this.state = state
  }
}

/** The header lines of a part: the values by name, in lower case. */
type PartHeaderLines = Readonly<Record<string, readonly string[] | undefined>>

/** The beginning of a part with these header lines; a fault when the content of the part is encoded. */
function readPartHeader(head: PartHeaderLines): PartEvent | RequestFault {
  const encoding = head['content-transfer-encoding']?.[0]?.trim().toLowerCase() ?? 'binary'
  if (!['7bit', '8bit', 'binary'].includes(encoding)) {
    return badRequestFault('body: a part has a Content-Transfer-Encoding, which is not accepted')
  }
  return { is: 'part', name: findPartName(head['content-disposition']?.[0] ?? '') }
}

const FORM_DATA_PATTERN = /^form-data\s*(?:;.*)?$/i
const PART_NAME_PATTERN = /;\s*name=(?:"([^"\\]*)"|([^\s";]+))\s*(?:;|$)/i

/** Reads the name in the Content-Disposition of a part; null when there is none. */
function findPartName(disposition: string): string | null {
  if (!FORM_DATA_PATTERN.test(disposition)) return null
  const [, quoted, bare] = PART_NAME_PATTERN.exec(disposition) ?? []
  return quoted ?? bare ?? null
}

/** The refusal of a request that breaks a rule: 400 err.request.bad. */
export const badRequestFault = (message: string): RequestFault => new RequestFault('err.request.bad', message)
