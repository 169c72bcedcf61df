/** Eight senders of one large body, on a thread of their own: what they do must not keep the one from its clock who times. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { SHAPES } from './bodies.ts'

export interface SendersStart {
  readonly shape: string
  readonly url: string
  readonly sender_id: string
  readonly sender_uri: string
  readonly authorization: string
  readonly senders: number
  /** The part of a body's full size. */
  readonly size: number
}

/** The number of answers, by HTTP status. */
export type Answered = Readonly<Record<string, number>>

/** Milliseconds after an answer that asks for it: who is over a quota comes again. */
const PAUSE = 250

/** Sends until `going` says no; each sender at least once. */
export async function sendWhile(
  { shape, url, sender_id, sender_uri, authorization, senders, size }: SendersStart,
  going: () => boolean,
): Promise<Answered> {
  const bodies = SHAPES.find(({ name }) => name === shape)?.bodies(size)
  if (bodies === undefined) throw new Error(`there is no shape ${shape}`)
  const answered: Record<string, number> = {}
  const send = async (): Promise<void> => {
    do {
      const headers = { 'Content-Type': 'application/json', Authorization: authorization }
      const response = await fetch(url, { method: 'POST', headers, body: bodies(sender_id, sender_uri) }).catch(() => null)
      await response?.arrayBuffer().catch(() => undefined)
      const status = String(response?.status ?? 'broken off')
      answered[status] = (answered[status] ?? 0) + 1
      if (status === '429' || status === 'broken off') await sleep(PAUSE)
    } while (going())
  }
  await Promise.all(Array.from({ length: senders }, send))
  return answered
}

const start: SendersStart | null = workerData?.shape === undefined ? null : workerData
if (parentPort !== null && start !== null) {
  let going = true
  parentPort.once('message', () => {
    going = false
  })
  parentPort.postMessage('begun')
  parentPort.postMessage(await sendWhile(start, () => going))
}
