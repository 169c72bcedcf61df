import { traceMessages as traceMessage } from '@rollcall/admin/messages/trace'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type AsyncPeer, accepted, asyncPeer, byExpression, byIdentifier, searchFor } from '../../../server/test/asynchronous.ts'
import { answering, dueNow } from '../../../server/test/deliveries.ts'
import { bearer, MASTER_KEY, post, type TestServer, testServer } from '../../../server/test/server.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { described } from '../../test/described.ts'

let server: TestServer
let peer: AsyncPeer
let env: Record<string, string>

beforeAll(async () => {
  server = await testServer({ ROLLCALL_ROLE: 'all', ROLLCALL_RETRY_SCHEDULE: '600' })
  env = { DATABASE_URL: databaseUrl(server.database.connection), ROLLCALL_MASTER_KEY: MASTER_KEY }
  await server.registry(
    'civil',
    Array.from({ length: 3 }, (_, n) => ({
      '@type': 'CRVS_Person',
      identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
      name: { surname: 'Okoro', given_name: `p${n}` },
    })),
  )
  peer = await asyncPeer(server, 'spmis.example')
})
afterAll(async () => {
  await peer.receiver.close()
  await server.close()
})

const trace = async (...words: string[]) => described(traceMessage, await rollcallJson(['trace', ...words], env))

/** A search of two items, one of which has two pages. */
const search = (transaction_id: string) => {
  const all = byExpression({ surname: { eq: 'Okoro' } }, { pagination: { page_size: 2 } })
  return searchFor(peer, [all, byIdentifier('NONE', 'U1')], { message: { transaction_id } })
}

/** Waits until the deliveries of an exchange are in these states. */
async function delivered(correlation_id: string, ...states: string[]): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await server.database.db.pool.query<{ state: string; claim: string | null }>(
      'select state, claim from delivery where correlation_id = $1',
      [correlation_id],
    )
    expect(rows).toEqual(states.map((state) => ({ state, claim: null })))
  }, 60_000)
}

const eventsOf = ({ events }: { events: readonly { event: string; page?: number }[] }) =>
  events.map(({ event, page }) => (page === undefined ? event : `${page} ${event}`))

test('an exchange is told from its arrival to its last page, by each of its ids', async () => {
  const body = search('tx-whole')
  const correlation_id = await accepted(server, peer, body)
  await delivered(correlation_id, 'delivered', 'delivered')
  const [told, ...others] = await trace(correlation_id)
  expect(others).toEqual([])
  expect(told).toMatchObject({
    traced: 'exchange',
    correlation_id,
    message_id: body.header.message_id,
    transaction_id: 'tx-whole',
    participant: 'spmis.example',
    registry: 'civil',
    operation: 'search',
    road: 'asynchronous',
    state: 'replied',
    encrypted: false,
    items_requested: 2,
    items: [
      { reference_id: 'r-0', status: 'succ', total: 3, page_size: 2 },
      { reference_id: 'r-1', status: 'rjct', total: null },
    ],
  })
  expect(eventsOf(told).toSorted()).toEqual(
    [
      ...['received', 'accepted', 'begun', 'answered', 'replied'],
      ...[1, 2].flatMap((page) => [`${page} delivery made`, `${page} attempt`, `${page} delivered`]),
    ].toSorted(),
  )
  expect(eventsOf(told).slice(0, 5)).toEqual(['received', 'accepted', 'begun', 'answered', '1 delivery made'])
  const times = told.events.map(({ at }: { at: string }) => at)
  expect(times).toEqual(times.toSorted())
  expect(told.events.find(({ event }: { event: string }) => event === 'attempt')).toMatchObject({
    status: 200,
    error: null,
    duration_ms: expect.any(Number),
  })
  for (const id of [body.header.message_id, 'tx-whole', told.deliveries[1].message_id]) {
    expect(await trace(id)).toEqual([told])
  }
})

test('what failed is told with what comes next, and addresses without their paths', async () => {
  peer.receiver.answer = answering(503)
  const body = search('tx-failing')
  const sender_uri = `${peer.receiver.url}/mine/secret-path`
  const correlation_id = await accepted(server, peer, { ...body, header: { ...body.header, sender_uri } })
  await delivered(correlation_id, 'pending', 'pending')
  const { stdout } = await rollcall(['trace', 'tx-failing'], env)
  const lines = stdout.split('\n')
  expect(lines.slice(0, 4)).toEqual([
    'search from spmis.example to civil, asynchronous',
    `  message      ${body.header.message_id}`,
    '  transaction  tx-failing',
    `  correlation  ${correlation_id}`,
  ])
  for (const pattern of [
    /Z {2}received, not encrypted$/m,
    /Z {2}accepted with 2 items$/m,
    /Z {2}work begun$/m,
    /Z {2}2 items answered: 1 succ, 1 rjct, 3 records$/m,
    /Z {2}page 1: attempt 1: HTTP 503, http_5xx, \d+ ms$/m,
    /Z {2}page 1: attempt 2 is due$/m,
    /^ {2}item r-0: succ, 3 records, 2 pages\n {2}item r-1: rjct$/m,
  ]) {
    expect(stdout).toMatch(pattern)
  }
  expect(stdout).toContain(`page 1: on-search `)
  expect(stdout).toContain(` for ${peer.receiver.url}, delivery `)
  expect(stdout).not.toMatch(/secret-path|Okoro|reg_records/)

  peer.receiver.answer = answering(200)
  await rollcall(['deliveries', 'retry', '--participant', 'spmis.example'], env)
  await delivered(correlation_id, 'delivered', 'delivered')
  const [told] = await trace(correlation_id)
  const ofFirst = eventsOf(told).filter((event) => event.startsWith('1 '))
  expect(ofFirst).toEqual(['1 delivery made', '1 attempt', '1 sent again', '1 attempt', '1 delivered'])
})

test('why nothing is attempted is said while something waits', async () => {
  const { pool } = server.database.db
  const correlation_id = await accepted(server, peer, search('tx-held-up'))
  await delivered(correlation_id, 'delivered', 'delivered')
  await pool.query(
    `update delivery set state = 'pending', next_attempt_at = now() + interval '1 hour', finished_at = null
      where correlation_id = $1`,
    [correlation_id],
  )
  await pool.query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
      select $1, origin, failures, now(), now() + interval '1 hour'
      from (values ('https://other.example', 9), ($2, 7)) as known (origin, failures)`,
    [peer.id, peer.receiver.url],
  )
  const { stdout } = await rollcall(['trace', correlation_id], env)
  expect(stdout).toMatch(/^ {2}its breaker is open since \S+Z; it is tried next at \S+Z$/m)
  expect((await trace(correlation_id))[0].breaker).toMatchObject({ failures: 7 })
  await pool.query('delete from breaker')
  await dueNow(server, peer.id)
  await rollcall(['deliveries', 'retry', '--participant', 'spmis.example'], env)
  await delivered(correlation_id, 'delivered', 'delivered')
  expect((await trace(correlation_id))[0].breaker).toBeNull()
})

test('of a synchronous exchange only its arrival is known', async () => {
  const body = searchFor(peer, [byIdentifier('UIN', 'U1')], { message: { transaction_id: 'tx-now' } })
  expect((await post(`${server.url}/civil/v1.0.0/registry/sync/search`, body, bearer(peer))).status).toBe(200)
  const [told] = await trace('tx-now')
  expect(told).toMatchObject({ road: 'synchronous', state: null, encrypted: null, deliveries: [] })
  expect(eventsOf(told)).toEqual(['received'])
  const { stdout } = await rollcall(['trace', 'tx-now'], env)
  expect(stdout).toContain('search from spmis.example to civil, synchronous: its answer is not stored\n')
})

test('a callback that came to us is told too', async () => {
  const header = {
    message_id: 'ev-1',
    message_ts: new Date().toISOString(),
    sender_id: 'spmis.example',
    status: 'succ',
    action: 'notify',
  }
  const event = {
    reference_id: 'e-1',
    timestamp: header.message_ts,
    data: { reg_record_type: 'Person', reg_records: { name: 'Okoro' } },
  }
  const notify = { header, message: { transaction_id: 'tx-event', notify_event: [event] } }
  expect((await post(`${server.url}/civil/v1.0.0/registry/notify`, notify, bearer(peer))).status).toBe(200)
  const [told] = await trace('tx-event')
  expect(told).toMatchObject({ traced: 'callback', message_id: 'ev-1', callback: 'notify', registry: 'civil' })
  expect(eventsOf(told)).toEqual(['received', 'kept'])
  const { stdout } = await rollcall(['trace', 'ev-1'], env)
  expect(stdout).toMatch(/^notify from spmis\.example to civil, in our inbox\n[\s\S]*Z {2}received\n.*Z {2}stored\n$/)
})

test('several are told the oldest first, as many as are asked for', async () => {
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push(await accepted(server, peer, search('tx-many')))
  const told = await trace('tx-many')
  expect(told.map(({ correlation_id }: { correlation_id: string }) => correlation_id)).toEqual(ids)
  const { stdout } = await rollcall(['trace', 'tx-many', '--limit', '2'], env)
  expect(stdout.match(/^search from/gm)).toHaveLength(2)
  expect(stdout).toMatch(/\n\nthere are more; --limit shows them\n$/)
})

test('a long answer is cut, unless all of it is asked for', async () => {
  const items = Array.from({ length: 102 }, (_, n) => byIdentifier('UIN', `U${n}`))
  const correlation_id = await accepted(server, peer, searchFor(peer, items))
  await delivered(correlation_id, 'delivered')
  const { stdout } = await rollcall(['trace', correlation_id], env)
  expect(stdout.match(/^ {2}item /gm)).toHaveLength(100)
  expect(stdout).toMatch(/^ {2}and 2 items more; --full prints them$/m)
  expect((await trace(correlation_id, '--full'))[0].items).toHaveLength(102)
})

test.each(['nobody', '5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002', `${'x'.repeat(300)}`, `a' or true --`])(
  '%s: exit code 1 and one line',
  async (id) => {
    expect(await rollcall(['trace', id], env)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: there is no message with this id; the oldest are deleted after ROLLCALL_EXCHANGE_RETENTION seconds\n',
    })
  },
)
