/**
 * The parts of a multipart/form-data body (RFC 7578), one after the other and in pieces: nothing is held but the piece
 * of the body that came last.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { Dicer } from '@fastify/busboy'
import { RequestFault } from '@rollcall/protocol'
import { type Hold, nextChunk, tooLarge } from '../../reading/body.ts'

/** What comes next: a part begins, with its name; a piece of it; its end. */
export type PartEvent =
  | { readonly is: 'part'; readonly name: string | null }
  | { readonly is: 'data'; readonly bytes: Buffer }
  | { readonly is: 'end' }

/** RFC 2046, 5.1.1, without the space. */
const BOUNDARY = /;\s*boundary=(?:"([0-9a-zA-Z'()+_,\-./:=?]{1,70})"|([0-9a-zA-Z'+_\-.]{1,70}))\s*(?:;|$)/i

/** @throws RequestFault 400 where the Content-Type names no boundary */
export function boundaryOf(headers: IncomingHttpHeaders): string {
  const [, quoted, bare] = BOUNDARY.exec(headers['content-type'] ?? '') ?? []
  const boundary = quoted ?? bare
  if (boundary !== undefined) return boundary
  throw bad('Content-Type: multipart/form-data needs a boundary of 1 to 70 characters')
}

/**
 * Reads the body as far as it is asked for.
 * @throws RequestFault 413 above `maxBytes`; 400 when a part has no head, is encoded, or the last boundary is missing
 */
export async function* readParts(
  body: Readable,
  boundary: string,
  maxBytes: number,
  hold: Hold = () => undefined,
): AsyncGenerator<PartEvent, void, void> {
  const splitter = new Splitter(boundary)
  for (let size = 0; ; ) {
    yield* splitter.take()
    if (splitter.ended) return
    const chunk = await nextChunk(body)
    size += chunk?.length ?? 0
    if (size > maxBytes) throw tooLarge(maxBytes)
    hold(chunk?.length ?? 0)
    await splitter.push(chunk)
  }
}

type Heads = Readonly<Record<string, readonly string[] | undefined>>

/** Turns pieces of a body into events; what is wrong comes last and is thrown by `take`. */
class Splitter {
  readonly #dicer: Dicer
  /** A list for each part: several may begin before the first one's stream has spoken. */
  #parts: PartEvent[][] = []
  #fault: RequestFault | null = null
  #headless = false
  ended = false

  constructor(boundary: string) {
    this.#dicer = new Dicer({ boundary, maxHeaderPairs: 20 })
    this.#dicer.on('part', (part) => {
      this.#seal()
      this.#headless = true
      part.on('header', (heads) => {
        this.#headless = false
        const events = this.#begin(heads as Heads)
        part.on('data', (bytes) => events.push({ is: 'data', bytes: bytes as Buffer }))
        part.on('end', () => events.push({ is: 'end' }))
      })
      // The splitter itself says the same of the whole body.
      part.on('error', () => {})
    })
    this.#dicer.on('error', () => this.#fail(bad('body: ends before its last boundary')))
    this.#dicer.on('finish', () => {
      this.#seal()
      this.ended = true
    })
  }

  /** What has come. Throws the fault that ended it, after all that came before. */
  *take(): Generator<PartEvent> {
    for (const events of this.#parts) yield* events.splice(0)
    // Only the last one may go on with the next piece of the body.
    this.#parts = this.#parts.slice(-1)
    if (this.#fault !== null) throw this.#fault
  }

  /** @param chunk null: the body has ended */
  async push(chunk: Buffer | null): Promise<void> {
    if (chunk === null) this.#dicer.end()
    else this.#dicer.write(chunk)
    // Its streams speak in the ticks that follow, all of which are over at the next turn of the event loop.
    await turn()
    if (chunk === null && !this.ended) this.#fail(bad('body: ends before its last boundary'))
  }

  #begin(heads: Heads): PartEvent[] {
    const encoding = heads['content-transfer-encoding']?.[0]?.trim().toLowerCase() ?? 'binary'
    if (!['7bit', '8bit', 'binary'].includes(encoding)) {
      this.#fail(bad('body: a part has a Content-Transfer-Encoding, which is not accepted'))
    }
    const events: PartEvent[] = [{ is: 'part', name: nameOf(heads['content-disposition']?.[0] ?? '') }]
    this.#parts.push(events)
    return events
  }

  /** A part that has no head would pass unseen. */
  #seal(): void {
    if (this.#headless) this.#fail(bad('body: a part has no head'))
    this.#headless = false
  }

  #fail(fault: RequestFault): void {
    this.#fault ??= fault
  }
}

const DISPOSITION = /^form-data\s*(?:;.*)?$/i
const NAME = /;\s*name=(?:"([^"\\]*)"|([^\s";]+))\s*(?:;|$)/i

/** What a Content-Disposition calls its part; null where it does not. */
function nameOf(disposition: string): string | null {
  if (!DISPOSITION.test(disposition)) return null
  const [, quoted, bare] = NAME.exec(disposition) ?? []
  return quoted ?? bare ?? null
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
