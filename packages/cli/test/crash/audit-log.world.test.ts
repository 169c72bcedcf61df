/**
 * Nodes killed while they answer: whatever a client has received has an audit entry, with its person.
 * `ROLLCALL_CRASH_CYCLES=100 npx vitest run packages/cli/test/crash` runs for longer.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { personRowsSql } from '../../../audit/src/store/packed-persons.ts'
import { askToken } from '../ask.ts'
import { type Asker, crashWorld, type Node, type World } from './world.ts'

const CYCLES = Number(process.env.ROLLCALL_CRASH_CYCLES ?? 2)
vi.setConfig({ testTimeout: 900_000 + CYCLES * 6_000 })

/** Requests on their way at a time. */
const LANES = 8

let world: World
beforeAll(async () => {
  world = await crashWorld()
})
afterAll(() => world.close())

async function tokenOf(node: Node, { participant, secret }: Asker): Promise<string> {
  const { client_id } = participant
  const { token } = await askToken(`${node.url}/oauth2/client/token`, { client_id, client_secret: secret })
  return token
}

const searchOf = ({ participant }: Asker, value: string): string => {
  const timestamp = new Date().toISOString()
  return JSON.stringify({
    header: {
      version: '1.0.0',
      message_id: randomUUID(),
      message_ts: timestamp,
      action: 'search',
      sender_id: participant.sender_id,
      total_count: 1,
    },
    message: {
      transaction_id: 't-1',
      search_request: [
        { reference_id: 'r-1', timestamp, search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } } },
      ],
    },
  })
}

test(`${CYCLES} times a node is killed while it answers: what was received is a subset of what has an audit entry`, async () => {
  let node: Node = await world.node()
  const [asker] = world.askers as [Asker]
  let token = await tokenOf(node, asker)
  /** message_ids of replies that have come whole. */
  const received: string[] = []
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      try {
        const response = await fetch(`${node.url}/civil/v1.0.0/registry/sync/search`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: searchOf(asker, 'P-3'),
          signal: AbortSignal.timeout(30_000),
        })
        const { header, message } = (await response.json()) as {
          header: { message_id: string }
          message: { search_response: { data: { reg_records: object[] } }[] }
        }
        if (response.status === 200 && message.search_response[0]?.data.reg_records.length === 1) received.push(header.message_id)
      } catch {
        // It was killed in the middle of the answer.
        await sleep(20)
      }
    }
  }
  const lanes = Array.from({ length: LANES }, lane)
  const untilMore = async (count: number): Promise<void> => {
    const enough = received.length + count
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(enough), { timeout: 300_000, interval: 3 })
  }
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await untilMore(100 + Math.random() * 200)
    await node.running.stop('SIGKILL')
    node = await world.node()
    token = await tokenOf(node, asker)
  }
  // The last life answers too, so it has a chain.
  await untilMore(1)
  isOver = true
  await Promise.all(lanes)
  const { rows } = await world.db.pool.query<{ id: string }>(
    `select reply_message_id as id from account join ${personRowsSql()} as person using (chain, sequence)
      where role = 'seen' and reply_message_id = any ($1)`,
    [received],
  )
  const audited = new Set(rows.map(({ id }) => id))
  expect(received.length).toBeGreaterThan(CYCLES * 100)
  expect(received.filter((id) => !audited.has(id))).toEqual([])
  // Each life of a node has a chain of its own, without gaps.
  const { rows: chains } = await world.db.pool.query<{ whole: boolean }>(
    'select count(*) = max(sequence) as whole from account group by chain',
  )
  expect(chains.length).toBeGreaterThan(CYCLES)
  expect(chains.every(({ whole }) => whole)).toBe(true)
})
