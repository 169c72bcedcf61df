/** Sends requests that are answered by a callback, in three ways: as fast as they are taken, so many at a time, one by one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { median, percentile, rounded } from '../shared/statistics.ts'
import type { Arrival, Receiver } from './receiver.ts'

/** A request to send. */
export interface Question {
  readonly body: string
  readonly transaction_id: string
  /** The identifier that it searches for. */
  readonly asked: string
}

/** Where requests go, ready to be loaded. */
export interface Sender {
  /** Sends one and resolves when it is acknowledged. */
  send(question: Question, often?: 'once' | 'at least once'): Promise<Sent>
  close(): Promise<void>
}

export interface Sent {
  /** `performance.now()` before the first byte. */
  readonly at: number
  /** When the ack was read. */
  readonly acked: number
  readonly answered: Promise<Arrival>
}

/** Milliseconds from a request to its callback, and how many there were a second. */
export interface Delivered {
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** @param headers of all requests */
export function senderTo(
  address: string,
  {
    headers,
    connections,
    receiver,
  }: { readonly headers: Record<string, string>; readonly connections: number; readonly receiver: Receiver },
): Sender {
  const { origin, pathname: path } = new URL(address)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  return {
    async send({ body, ...awaited }, often) {
      const at = performance.now()
      const arrived = receiver.expect(awaited, often)
      const response = await pool.request({ path, method: 'POST', headers, body })
      const answer = (await response.body.json()) as { message?: { ack_status?: string; correlation_id?: string } }
      const acked = performance.now()
      if (response.statusCode !== 200 || answer.message?.ack_status !== 'ACK')
        throw new Error(`a request was not accepted: ${response.statusCode} ${JSON.stringify(answer)}`)
      const { correlation_id } = answer.message
      const answered = arrived.then((arrival) => {
        if (arrival.correlation_id === correlation_id) return arrival
        throw new Error('a callback has another correlation_id than the ack')
      })
      answered.catch(() => undefined)
      return { at, acked, answered }
    },
    close: () => pool.close(),
  }
}

export interface Flooded {
  /** Acknowledged a second. */
  readonly accepted_per_second: number
  readonly ack_p50_ms: number
  readonly ack_p99_ms: number
  /** Answers in a second, from the first request to the last callback. */
  readonly delivered_per_second: number
}

/** Every connection sends its next request when the last one is acknowledged; then all callbacks are waited for. */
export async function flood(sender: Sender, questions: readonly Question[], connections: number): Promise<Flooded> {
  const sent: Sent[] = []
  const start = performance.now()
  await together(connections, questions, async (question) => {
    sent.push(await sender.send(question))
  })
  const arrivals = await Promise.all(sent.map(({ answered }) => answered))
  const acks = sent.map(({ at, acked }) => acked - at)
  const last = (times: readonly number[]): number => times.reduce((one, other) => Math.max(one, other), 0)
  return {
    accepted_per_second: rate(questions.length, last(sent.map(({ acked }) => acked)) - start),
    ack_p50_ms: rounded(median(acks), 2),
    ack_p99_ms: rounded(percentile(acks, 0.99), 2),
    delivered_per_second: rate(questions.length, last(arrivals.map(({ at }) => at)) - start),
  }
}

/** Keeps `many` requests in flight: the next one is sent when a callback has come. */
export async function inFlight(sender: Sender, questions: readonly Question[], many: number): Promise<Delivered> {
  const times: number[] = []
  const start = performance.now()
  let last = start
  await together(many, questions, async (question) => {
    const { at, answered } = await sender.send(question)
    const arrival = await answered
    times.push(arrival.at - at)
    last = Math.max(last, arrival.at)
  })
  return deliveredIn(times, last - start)
}

/** Milliseconds between two when one is sent at a time; random, so as not to keep step with who looks for work. */
const PAUSE = { least: 10, most: 60 }

/** The next one is sent a while after the callback of the one before. */
export async function oneByOne(sender: Sender, questions: readonly Question[]): Promise<Delivered> {
  const times: number[] = []
  const start = performance.now()
  for (const question of questions) {
    await sleep(PAUSE.least + Math.random() * (PAUSE.most - PAUSE.least))
    const { at, answered } = await sender.send(question)
    times.push((await answered).at - at)
  }
  return deliveredIn(times, performance.now() - start)
}

export function deliveredIn(times: readonly number[], milliseconds: number): Delivered {
  return {
    per_second: rate(times.length, milliseconds),
    p50_ms: rounded(median(times), 2),
    p99_ms: rounded(percentile(times, 0.99), 2),
  }
}

const rate = (count: number, milliseconds: number): number => rounded((count * 1_000) / milliseconds, 1)

/** Does all of it, so many at a time; rejects with the first failure. */
async function together<Item>(many: number, items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: many }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

/**
 * The work, unless callbacks do not come.
 * @throws Error when it takes longer than so many seconds
 */
export async function within<Result>(seconds: number, receiver: Receiver, work: Promise<Result>): Promise<Result> {
  const stop = new AbortController()
  const late = sleep(seconds * 1_000, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`after ${seconds} s the callbacks of ${receiver.missing()} requests are missing`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    stop.abort()
    receiver.check()
  }
}
