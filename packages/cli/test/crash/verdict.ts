/** The conditions that must hold in the end, whatever was killed: counted by the receiver, and in the database. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Load } from './load.ts'
import type { World } from './world.ts'

/** Milliseconds for everything to be answered, once the nodes run again: after them, what hangs has hung. */
const PATIENCE = 300_000

/** Waits until nothing is left to do, and fails with what is lost, doubled or left over. */
export async function expectNothingLost(world: World, load: Load): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(100)) {
    if (missing(world, load).length === 0 && (await leftOver(world)).length === 0) break
  }
  expect(load.acknowledged.size).toBeGreaterThan(0)
  expect({
    problems: load.problems,
    unreadable: world.receiver.unreadable,
    missing: missing(world, load),
    leftOver: await leftOver(world),
    halfDone: await halfDone(world),
    doubled: doubled(world),
  }).toEqual({ problems: [], unreadable: [], missing: [], leftOver: [], halfDone: [], doubled: [] })
}

/** Pages of acknowledged requests that did not come, or not as they must be. */
function missing({ receiver }: World, { acknowledged }: Load): string[] {
  return [...acknowledged].flatMap(([correlation_id, { pages, records }]) => {
    const answer = receiver.answers.get(correlation_id)
    if (answer === undefined) return [`${correlation_id} was not answered`]
    const found = [...answer.values()].reduce((sum, page) => sum + page.records, 0)
    const statuses = new Set([...answer.values()].flatMap((page) => [...page.statuses]))
    const numbers = [...answer.keys()].sort()
    const wanted = Array.from({ length: pages }, (_, index) => index + 1)
    if (String(numbers) !== String(wanted)) return [`${correlation_id} has pages ${numbers} of ${pages}`]
    if (found !== records) return [`${correlation_id} has ${found} records of ${records}`]
    return String([...statuses]) === 'succ' ? [] : [`${correlation_id} was answered ${[...statuses]}`]
  })
}

/** Finds pages that came with several message_ids or contents. The same message may come again. */
function doubled({ receiver }: World): string[] {
  return [...receiver.answers].flatMap(([correlation_id, pages]) =>
    [...pages].flatMap(([page, { message_ids, contents }]) =>
      message_ids.size === 1 && contents.size === 1
        ? []
        : [`${correlation_id} page ${page}: ${message_ids.size} messages, ${contents.size} contents`],
    ),
  )
}

/** Rows by which one sees that something is still to be done, or was left lying. */
const LEFT_OVER = {
  'exchanges not answered': `select count(*) from accepted_exchange where state not in ('replied', 'failed')`,
  'exchanges failed': `select count(*) from accepted_exchange where state = 'failed'`,
  'deliveries not delivered': `select count(*) from delivery where state <> 'delivered'`,
  'claims left': `select (select count(*) from delivery where claim is not null)
    + (select count(*) from accepted_exchange where claim is not null) as count`,
} as const

/** States that must never exist, because all of their parts are written in one transaction. */
const HALF_DONE = {
  'remembered, not accepted': `select count(*) from exchange where operation = 'search'
    and not exists (select from accepted_exchange where correlation_id = exchange.correlation_id)`,
  'accepted, not remembered': `select count(*) from accepted_exchange as accepted
    where not exists (select from exchange where correlation_id = accepted.correlation_id)`,
  'answered, no delivery': `select count(*) from accepted_exchange as accepted
    where page <> (select count(*) from delivery where correlation_id = accepted.correlation_id)`,
  'answered, no item': `select count(*) from accepted_exchange as accepted
    where items <> (select count(*) from exchange_item where correlation_id = accepted.correlation_id)`,
  'deliveries of one page': `select count(*) from (select from delivery group by correlation_id, page
    having count(*) > 1) as doubled`,
  'deliveries without exchange': `select count(*) from delivery
    where not exists (select from accepted_exchange where correlation_id = delivery.correlation_id)`,
  'sent, without an audit entry': `select count(*) from delivery
    where not exists (select from account where reply_message_id = delivery.message_id)`,
  'attempts uncounted': `select count(*) from delivery
    where attempts <> (select count(*) from delivery_attempt where delivery = delivery.id)`,
} as const

const leftOver = (world: World) => found(world, LEFT_OVER)
const halfDone = (world: World) => found(world, HALF_DONE)

async function found({ db }: World, counts: Readonly<Record<string, string>>): Promise<string[]> {
  const names: string[] = []
  for (const [name, text] of Object.entries(counts)) {
    const { rows } = await db.pool.query<{ count: number }>(text).catch(() => ({ rows: [{ count: -1 }] }))
    const count = rows[0]?.count ?? 0
    if (count !== 0) names.push(`${name}: ${count}`)
  }
  return names
}

/** The number of nodes: each listens on a connection of its own. */
export async function nodeCount({ db }: World): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(
    "select count(*) from pg_stat_activity where query = 'listen rollcall_work'",
  )
  return rows[0]?.count ?? 0
}

/** Attempts that another node took over. */
export async function interrupted({ db }: World): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(`select count(*) from delivery_attempt where error = 'interrupted'`)
  return rows[0]?.count ?? 0
}
