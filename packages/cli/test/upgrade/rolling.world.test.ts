/**
 * Two nodes are upgraded one after the other under load, and one goes back to the version before. The next version is this
 * program with one more migration (`next-version.ts`), which adds a column to every table.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { NEXT_VERSION } from '../../../database/test/next-version.ts'
import { lockWaits } from '../../../keys/test/held-table.ts'
import { askToken, search } from '../ask.ts'
import { start } from '../command.ts'
import { type Load, startLoad } from '../crash/load.ts'
import { expectNothingLost } from '../crash/verdict.ts'
import { crashWorld, type Node, type World } from '../crash/world.ts'

const NEXT = inject('programs').next

let world: World
beforeAll(async () => {
  world = await crashWorld()
})
afterAll(() => world.close())

async function moreAcknowledged({ acknowledged }: Load, count: number): Promise<void> {
  const enough = acknowledged.size + count
  await expect.poll(() => acknowledged.size).toBeGreaterThanOrEqual(enough)
}

/** Milliseconds between two searches: the nodes that start need the processor too. */
const PAUSE = 20

/** Synchronous searches, one after the other; what was not answered as it must be. */
function startSearches(urls: () => readonly string[]) {
  const wrong: unknown[] = []
  let [asked, stopping] = [0, false]
  const [asker] = world.askers
  if (asker === undefined) throw new Error('nobody asks')
  const { client_id, sender_id } = asker.participant
  const registry = {
    namespace: 'civil',
    receiver_id: 'civil.example',
    reg_type: 'CRVS',
    reg_record_type: 'Person',
    samples: [{ identifier_type: 'UIN', identifier_value: 'P-3' }],
  }
  const searching = (async () => {
    const [first = ''] = urls()
    const { token } = await askToken(`${first}/oauth2/client/token`, { client_id, client_secret: asker.secret })
    while (!stopping) {
      const url = urls()[asked % urls().length] ?? ''
      const answer = await search(url, token, sender_id, registry).catch(String)
      if (typeof answer === 'string' || answer.items[0]?.data?.reg_records.length !== 1) wrong.push(answer)
      asked += 1
      await sleep(PAUSE)
    }
  })()
  return {
    wrong,
    asked: () => asked,
    async stop() {
      stopping = true
      await searching
    },
  }
}

const schemaVersions = async (): Promise<readonly string[]> => {
  const { rows } = await world.db.pool.query<{ version: string }>('select version from rollcall_schema_version order by position')
  return rows.map(({ version }) => version)
}

test('no request is refused and none is lost, also when a migration was killed on the way', async () => {
  const nodes = await Promise.all([world.node(), world.node()])
  let inUse: readonly Node[] = nodes
  const urls = () => inUse.map(({ url }) => url)
  const load = startLoad(world, urls)
  const searches = startSearches(urls)
  await moreAcknowledged(load, 20)

  // The migration has changed many tables when it comes to one that somebody reads; there it is killed.
  const reader = await world.db.pool.connect()
  await reader.query('begin; select from slow_search')
  const cut = start(['migrate'], world.env, NEXT)
  await vi.waitFor(async () => expect(await lockWaits(world)).toBeGreaterThan(0), { timeout: 240_000, interval: 5 })
  await cut.stop('SIGKILL')
  await reader.query('commit')
  reader.release()
  await moreAcknowledged(load, 20)
  expect(await schemaVersions()).toEqual(['0.1.0'])

  for (const [at, old] of nodes.entries()) {
    const upgraded = await world.node('all', {}, NEXT)
    expect(await schemaVersions()).toEqual(['0.1.0', NEXT_VERSION])
    // As a load balancer does it: the new node is ready before the old one gets no more requests.
    inUse = [...inUse, upgraded].filter((node) => node !== old)
    await moreAcknowledged(load, 20)
    if (at === 0) await expectAhead(nodes[1] as Node)
    expect(await old.running.stop('SIGTERM')).toMatchObject({ code: 0 })
    await moreAcknowledged(load, 20)
  }
  // Back: the program of the version before starts on the tables of the next one.
  const [last] = inUse
  const back = await world.node()
  inUse = [...inUse.slice(1), back]
  expect(await last?.running.stop('SIGTERM')).toMatchObject({ code: 0 })
  await moreAcknowledged(load, 20)
  await Promise.all([load.stop(), searches.stop()])
  // Only the messages of synchronous requests are remembered.
  await world.db.pool.query(`delete from exchange where transaction_id ~ '^t-[0-9]{4}-[0-9]{2}-[0-9]{2}T'`)
  await expectNothingLost(world, load)
  expect([load.sentAgain, [...load.unacknowledged], searches.wrong]).toEqual([[], [], []])
  expect(searches.asked()).toBeGreaterThan(20)
})

/** A node of the earlier version goes on beside the tables of the next one. */
async function expectAhead({ adminUrl }: Node): Promise<void> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
  expect(metrics).toContain('rollcall_schema_versions_ahead 1')
  const ready = await fetch(`${adminUrl}/ready`)
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', database_schema_version: NEXT_VERSION }])
}

test('a node that is two versions behind stops, and says why', async () => {
  const node = await world.node('all', {}, NEXT)
  await world.db.pool.query(
    `insert into rollcall_schema_version (version) values ('999.1.0'), ('999.2.0') on conflict do nothing`,
  )
  await fetch(`${node.adminUrl}/metrics`)
  const { code, stderr } = await node.running.ended
  expect(code).toBe(1)
  expect(stderr).toContain(
    'rollcall: the schema of the database is of version 999.2.0, more than one version ahead of this node: it stops; ' +
      'start the version that migrated the database\n',
  )
})
