/**
 * Where callbacks arrive: in the process that sends the requests, so that one clock times both ends. It knows every
 * request that was sent, and whatever else arrives, or arrives twice, fails the benchmark.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkAnswer } from '../search/answers.ts'

/** A callback that is awaited. */
export interface Awaited {
  readonly transaction_id: string
  /** The identifier that was searched for. */
  readonly asked: string
}

/** A callback that arrived. */
export interface Arrival {
  /** `performance.now()` when the last byte was read. */
  readonly at: number
  readonly correlation_id: string
  readonly body: string
}

/** The way in which a path answers: it acknowledges at once, after a while, or never. */
export type Manner = 'prompt' | 'slow' | 'hangs'

export interface Receiver {
  /** The address that this one is to be called at. */
  address(name: string): string
  behave(name: string, manner: Manner): void
  /**
   * Resolves when the callback is there. Rejects when anything is wrong with any callback.
   * @param often how often it may arrive: exactly once, or at least once where its receiver does not acknowledge it
   */
  expect(awaited: Awaited, often?: 'once' | 'at least once'): Promise<Arrival>
  /** The number of expected callbacks that have not arrived. */
  missing(): number
  /** Throws the first thing that was wrong. */
  check(): void
  /** Ends its connections: whoever waits for an answer gets none. */
  hangUp(): void
  close(): Promise<void>
}

interface Expected extends Awaited {
  readonly often: 'once' | 'at least once'
  readonly arrived: PromiseWithResolvers<Arrival>
  arrivals: number
}

/** One of this many callbacks is read as a whole. Of the others only the answered request is read. */
const READ_EVERY = 64
/** Milliseconds that a slow receiver takes. */
export const SLOW_BY = 2_000

export async function startReceiver(): Promise<Receiver> {
  const expected = new Map<string, Expected>()
  const manners = new Map<string, Manner>()
  let missing = 0
  let received = 0
  let problem: Error | undefined

  const fail = (error: Error): void => {
    problem ??= error
    for (const { arrived } of expected.values()) arrived.reject(error)
  }
  const take = (body: string): void => {
    const at = performance.now()
    const { message } = JSON.parse(body) as { message: { correlation_id: string; transaction_id: string } }
    const known = expected.get(message.transaction_id)
    if (known === undefined) throw new Error('a callback answers nothing that was asked')
    received += 1
    if (received % READ_EVERY === 1) checkAnswer(200, body, known.asked)
    known.arrivals += 1
    if (known.arrivals > 1) {
      if (known.often === 'once') throw new Error('a request was answered twice')
      return
    }
    missing -= 1
    known.arrived.resolve({ at, correlation_id: message.correlation_id, body })
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    take(await text(request))
    const manner = manners.get(request.url ?? '') ?? 'prompt'
    if (manner === 'hangs') return
    if (manner === 'slow') await sleep(SLOW_BY, undefined, { ref: false })
    response.writeHead(200, { 'content-type': 'application/json' }).end(ACK)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      // Whoever gives up waiting takes the connection with it; that is no callback gone wrong.
      if (!request.destroyed || request.complete) fail(error)
      response.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo

  return {
    address: (name) => `http://127.0.0.1:${port}/${name}/on-search`,
    behave: (name, manner) => void manners.set(`/${name}/on-search`, manner),
    expect({ transaction_id, asked }, often = 'once') {
      const arrived = Promise.withResolvers<Arrival>()
      // Whoever waits for it may come later.
      arrived.promise.catch(() => undefined)
      if (problem !== undefined) arrived.reject(problem)
      expected.set(transaction_id, { transaction_id, asked, often, arrived, arrivals: 0 })
      missing += 1
      return arrived.promise
    },
    missing: () => missing,
    check() {
      if (problem !== undefined) throw problem
    },
    hangUp: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const ACK = JSON.stringify({
  message: { ack_status: 'ACK', timestamp: '2026-02-03T09:15:00.000Z', correlation_id: '5f0f9c1e-receiver' },
})
