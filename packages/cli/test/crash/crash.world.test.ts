/**
 * Nodes killed, stopped, paused and cut off from the database while requests are accepted: what was acknowledged is
 * answered, once. `ROLLCALL_CRASH_CYCLES=100 npx vitest run packages/cli/test/crash` runs for longer.
 */
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { lossyWay } from '../../../database/test/lossy-connection.ts'
import { databaseUrl } from '../command.ts'
import { type Load, startLoad } from './load.ts'
import { expectNothingLost, interrupted, nodeCount } from './verdict.ts'
import { crashWorld, type Node, type World } from './world.ts'

const CYCLES = Number(process.env.ROLLCALL_CRASH_CYCLES ?? 2)
vi.setConfig({ testTimeout: 900_000 + CYCLES * 6_000 })

/** Milliseconds after which what a test waits for does not come any more, however busy the machine is. */
const PATIENCE = 300_000

let world: World

beforeAll(async () => {
  world = await crashWorld()
})
beforeEach(() => {
  world.receiver.treat = moody
})
afterEach(() => world.killNodes())
afterAll(() => world.close())

/** Now and then it fails, so that retries are under way when something else happens. */
const moody: World['receiver']['treat'] = (response) => {
  const mood = Math.random()
  if (mood < 0.03) response.socket?.resetAndDestroy()
  else if (mood < 0.06) response.writeHead(500).end()
  else return 'answer'
  return 'done'
}

const random = (from: number, to: number): number => from + Math.random() * (to - from)

/** Until so many more messages were acknowledged. */
async function moreAcknowledged({ acknowledged }: Load, count: number): Promise<void> {
  const enough = acknowledged.size + count
  await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(enough), { timeout: PATIENCE, interval: 5 })
}

test(`${CYCLES} times nodes are killed while they accept and answer`, async () => {
  const nodes: Node[] = await Promise.all([world.node(), world.node()])
  const load = startLoad(world, () => nodes.map(({ url }) => url))
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await moreAcknowledged(load, random(5, 100))
    const killed = cycle % 3 === 2 ? [0, 1] : [cycle % 2]
    await Promise.all(
      killed.map(async (at) => {
        await nodes[at]?.running.stop('SIGKILL')
        nodes[at] = await world.node()
      }),
    )
  }
  await load.stop()
  await expectNothingLost(world, load)
  await vi.waitFor(async () => expect(await nodeCount(world)).toBe(2), PATIENCE)
})

test('nodes are replaced one after the other under load', async () => {
  const nodes = await Promise.all([world.node(), world.node()])
  const load = startLoad(world, () => nodes.map(({ url }) => url))
  for (let at = 0; at < nodes.length; at += 1) {
    await moreAcknowledged(load, 50)
    const old = nodes[at] as Node
    nodes[at] = await world.node()
    expect(await old.running.stop('SIGTERM')).toMatchObject({ code: 0 })
  }
  await moreAcknowledged(load, 20)
  await load.stop()
  await expectNothingLost(world, load)
  expect(await nodeCount(world)).toBe(2)
})

test('a node that stood still for longer than its lease changes nothing twice', async () => {
  const [front, paused] = await Promise.all([world.node('http'), world.node('worker')])
  const [answered, before] = [world.receiver.answers.size, await interrupted(world)]
  const load = startLoad(world, () => [front.url])
  await vi.waitFor(() => expect(world.receiver.answers.size).toBeGreaterThan(answered + 20), PATIENCE)
  // In the middle of a delivery, whose answer comes when it goes on.
  const { promise: inTheMiddle, resolve } = Promise.withResolvers<ServerResponse>()
  world.receiver.treat = (response) => {
    world.receiver.treat = moody
    paused.running.process.kill('SIGSTOP')
    resolve(response)
    return 'counted'
  }
  const response = await inTheMiddle
  const other = await world.node('worker')
  // Its claims end: its exchanges are answered by the other, its delivery is taken over.
  await vi.waitFor(async () => expect(await interrupted(world)).toBeGreaterThan(before), PATIENCE)
  paused.running.process.kill('SIGCONT')
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":{"ack_status":"ACK"}}')
  const ready = async () => (await fetch(`${paused.adminUrl}/ready`)).status
  await vi.waitFor(async () => expect(await ready()).toBe(200), PATIENCE)
  await moreAcknowledged(load, 50)
  await load.stop()
  await expectNothingLost(world, load)
  for (const { running } of [paused, other]) expect(running.process.exitCode).toBe(null)
})

test('answers of PostgreSQL are lost under load, of statements that were done', async () => {
  let losing = false
  const way = await lossyWay(world.connection, () => losing && Math.random() < 0.03)
  const lossy = { DATABASE_URL: databaseUrl(way.connection) }
  const node = await world.node('all', lossy)
  const load = startLoad(world, () => [node.url])
  losing = true
  await moreAcknowledged(load, 60)
  await vi.waitFor(() => expect(way.lost()).toBeGreaterThan(9), PATIENCE)
  losing = false
  await load.stop()
  await expectNothingLost(world, load)
  expect(node.running.process.exitCode).toBe(null)
  await world.killNodes()
  await way.close()
})

test('PostgreSQL is stopped, and killed, under load', async () => {
  const nodes = await Promise.all([world.node(), world.node()])
  const load = startLoad(world, () => nodes.map(({ url }) => url))
  const postmaster = async (): Promise<number> =>
    Number.parseInt(await readFile(join(world.dataDirectory, 'postgres/data/postmaster.pid'), 'utf8'), 10)
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    await moreAcknowledged(load, 40)
    const stopped = await postmaster()
    process.kill(stopped, signal)
    // Whoever uses it starts it again, which is what an operator's supervisor does elsewhere.
    await vi.waitFor(
      async () => {
        expect(await postmaster()).not.toBe(stopped)
        await world.db.pool.query('select 1')
      },
      { timeout: PATIENCE, interval: 100 },
    )
    await moreAcknowledged(load, 40)
  }
  await load.stop()
  await expectNothingLost(world, load)
  for (const { running } of nodes) expect(running.process.exitCode).toBe(null)
})
