/** Reads a body as text, and never keeps more of it in memory than is allowed. */

/** A body cannot be read: it is too large, breaks off, or is not UTF-8. */
export class BodyProblem extends Error {
  readonly kind: 'too_large' | 'broken' | 'not_utf8'

  constructor(kind: BodyProblem['kind'], rule: string, cause?: unknown) {
    super(rule, cause === undefined ? {} : { cause })
    this.name = 'BodyProblem'
    this.kind = kind
  }
}

export interface BodySource {
  readonly headers: { get(name: string): string | null }
  readonly body: ReadableStream<Uint8Array> | null
}

/** The body as text; '' when there is none. Cancels a body that is too large. @throws BodyProblem */
export async function readText({ headers, body }: BodySource, maxBytes: number): Promise<string> {
  if (Number(headers.get('content-length') ?? 0) > maxBytes) {
    await body?.cancel().catch(() => {})
    throw tooLargeProblem(maxBytes)
  }
  return body === null ? '' : decodeUtf8(await readBytes(body, maxBytes))
}

/** Decodes UTF-8. @throws BodyProblem */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new BodyProblem('not_utf8', 'must be UTF-8')
  }
}

/** This many chunks in memory are joined into one: each takes some 200 bytes beside its content, which may be a single byte. */
const MOST_UNJOINED_CHUNKS = 1_024

async function readBytes(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const joined: Uint8Array[] = []
  let chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new BodyProblem('broken', 'ended before its announced length', cause)
    })
    if (done) break
    size += value.length
    if (size > maxBytes) {
      await reader.cancel().catch(() => {})
      throw tooLargeProblem(maxBytes)
    }
    chunks.push(value)
    if (chunks.length === MOST_UNJOINED_CHUNKS) {
      joined.push(joinChunks(chunks))
      chunks = []
    }
  }
  return joinChunks([...joined, ...chunks])
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

const tooLargeProblem = (maxBytes: number): BodyProblem => new BodyProblem('too_large', `must be at most ${maxBytes} bytes`)
