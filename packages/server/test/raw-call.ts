/** A call of an API that is written by hand: a client would not send many of these. */
import { rawConnection } from '../../engine/test/raw-http.ts'

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** More lines of the header, as they are. */
  readonly lines?: string
  readonly body?: string
}

/** Sends a call, and returns its answer. @param own headers that each call has */
export async function rawCall(
  port: number,
  path: string,
  own: Readonly<Record<string, string>>,
  { method = 'GET', headers = {}, lines = '', body }: Sent,
) {
  const raw = await rawConnection(port)
  const all = {
    Host: '127.0.0.1',
    ...own,
    ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
    ...headers,
  }
  const written = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  raw.write(`${method} ${path} HTTP/1.1\r\n${written.join('')}${lines}\r\n${body ?? ''}`)
  const answer = await raw.response()
  raw.destroy()
  const parsed = answer.body.startsWith('{') ? JSON.parse(answer.body) : null
  const [error] = parsed?.errors ?? []
  return {
    ...answer,
    parsed,
    cookie: answer.headers.get('set-cookie') ?? null,
    error: error === undefined ? null : `${answer.status} ${error.code} ${error.message}`,
  }
}
