/**
 * Subscriptions that are due at one tick: how long it takes until all of them are notified, how much memory the worker uses
 * meanwhile, and how searches fare, with one node of both roles and with one of each.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { EventsPlan } from '../events.ts'
import { ASKER_SENDER, NAMESPACE, questionsOf } from '../search/question.ts'
import { credentialsOf, shuffledIdentifiers } from '../search/registry.ts'
import { authorization, endless, type Identifiers, JSON_BODY } from '../search/setting.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import type { Row } from '../shared/results.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { median, rounded } from '../shared/statistics.ts'
import { type CountingReceiver, countingReceiver } from './receiver.ts'
import { ANNOUNCE, makeEvents, makeSubscribers } from './subscribers.ts'

/** The most by which the tick may raise the median of searches, on one node of both roles. */
const BAR = 3
/** Seconds from the tick to the first envelope. */
const FIRST = 1
/** Bytes by which the worker may grow. */
const MEMORY = 512 * 2 ** 20

/** Subscriptions of each address: their notifications travel together. */
const EACH = 10
/** Held notifications are due after their commit: this multiple of the time that holding took, or the least time of the plan. */
const HELD_TIMES = 3
/** Milliseconds between two searches, and between two looks at the memory. */
const PAUSE = 5
const LOOK = 100

export async function tick(
  database: BenchDatabase,
  registry: Registry,
  plan: EventsPlan,
): Promise<{ readonly rows: readonly Row[]; readonly result: object }> {
  const { subscriptions, addresses } = plan
  const { db, start } = database
  const identifiers = endless(await shuffledIdentifiers(db, registry))
  const credentials = await credentialsOf(db, ASKER_SENDER, { signature_policy: 'if-present', allow_unsigned: true })
  const receiver = await countingReceiver()
  const result: Record<string, object> = {}
  const rows: Row[] = []
  try {
    for (const roles of [['all'], ['http', 'worker']]) {
      const mailboxes = Math.ceil(subscriptions / EACH)
      await makeSubscribers(db, registry, receiver.url, {
        participants: Math.ceil(mailboxes / addresses),
        addresses,
        subscriptions: EACH,
      })
      const nodes = await Promise.all(roles.map((role) => start('servers/rollcall', { ROLLCALL_ROLE: role })))
      const [front] = nodes
      const worker = nodes.at(-1)
      if (front === undefined || worker === undefined) throw new Error('no node was started')
      const ask = searcher(front, await authorization(front, credentials), identifiers)
      const measured = await measure(plan, { db, registry, receiver, worker }, ask)
      await Promise.all(nodes.map((node) => node.stop()))
      const name = roles.join(' and ')
      const ratio = measured.during / measured.before
      const grown = measured.memory - measured.memoryBefore
      const bar = roles.length > 1 ? '' : `, searches at most ${BAR} times`
      rows.push({
        what: `events, tick, node ${name}`,
        ours: `${measured.items} notifications in ${measured.envelopes} envelopes within ${rounded(measured.seconds, 1)} s, ${Math.round(measured.cpu_us)} µs of the worker each`,
        floor: `searches ${rounded(measured.before, 1)} ms before, ${rounded(measured.during, 1)} ms meanwhile`,
        figure: `first after ${rounded(measured.first, 2)} s, memory +${Math.round(grown / 2 ** 20)} MB, searches ${rounded(ratio, 2)} times`,
        wanted: `first within ${FIRST} s, memory +${MEMORY / 2 ** 20} MB${bar}`,
        passed: measured.first <= FIRST && grown <= MEMORY && (roles.length > 1 || ratio <= BAR),
      })
      result[name] = { ...measured, ratio: rounded(ratio, 2), bar: BAR }
    }
  } finally {
    await receiver.close()
  }
  return { rows, result }
}

type Search = () => Promise<number>

/** Makes a search that is timed in milliseconds. */
function searcher({ url }: ServerProcess, token: string, identifiers: Identifiers): Search {
  const ask = questionsOf({ sender_id: ASKER_SENDER })
  const address = `${url}/${NAMESPACE}/v1.0.0/registry/sync/search`
  return async () => {
    const began = performance.now()
    const response = await fetch(address, {
      method: 'POST',
      headers: { ...JSON_BODY, Authorization: token },
      body: ask(identifiers.next().value, randomUUID()),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`a search was answered ${response.status}`)
    return performance.now() - began
  }
}

interface Sides {
  readonly db: Database
  readonly registry: Registry
  readonly receiver: CountingReceiver
  readonly worker: ServerProcess
}

async function measure({ before: asking, held }: EventsPlan, { db, registry, receiver, worker }: Sides, search: Search) {
  const before = await searchesWhile(search, sleep(asking))
  const events = await makeEvents(db, registry, EACH)
  // The transaction that holds them takes as long as it takes: the tick is set when all of it is there.
  const holding = performance.now()
  const { rowCount } = await db.pool.query(
    `insert into notification (mailbox, event, subscription, presence, due_at)
      select mailbox, ($1::bigint[])[1 + id % ${EACH}], id, 'entered', 'infinity' from subscription order by id`,
    [events],
  )
  const items = rowCount ?? 0
  const due = Date.now() + held + HELD_TIMES * (performance.now() - holding)
  receiver.begin()
  await db.pool.query('update notification set due_at = $1', [new Date(due)])
  await db.pool.query('vacuum analyze notification')
  await db.pool.query(ANNOUNCE)
  const { rss_bytes: memoryBefore, cpu_us: used } = await worker.usage()
  if (Date.now() >= due) throw new Error('the tick was before all of it was there')
  await sleep(due - Date.now())
  const began = performance.now()
  const all = receiver.awaitItems(items)
  let memory = 0
  const looking = whileAwaiting(all, async () => {
    memory = Math.max(memory, (await worker.usage()).rss_bytes)
    await sleep(LOOK)
  })
  const during = await searchesWhile(search, all)
  await looking
  const { envelopes, first } = receiver.counted()
  return {
    items,
    envelopes,
    memory,
    memoryBefore,
    // On a node of both roles with that of the searches.
    cpu_us: ((await worker.usage()).cpu_us - used) / envelopes,
    seconds: ((await all) - began) / 1_000,
    first: (first - began) / 1_000,
    before: median(before),
    during: median(during),
  }
}

async function searchesWhile(search: Search, work: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  await whileAwaiting(work, async () => {
    times.push(await search())
    await sleep(PAUSE)
  })
  return times
}

async function whileAwaiting(work: Promise<unknown>, step: () => Promise<void>): Promise<void> {
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  do await step()
  while (!over)
  await ended
}
