/**
 * Nodes killed while events fan out and while a tick is sent: every committed event reaches every subscription, in order,
 * under one message_id and no other. `ROLLCALL_CRASH_CYCLES=100 npx vitest run packages/cli/test/crash` runs for longer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { findRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { eventRows, type Subscribed } from '../../../server/test/notifications.ts'
import { type NotifiedReceiver, notifiedReceiver } from './notified.ts'
import { crashWorld, type Node, type World } from './world.ts'

/** One for each of the two nodes. */
const CYCLES = Number(process.env.ROLLCALL_CRASH_CYCLES ?? 2)
vi.setConfig({ testTimeout: 900_000 + CYCLES * 6_000 })

/** Mailboxes of each participant. */
const ADDRESSES = 10
/** Events of one cycle. */
const EVENTS = 4

let world: World
let receiver: NotifiedReceiver
let rows: ReturnType<typeof eventRows>
/** The subscribed mailboxes, by path of their address. */
const mailboxes = new Map<string, Subscribed>()

beforeAll(async () => {
  world = await crashWorld()
  receiver = await notifiedReceiver()
  const registry = await findRegistry(world.db, 'civil')
  if (registry === null) throw new Error('there is no registry')
  rows = eventRows({ db: world.db }, registry)
  for (const [at, { participant }] of world.askers.entries()) {
    await setCallbackSettings(world.db, participant.id, { allowed: [receiver.url], notify_items: 3 })
    for (let nth = 0; nth < ADDRESSES; nth += 1) {
      const sender_uri = `${receiver.url}/${at}/${nth}/on-subscribe`
      mailboxes.set(`/${at}/${nth}/notify`, await rows.subscribe(participant, { sender_uri }))
    }
  }
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

/** Publishes one event to all mailboxes, at once or when it is due: committed whole or not at all. */
async function publish(name: string, due: Date | null = null): Promise<void> {
  const event = await rows.event(name)
  await world.db.pool.query(
    `with told as (
        insert into notification (mailbox, event, subscription, presence, due_at)
        select mailbox, $1, id, 'entered', coalesce($2, statement_timestamp())
        from subscription order by id
      )
      select pg_notify('rollcall_work', 'm')`,
    [event, due],
  )
}

async function waiting(): Promise<number> {
  const { rows: counted } = await world.db.pool.query<{ count: number }>(
    `select (select count(*) from notification where state = 'waiting')
      + (select count(*) from delivery where mailbox is not null and state <> 'delivered') as count`,
  )
  return counted[0]?.count ?? 0
}

test(`${CYCLES} times nodes are killed while notifications leave`, async () => {
  const nodes: Node[] = await Promise.all([world.node(), world.node()])
  const published: string[] = []
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    // Held notifications go together at one moment, while the others leave at once.
    const tick = Array.from({ length: EVENTS }, (_, nth) => `tick ${cycle}.${nth}`)
    const dueAt = Date.now() + 2_000
    for (const [nth, name] of tick.entries()) {
      await publish(name, new Date(dueAt))
      await publish(`now ${cycle}.${nth}`)
      published.push(name, `now ${cycle}.${nth}`)
      await sleep(Math.random() * 300)
      if (nth % 2 === 1) {
        await nodes[cycle % 2]?.running.stop('SIGKILL')
        nodes[cycle % 2] = await world.node()
      }
    }
    // In the middle of the tick.
    await sleep(Math.max(0, dueAt - Date.now() + Math.random() * 300))
    await Promise.all(nodes.map(({ running }) => running.stop('SIGKILL')))
    nodes.splice(0, 2, ...(await Promise.all([world.node(), world.node()])))
  }
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 300_000, interval: 200 })
  for (const path of mailboxes.keys()) {
    const { message_ids, contents, sequences } = receiver.addresses.get(path) ?? expect.fail(`nothing at ${path}`)
    expect([...message_ids.keys()].toSorted(), path).toEqual(published.toSorted())
    for (const [name, ids] of message_ids) expect(ids.size, `${path} ${name}`).toBe(1)
    for (const [id, texts] of contents) expect(texts.size, `${path} ${id}`).toBe(1)
    const inOrder = [...sequences].toSorted(([a], [b]) => a - b)
    expect(inOrder.map(([sequence]) => sequence)).toEqual(inOrder.map((_, index) => index + 1))
    for (const kind of ['tick', 'now']) {
      const of = (names: readonly string[]) => names.filter((name) => name.startsWith(kind))
      expect(of(inOrder.flatMap(([, names]) => names)), path).toEqual(of(published))
    }
  }
})
