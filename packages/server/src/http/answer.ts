/** Writes answers. Past Fastify's reply, which would send header names in lower case. */
import type { FastifyReply } from 'fastify'
import { endsWithAnswer } from './connections.ts'

/** Header names as some clients compare them: letter by letter (public standard 3.2, rule 11). */
export type AnswerHeaders = { readonly [name: string]: string }

/** Sends `text` as JSON. */
export function sendJson(
  reply: FastifyReply,
  status: number,
  text: string,
  headers: AnswerHeaders = {},
): void {
  send(reply, status, text, { 'Content-Type': 'application/json', ...headers })
}

/** Sends `text`; `headers` name its Content-Type. */
export function send(reply: FastifyReply, status: number, text: string, headers: AnswerHeaders): void {
  // Encoded once, here: as a text it would be gone through for its length and again when it is written.
  const body = Buffer.from(text)
  reply.hijack()
  const { server } = reply.server
  // A server that closes takes no further request on this connection, and neither does one that is not read to its end.
  if (!server.listening || endsWithAnswer(reply.request.raw)) reply.raw.shouldKeepAlive = false
  reply.raw.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': String(body.length),
  })
  reply.raw.end(body)
  // What is still in our memory a peer must fetch; one that takes nothing for so long is gone.
  if (reply.raw.writableLength > 0) reply.raw.setTimeout(server.requestTimeout)
}
