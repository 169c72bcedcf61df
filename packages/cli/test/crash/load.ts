/** Asynchronous searches without end, and what was acknowledged of them. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { askToken } from '../ask.ts'
import { type Asker, SHARED, type World } from './world.ts'

/** A request, with the numbers of pages and records that answer it. */
interface Question {
  readonly criteria: object
  readonly pages: number
  readonly records: number
}

const QUESTIONS: readonly Question[] = [
  { criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: 'P-3' } }, pages: 1, records: 1 },
  { criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: 'nobody' } }, pages: 1, records: 0 },
  {
    criteria: {
      query_type: 'idtype-value',
      query: { type: 'MOBILE', value: SHARED.phone },
      pagination: { page_size: SHARED.page_size, page_number: 1 },
    },
    pages: SHARED.pages,
    records: SHARED.records,
  },
]

export interface Load {
  /** Acknowledged requests, by correlation_id. */
  readonly acknowledged: ReadonlyMap<string, Question>
  /** Message ids that were sent, and never acknowledged. */
  readonly unacknowledged: ReadonlySet<string>
  /** Requests that were refused or not answered, and sent again: there are some whenever a node is killed, and else none. */
  readonly sentAgain: readonly string[]
  /** Wrong answers. */
  readonly problems: readonly string[]
  /** Sends no more, and waits for what is on its way. */
  stop(): Promise<void>
}

const LANES = 4
/** Milliseconds between two messages of a lane, at most: nodes that start under load need the processor too. */
const PAUSE = 240
/** Messages that may wait for their answers before more are sent: a slow machine would only gather them. */
const OPEN = 60
/** Times that a message is sent at most, when nothing comes back. */
const TRIES = 4

/** @param urls of the nodes that answer now */
export function startLoad(world: World, urls: () => readonly string[]): Load {
  const acknowledged = new Map<string, Question>()
  const unacknowledged = new Set<string>()
  const problems: string[] = []
  const sentAgain: string[] = []
  let stopping = false
  const tokens = new Map<Asker, Promise<string>>()

  const url = (): string | undefined => pick(urls())
  const tokenFrom = (base: string, asker: Asker): Promise<string> => {
    const known = tokens.get(asker)
    if (known !== undefined) return known
    const { client_id } = asker.participant
    const asked = askToken(`${base}/oauth2/client/token`, { client_id, client_secret: asker.secret }).then(
      ({ status, token }) => {
        if (status !== 200) throw new Error(`no token: ${status}`)
        return token
      },
    )
    tokens.set(asker, asked)
    asked.catch(() => tokens.delete(asker))
    return asked
  }

  /** The correlation_id of the ack; null when nothing came back, or only that it should be tried again. */
  const post = async (asker: Asker, text: string): Promise<string | null> => {
    const base = url()
    if (base === undefined) return null
    try {
      const answer = await fetch(`${base}/civil/v1.0.0/registry/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await tokenFrom(base, asker)}` },
        body: text,
        signal: AbortSignal.timeout(30_000),
      })
      const body = await answer.text()
      if (answer.status === 503) {
        sentAgain.push(body)
        return null
      }
      if (answer.status !== 200) throw new Unexpected(`${answer.status} ${body}`)
      const { message } = JSON.parse(body)
      if (message.ack_status !== 'ACK') throw new Unexpected(body)
      return message.correlation_id
    } catch (error) {
      if (error instanceof Unexpected) problems.push(error.message)
      else sentAgain.push(String(error))
      return null
    }
  }

  const sendOne = async (): Promise<void> => {
    const question = pick(QUESTIONS) as Question
    const asker = pick(world.askers) as Asker
    const message_id = randomUUID()
    const text = requestText(world, asker, message_id, question)
    for (let tries = 0; tries < TRIES; tries += 1) {
      const correlation_id = await post(asker, text)
      if (correlation_id === null) {
        await sleep(100 * (tries + 1))
        continue
      }
      acknowledged.set(correlation_id, question)
      // Sent once more it is the same message, whichever node takes it.
      if (Math.random() < 0.1) {
        const again = await post(asker, text)
        if (again !== null && again !== correlation_id) problems.push(`${message_id} was accepted twice`)
      }
      return
    }
    unacknowledged.add(message_id)
  }

  const { answers } = world.receiver
  const before = answers.size
  const open = (): number => acknowledged.size - (answers.size - before)
  const lanes = Array.from({ length: LANES }, async () => {
    while (!stopping) {
      if (open() < OPEN) await sendOne()
      await sleep(Math.random() * PAUSE)
    }
  })
  return {
    acknowledged,
    unacknowledged,
    sentAgain,
    problems,
    async stop() {
      stopping = true
      await Promise.all(lanes)
    },
  }
}

class Unexpected extends Error {}

const pick = <Value>(values: readonly Value[]): Value | undefined => values[Math.floor(Math.random() * values.length)]

function requestText(world: World, { participant }: Asker, message_id: string, { criteria }: Question): string {
  const now = new Date().toISOString()
  return JSON.stringify({
    header: {
      version: '1.0.0',
      message_id,
      message_ts: now,
      action: 'search',
      sender_id: participant.sender_id,
      sender_uri: `${world.receiver.url}/callback`,
      total_count: 1,
      is_msg_encrypted: false,
    },
    message: {
      transaction_id: `t-${message_id}`,
      search_request: [{ reference_id: 'r-1', timestamp: now, search_criteria: criteria }],
    },
  })
}
