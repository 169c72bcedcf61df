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
}

/** How many were answered, by HTTP status. */
export type Answered = Readonly<Record<string, number>>

/** Milliseconds after an answer that asks for it: who is over a quota comes again. */
const PAUSE = 250

async function run({ shape, url, sender_id, sender_uri, authorization, senders }: SendersStart): Promise<Answered> {
  const row = SHAPES.find(({ name }) => name === shape)
  if (row === undefined) throw new Error(`there is no shape ${shape}`)
  const answered: Record<string, number> = {}
  let going = true
  parentPort?.once('message', () => {
    going = false
  })
  const send = async (): Promise<void> => {
    while (going) {
      const headers = { 'Content-Type': 'application/json', Authorization: authorization }
      const response = await fetch(url, { method: 'POST', headers, body: row.body(sender_id, sender_uri) }).catch(
        () => null,
      )
      await response?.arrayBuffer().catch(() => undefined)
      const status = String(response?.status ?? 'broken off')
      answered[status] = (answered[status] ?? 0) + 1
      if (status === '429' || status === 'broken off') await sleep(PAUSE)
    }
  }
  parentPort?.postMessage('begun')
  await Promise.all(Array.from({ length: senders }, send))
  return answered
}

if (parentPort !== null) parentPort.postMessage(await run(workerData as SendersStart))
