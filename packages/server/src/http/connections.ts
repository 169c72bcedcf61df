/** Handles connections: unread bytes of requests that were answered early, and connections of a server that closes. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Connections whose request was answered while bytes of it still arrive. */
const answeredSockets = new WeakSet<Socket>()

/** The longest body, in bytes, whose unread rest is read so that the connection can be used again. */
const MAX_KEEP_ALIVE_BODY_BYTES = 65_536
/**
 * How many bytes, and for how many milliseconds, a sender may still send before its connection is cut. If the connection were cut
 * at once, the sender would lose the answer.
 */
const LINGER_LIMITS = { bytes: 8_388_608, milliseconds: 5_000 }

/**
 * True when the connection ends with this answer: the request has not arrived whole, and its body is long or of unknown
 * length. Must be called while the answer is written.
 */
export function mustEndConnection(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && (encoding !== undefined || Number(length) > MAX_KEEP_ALIVE_BODY_BYTES)
}

/**
 * Discards the unread bytes of a request. After a short body the connection is used again. A long body, or one of unknown length,
 * is read until the sender can have seen its answer; then the connection is cut.
 */
export function discardUnreadBody(request: IncomingMessage): void {
  if (!request.complete) {
    const { socket } = request
    answeredSockets.add(socket)
    request.once('end', () => answeredSockets.delete(socket))
    if (mustEndConnection(request)) lingerOnConnection(request)
  }
  request.resume()
}

function lingerOnConnection(request: IncomingMessage): void {
  const { socket } = request
  // After the answer Node.js calls `destroySoon`, which would cut the connection while the sender still sends.
  const { destroySoon } = socket
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), LINGER_LIMITS.milliseconds)
    socket.once('close', () => clearTimeout(timer))
    if (request.complete) destroySoon.call(socket)
    else request.once('end', () => destroySoon.call(socket))
  }
  let left = LINGER_LIMITS.bytes
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
}

/**
 * True when the request that still arrives on a connection was answered already. Then nobody may send an error answer: the peer
 * would take it for the answer to its next request.
 */
export function isRequestAnswered(socket: Socket): boolean {
  return answeredSockets.has(socket)
}

/** Milliseconds between two checks of the connections of a server that closes. */
const CONNECTION_CHECK_PERIOD_MS = 50

/**
 * Lets `close` of the server end soon. A Node.js server that closes ignores its time limits, so one silent connection would keep
 * the server open forever. This function ends connections without a request. If a request has not arrived whole after
 * `requestTimeout` milliseconds, its connection goes to `refuse`. The handlers answer all other requests.
 */
export function endConnectionsOnClose(app: FastifyInstance, refuse: (socket: Socket) => void): void {
  const sockets = new Set<Socket>()
  const unanswered = new Map<ServerResponse, IncomingMessage>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    unanswered.set(response, request)
    response.once('close', () => unanswered.delete(response))
  })

  let sweeping: NodeJS.Timeout | undefined
  app.addHook('preClose', (done) => {
    const deadline = performance.now() + app.server.requestTimeout
    sweeping = setInterval(() => {
      const late = performance.now() > deadline
      const busy = new Set<Socket>()
      for (const { socket, complete } of unanswered.values()) {
        busy.add(socket)
        if (late && !complete) refuse(socket)
      }
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
    }, CONNECTION_CHECK_PERIOD_MS)
    done()
  })
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweeping)
    done()
  })
}
