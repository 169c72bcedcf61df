/** The HTTP server of both listeners: what every answer has in common, and every way in which one can fail. */
import type { Socket } from 'node:net'
import { RequestFault } from '@rollcall/protocol'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Limits } from '../limits.ts'
import type { Log } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { asFault, faultBody, notFound, sendFault, wrongMethod } from './faults.ts'

export type HttpServer = FastifyInstance

/** A handler writes its answer itself (`sendJson`, `send`) or throws. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | void

const MAX_HEADER_BYTES = 16_384
const MAX_PATH_SEGMENT = 128

/** A server without routes. Bodies are not read: a handler that wants one reads the stream itself. */
export function createHttpServer({
  limits,
  log,
  metrics,
}: {
  limits: Limits
  log: Log
  metrics: Metrics
}): HttpServer {
  const timeout = limits.request_timeout * 1_000
  const app = fastify({
    logger: false,
    requestTimeout: timeout,
    connectionTimeout: 0,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_SEGMENT, ignoreTrailingSlash: true },
    http: { headersTimeout: timeout, connectionsCheckingInterval: 1_000, maxHeaderSize: MAX_HEADER_BYTES },
    frameworkErrors: (error, _request, reply) => sendFault(reply, frameworkFault(error)),
    clientErrorHandler: answerBrokenRequest,
  })
  app.setNotFoundHandler((_request, reply) => sendFault(reply, notFound()))
  // An unknown path stays one whatever Fastify thinks of the request's headers.
  app.setErrorHandler((error, request, reply) =>
    sendFault(reply, request.is404 ? notFound() : asFault(error, log)),
  )
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.config.name ?? 'none'
    metrics.requestAnswered(route, reply.raw.statusCode, reply.elapsedTime / 1_000)
    log.debug({ route, status: reply.raw.statusCode, ms: Math.round(reply.elapsedTime) }, 'answered')
    done()
  })
  return app
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's name in metrics and logs, where a path as sent never appears. */
    name?: string
  }
}

/**
 * Mounts one handler; other methods on its path are answered 405. Handlers run as onRequest hooks: Fastify would
 * read and judge the body between that and its own handlers, and ours must come to see the token before the body.
 */
export function mount(
  app: HttpServer,
  method: 'GET' | 'POST',
  name: string,
  path: string,
  handler: Handler,
): void {
  const allowed = method === 'GET' ? ['GET', 'HEAD'] : ['POST']
  const others = app.supportedMethods.filter((other) => !allowed.includes(other))
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    try {
      await handler(request, reply)
    } finally {
      // Whatever the handler left unread is discarded, so that the connection can carry the next request.
      request.raw.resume()
    }
  }
  const refuse = async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    sendFault(reply, wrongMethod(allowed.join(' or ')), { Allow: allowed.join(', ') })
  }
  app.route({ method, url: path, config: { name }, onRequest: answer, handler: answered })
  app.route({ method: others, url: path, config: { name }, onRequest: refuse, handler: answered })
}

/** Never reached: the hook has answered. */
function answered(): void {}

function frameworkFault(error: Error & { code?: string }): RequestFault {
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') return notFound()
  return new RequestFault('err.request.bad', 'the address of the request is malformed')
}

/** Requests that are not readable HTTP, or come too slowly, never reach a route; they get the same body. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy()
    return
  }
  const fault = brokenRequestFault(error.code)
  const body = faultBody(fault)
  socket.end(
    `HTTP/1.1 ${fault.httpStatus} ${fault.httpStatus === 408 ? 'Request Timeout' : 'Bad Request'}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function brokenRequestFault(code: string | undefined): RequestFault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new RequestFault('err.request.timeout', 'the request did not arrive in time')
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new RequestFault('err.request.bad', `the headers must be at most ${MAX_HEADER_BYTES} bytes`)
  }
  return new RequestFault('err.request.bad', 'the request is not readable HTTP')
}
