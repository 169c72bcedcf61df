/** A stretch of time in which healthy participants ask and are called back, with or without one that is not healthy. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@rollcall/database/database'
import type { Identifiers } from '../search/setting.ts'
import type { Receiver } from './receiver.ts'
import { type Delivered, deliveredIn, type Sender, senderTo, within } from './send.ts'
import type { Called } from './setting.ts'

/** The results of the healthy participants, and the end of each request of the other one. */
export interface Phase extends Delivered {
  readonly tenth: { readonly accepted: number; readonly arrived: number }
}

interface Setting {
  readonly db: Database
  readonly receiver: Receiver
  readonly url: string
  readonly identifiers: Identifiers
  readonly healthy: readonly Called[]
  readonly milliseconds: number
  /** Requests of each healthy one that are not answered yet. */
  readonly inFlight: number
  /** Milliseconds until what was begun for a tenth is over. */
  readonly over: number
}

/** Seconds beyond its end that a phase may take. */
const PATIENCE = 60

/**
 * Runs phases. Each healthy participant has so many requests in flight; the other one sends as much as each of them
 * does in the mean: one request when all of them together have sent as many as they are.
 */
export function phases(setting: Setting): (tenth: Called | null) => Promise<Phase> {
  const { db, receiver, url, identifiers, healthy, milliseconds, inFlight, over } = setting
  const open = async ({ headers }: Called, connections: number): Promise<Sender> =>
    senderTo(url, { headers: await headers(), connections, receiver })

  return async (tenth) => {
    const end = performance.now() + milliseconds
    const times: number[] = []
    const other = { accepted: 0, arrived: 0 }
    const opened: Sender[] = []
    const beside = tenth === null ? null : await open(tenth, 8)
    if (beside !== null) opened.push(beside)
    const besides: Promise<void>[] = []
    let sent = 0

    const sendBeside = async (from: Called, sender: Sender): Promise<void> => {
      const [question] = from.questions(identifiers, 1)
      if (question === undefined) return
      // Whoever does not acknowledge is called again.
      const { answered } = await sender.send(question, 'at least once')
      other.accepted += 1
      answered.then(
        () => {
          other.arrived += 1
        },
        () => undefined,
      )
    }
    const ask = async (from: Called, sender: Sender): Promise<void> => {
      do {
        const [question] = from.questions(identifiers, 1)
        if (question === undefined) return
        sent += 1
        if (tenth !== null && beside !== null && sent % healthy.length === 0) besides.push(sendBeside(tenth, beside))
        const { at, answered } = await sender.send(question)
        times.push((await answered).at - at)
      } while (performance.now() < end)
    }
    const start = performance.now()
    const asking = healthy.map(async (from) => {
      const sender = await open(from, inFlight)
      opened.push(sender)
      await Promise.all(Array.from({ length: inFlight }, () => ask(from, sender)))
    })
    await within(milliseconds / 1_000 + PATIENCE, receiver, Promise.all(asking))
    const taken = performance.now() - start
    await Promise.all(besides)
    if (tenth !== null) await forget(db, receiver, tenth, over)
    await Promise.all(opened.map((sender) => sender.close()))
    return { ...deliveredIn(times, taken), tenth: other }
  }
}

/** Nothing of this one may be left for the phases after it. */
async function forget(db: Database, receiver: Receiver, { id, sender_id }: Called, over: number): Promise<void> {
  receiver.behave(sender_id, 'prompt')
  await sleep(over)
  await db.pool.query(
    `update delivery set state = 'dropped', next_attempt_at = null, finished_at = now(), claim = null,
      claimed_until = null where participant = $1 and state = 'pending'`,
    [id],
  )
}
