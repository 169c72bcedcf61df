/** A plugin for Fastify. Its types name only what it uses of Fastify. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeListener, type RequestHandler } from './listener.ts'

interface FastifyRequestLike {
  readonly raw: IncomingMessage
}

interface FastifyReplyLike {
  readonly raw: ServerResponse
  hijack(): unknown
}

export interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => void): unknown
}

/**
 * Makes a plugin for a receiver: `app.register(fastifyReceiver(receiver), { prefix: '/callbacks' })`. The receiver
 * answers all requests below the prefix.
 */
export function fastifyReceiver(receiver: RequestHandler): (app: FastifyLike) => Promise<void> {
  const listener = nodeListener(receiver)
  return async (app) => {
    // Signatures cover the text as it was sent, so this plugin removes the parsers of bodies. Other plugins keep theirs.
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  }
}
