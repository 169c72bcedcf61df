/** Makes the HTTP server of a listener: what all answers have in common, and the handling of all failures. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Limits } from '@rollcall/core/limits'
import type { ModeName } from '@rollcall/core/model/exchange'
import type { DatabaseHealth } from '@rollcall/observe/health'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { type Deprecation, deprecationHeaders, RequestFault } from '@rollcall/protocol'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type AccessLogLevel, addAccessLog } from './access-log.ts'
import { faultBody, faultForError, notFoundFault, sendFault, wrongMethodFault } from './answer.ts'
import { discardUnreadBody, endConnectionsOnClose, isRequestAnswered } from './connections.ts'
import type { RequestGate } from './request-gate.ts'

export type HttpServer = FastifyInstance

/** Handles a request: writes its own answer (`sendJson`, `sendBody`) or throws. */
export type RequestHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | void

const MAX_HEADER_BYTES = 16_384
/** In UTF-16 units: a sender_id has up to 255 characters, of up to two units; a stored message_id (`messageIdKey`) up to 255. */
const MAX_PATH_SEGMENT_CHARACTERS = 512

/**
 * The methods that the router knows. Every other method is treated as `UNSERVED_METHOD`, which every path refuses. The list is
 * short because the router compiles each method of each path at the start, which would take long for all methods of Node.js.
 */
const ROUTED_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS']
const UNSERVED_METHOD = 'TRACE'

/** Creates a server without routes. It reads no bodies: a handler reads the stream of the request. */
export function createHttpServer(deps: {
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Metrics
  readonly databaseHealth: Pick<DatabaseHealth, 'failed'>
  readonly requestGate: RequestGate
  /** The log level of the access log (`addAccessLog`); `info` by default. */
  readonly accessLevel?: AccessLogLevel
}): HttpServer {
  const { limits, requestGate, accessLevel = 'info' } = deps
  const timeout = limits.request_timeout * 1_000
  const app = fastify({
    logger: false,
    // With `serverFactory` there is one server, whatever host is configured. Otherwise Fastify would create a second one for
    // `localhost`, without our handlers.
    serverFactory: (handler) =>
      createServer(
        {
          requestTimeout: timeout,
          headersTimeout: timeout,
          connectionsCheckingInterval: 1_000,
          keepAliveTimeout: 65_000,
          maxHeaderSize: MAX_HEADER_BYTES,
          // Node.js would refuse a request without Host with an empty answer. `findFaultBeforeHandler` refuses it with our error
          // body.
          requireHostHeader: false,
        },
        (request, response) => {
          if (!ROUTED_METHODS.includes(request.method ?? '')) request.method = UNSERVED_METHOD
          handler(request, response)
        },
      ),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PATH_SEGMENT_CHARACTERS, ignoreTrailingSlash: true },
    frameworkErrors: (error, _request, reply) => sendFault(reply, frameworkFault(error)),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, requestGate),
  })
  app.server.on('connect', (_request, socket: Socket) =>
    endWithFault(socket, new RequestFault('err.request.bad', 'this server is not a proxy', 405)),
  )
  app.server.on('checkContinue', sendContinueWhenRead)
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1). Node.js would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const refuse = (request: FastifyRequest, reply: FastifyReply, fault: RequestFault): void =>
    sendFault(reply, requestGate.faultToAnswer(request.raw, fault))
  // The hook refuses an unknown path at once: before its own 404, Fastify would wait for the body.
  app.addHook('onRequest', (request, reply, done) => {
    const fault = findFaultBeforeHandler(request)
    if (fault === null) return done()
    refuse(request, reply, fault)
    discardUnreadBody(request.raw)
  })
  app.setNotFoundHandler((request, reply) => refuse(request, reply, notFoundFault()))
  app.setErrorHandler((error, request, reply) => refuse(request, reply, faultForError(error, deps)))
  endConnectionsOnClose(app, (socket) => endWithFault(socket, requestTimeoutFault()))
  addAccessLog(app, deps, { level: accessLevel })
  return app
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the route in metrics and logs. Metrics and logs never have the path as it was sent. */
    name?: string
    /** The mode of the operation that the route serves: `sync` or `async`. */
    mode?: ModeName
  }
}

/**
 * Headers that a request may have only once, by name in lower case. Node.js uses the first of two; a proxy before us may have
 * used the second.
 */
const SINGLE_HEADERS = new Map(['Host', 'Authorization', 'Content-Type'].map((name) => [name.toLowerCase(), name]))

/**
 * Why a request is refused before its handler: HTTP/1.1 without Host, a header of `SINGLE_HEADERS` twice, or an unknown path.
 * Null: it is not refused.
 */
function findFaultBeforeHandler({ raw, is404 }: FastifyRequest): RequestFault | null {
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
    return new RequestFault('err.request.bad', 'Host: is required')
  }
  const sent = new Set<string>()
  // `rawHeaders` has a name, its value, the next name and so on.
  for (let at = 0; at < raw.rawHeaders.length; at += 2) {
    const name = SINGLE_HEADERS.get(raw.rawHeaders[at]?.toLowerCase() ?? '')
    if (name !== undefined && sent.has(name)) return new RequestFault('err.request.bad', `${name}: must be sent once`)
    if (name !== undefined) sent.add(name)
  }
  return is404 ? notFoundFault() : null
}

/** Sends 100 Continue when the handler begins to read the body. By then the handler has checked the token, if it needs one. */
function sendContinueWhenRead(this: Server, request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue()
  })
  this.emit('request', request, response)
}

export type RouteMethod = 'GET' | 'POST'

/** The handler of one method at a path. */
export interface MethodHandler {
  readonly method: RouteMethod
  /** The name of the route in metrics and logs. */
  readonly name: string
  /** The mode of the operation that the path serves: `sync` or `async`. */
  readonly mode?: ModeName
  /** Set when the route is deprecated: headers of every answer say so. */
  readonly deprecated: Deprecation | undefined
  readonly handler: RequestHandler
}

/** Mounts the handler of a path; other methods get 405. @param route its name, or name, mode and `deprecated` */
export function mountHandler(
  app: HttpServer,
  method: RouteMethod,
  route: string | Omit<MethodHandler, 'method' | 'handler'>,
  path: string,
  handler: RequestHandler,
): void {
  const named = typeof route === 'string' ? { name: route, deprecated: undefined } : route
  mountMethods(app, path, [{ method, ...named, handler }])
}

/**
 * Mounts the handlers of a path, at least one; other methods get 405. A handler runs as an onRequest hook, before Fastify reads
 * and checks the body, so a handler can check the token first.
 */
export function mountMethods(app: HttpServer, path: string, rows: readonly MethodHandler[]): void {
  const allowed = rows.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const others = [...ROUTED_METHODS, UNSERVED_METHOD].filter((other) => !allowed.includes(other))
  for (const { method, handler, deprecated, ...config } of rows) {
    const headers = deprecated === undefined ? [] : Object.entries(deprecationHeaders(deprecated))
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      for (const [name, value] of headers) reply.raw.setHeader(name, value)
      try {
        await handler(request, reply)
      } finally {
        discardUnreadBody(request.raw)
      }
    }
    app.route({ method, url: path, config, onRequest: answer, handler: neverCalledHandler })
  }
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.raw.setHeader('Allow', allowed.join(', '))
    discardUnreadBody(request.raw)
    throw wrongMethodFault(allowed.join(' or '))
  }
  const name = rows.map((row) => row.name).join(' or ')
  app.route({ method: others, url: path, config: { name }, onRequest: refuse, handler: neverCalledHandler })
}

type MountedCall = Pick<MethodHandler, 'method' | 'name' | 'deprecated'> & { readonly path: string }

/** Mounts a table of calls below a path. `{name}` in the path of a call is a parameter, and calls may share a path. */
export function mountCalls<Call extends MountedCall>(
  app: HttpServer,
  base: string,
  calls: readonly Call[],
  handlerOf: (call: Call) => RequestHandler,
): void {
  for (const [path, rows] of Map.groupBy(calls, (call) => call.path)) {
    const handlers = rows.map((call) => ({
      method: call.method,
      name: call.name,
      deprecated: call.deprecated,
      handler: handlerOf(call),
    }))
    mountMethods(app, `${base}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, handlers)
  }
}

/** Fastify needs a handler but never calls this one, because the `onRequest` hook of the route has answered. */
function neverCalledHandler(): void {}

function frameworkFault(error: Error & { code?: string }): RequestFault {
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') return notFoundFault()
  return new RequestFault('err.request.bad', 'the address of the request is malformed')
}

/** Answers a request that is no readable HTTP, or comes too slowly, with an error body. Such a request reaches no route. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket, requestGate: RequestGate): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else endWithFault(socket, requestGate.faultToAnswer({ socket, headers: {} }, brokenRequestFault(error.code)))
}

/** Writes the answer to the socket and ends the connection. If the request was answered before, only ends the connection. */
function endWithFault(socket: Socket, fault: RequestFault): void {
  if (!socket.writable || isRequestAnswered(socket)) {
    socket.destroy()
    return
  }
  const body = faultBody(fault)
  socket.end(
    `HTTP/1.1 ${fault.httpStatus} ${STATUS_CODES[fault.httpStatus]}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const requestTimeoutFault = (): RequestFault => new RequestFault('err.request.timeout', 'the request did not arrive in time')

function brokenRequestFault(code: string | undefined): RequestFault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeoutFault()
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new RequestFault('err.request.bad', `the headers must be at most ${MAX_HEADER_BYTES} bytes`)
  }
  return new RequestFault('err.request.bad', 'the request is not readable HTTP')
}
