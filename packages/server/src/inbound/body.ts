/** Reads a request body: of the right type, within its size, as text. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { RequestFault } from '@rollcall/protocol'

/**
 * The body as text.
 * @throws RequestFault err.request.bad: 415 when it is not plain UTF-8 JSON by its headers, 413 above
 * `maxBytes`, 400 when its bytes are not UTF-8 or the sender broke off
 */
export async function readJsonText(
  headers: IncomingHttpHeaders,
  body: Readable,
  maxBytes: number,
): Promise<string> {
  checkContentType(headers)
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  return readText(body, maxBytes)
}

/** One for all bodies: each is decoded as a whole, so that nothing of one is left for the next. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The body as text, whatever its type. Throws as `readJsonText` does. */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  const bytes = await readBytes(body, maxBytes)
  try {
    return utf8.decode(bytes)
  } catch {
    throw new RequestFault('err.request.bad', 'body: must be UTF-8')
  }
}

function checkContentType(headers: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() !== 'application/json') {
    throw new RequestFault('err.request.bad', 'Content-Type: must be application/json', 415)
  }
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new RequestFault('err.request.bad', 'Content-Type: charset must be utf-8', 415)
  }
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding !== 'identity') {
    throw new RequestFault('err.request.bad', 'Content-Encoding: a compressed body is not accepted', 415)
  }
}

/** Collects the body; above the limit nothing more is kept and the rest is left for the HTTP layer to discard. */
function readBytes(body: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else settle(() => reject(tooLarge(maxBytes)))
    }
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const onBroken = (): void =>
      settle(() => reject(new RequestFault('err.request.bad', 'body: ended before its announced length')))
    const settle = (done: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      body.on('error', () => {})
      done()
    }
    if (body.destroyed) onBroken()
    else body.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

const tooLarge = (maxBytes: number): RequestFault =>
  new RequestFault('err.request.bad', `body: must be at most ${maxBytes} bytes`, 413)
