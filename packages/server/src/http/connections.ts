/** Connections: unread rests of requests that were answered early, and the end of a server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Connections on which the rest of a request still comes though it has been answered. */
const answered = new WeakSet<Socket>()

/** Bytes of a body that are worth reading for the sake of the connection. */
const WORTH_READING = 65_536
/** Bytes and milliseconds in which a sender can notice its answer: cutting the connection earlier loses the answer. */
const LINGER = { bytes: 8_388_608, milliseconds: 5_000 }

/**
 * True when the connection ends with this answer, because too much of the request's body is unread. Call it when the
 * answer is written.
 */
export function endsWithAnswer(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  return !request.complete && (encoding !== undefined || Number(length) > WORTH_READING)
}

/**
 * Discards the unread rest of a request. After a small rest the connection is used again; of a large one only so much
 * is read that the sender sees its answer, and the connection is cut.
 */
export function discardRest(request: IncomingMessage): void {
  if (!request.complete) {
    const { socket } = request
    answered.add(socket)
    request.once('end', () => answered.delete(socket))
    if (endsWithAnswer(request)) linger(request)
  }
  request.resume()
}

function linger(request: IncomingMessage): void {
  const { socket } = request
  // Node's own way, after the answer is written, would cut the connection while the sender is still sending.
  const { destroySoon } = socket
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), LINGER.milliseconds)
    socket.once('close', () => clearTimeout(timer))
    if (request.complete) destroySoon.call(socket)
    else request.once('end', () => destroySoon.call(socket))
  }
  let left = LINGER.bytes
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) socket.destroy()
  })
}

/** True when the incoming request was answered: the peer would take a second answer for that to its next request. */
export function isAnswered(socket: Socket): boolean {
  return answered.has(socket)
}

/** How often a closing server looks for connections to end. Milliseconds. */
const SWEEP = 50

/**
 * Makes `close` end. A closing Node server ignores time limits, so one silent connection would keep it forever. This
 * ends connections without a request, and hands requests that do not arrive within the server's limit to `refuse`; the
 * others are answered.
 */
export function endOrderly(app: FastifyInstance, refuse: (socket: Socket) => void): void {
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
    }, SWEEP)
    done()
  })
  app.addHook('onClose', (_app, done) => {
    clearInterval(sweeping)
    done()
  })
}
