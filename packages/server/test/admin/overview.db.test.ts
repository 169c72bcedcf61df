import { randomUUID } from 'node:crypto'
import { listEmergencies, reviewEmergency } from '@rollcall/admin/audit/list'
import { addOperator } from '@rollcall/admin/operators/operators'
import { showOverview } from '@rollcall/admin/overview'
import { countTrafficBetween } from '@rollcall/audit/store/traffic'
import { EXCHANGES_SQL } from '@rollcall/engine/store/exchanges/exchange-names'
import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { auditEntry, testAuditLog } from '../../../settings/test/audit-log.ts'
import { bearer, post, postSearch, searchRequest, type TestServer, testServer } from '../server.ts'

let server: TestServer
/** No time passes while hours are counted. */
const still = () => ({ ...server.context, clock: { now: () => 0, date: () => Date.now() } })
const show = (input: object = {}) => showOverview(still(), input)

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  await server.registry('social')
  const peer = await server.participant('peer.example')
  for (const namespace of ['civil', 'civil', 'social']) {
    await postSearch(
      server,
      peer,
      [{ search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '1' } } }],
      namespace,
    )
  }
  const auditLog = testAuditLog(server.database.db)
  const refusal = { kind: 'refusal', registry: 'civil', operation: 'search', count: 5 } as const
  await auditLog.write(auditEntry({ ...refusal, outcomes: { 'err.request.bad': 5 } }), [])
  await auditLog.write(auditEntry({ kind: 'answer', registry: 'social', emergency: true }), [])
  await auditLog.close()
})
afterAll(() => server.close())

test('the last 24 hours by hour, operation and outcome, with how long answers took', async () => {
  const seen = await show()
  expect(validator(showOverview.result).problem(seen, '')).toBeNull()
  expect(seen.hours).toHaveLength(24)
  expect(seen.hours.every(({ counted }) => counted)).toBe(true)
  const [search] = seen.traffic.filter(({ operation }) => operation === 'search')
  expect(search).toMatchObject({ mode: 'synchronous', outcomes: { succeeded: 4, refused: 5 } })
  expect(search?.p50_ms).toBeGreaterThan(0)
  expect(search?.p99_ms).toBeGreaterThanOrEqual(search?.p50_ms ?? 0)
  // One operation was measured alone.
  expect(seen.durations).toEqual({ p50_ms: search?.p50_ms, p99_ms: search?.p99_ms })
  const { traffic } = await show({ namespace: 'social' })
  expect(traffic.map(({ operation, outcomes }) => [operation, outcomes])).toEqual([['search', { succeeded: 2 }]])
})

test('emergencies are counted again when half a minute is over, or one was reviewed here', async () => {
  let time = 1_000_000
  const counted = async () =>
    (await showOverview({ ...server.context, clock: { now: () => time, date: () => Date.now() } }, {})).emergencies
  expect(await counted()).toBe(1)
  const auditLog = testAuditLog(server.database.db)
  await auditLog.write(auditEntry({ kind: 'answer', registry: 'social', emergency: true }), [])
  await auditLog.close()
  time += 29_999
  expect(await counted()).toBe(1)
  time += 1
  expect(await counted()).toBe(2)
  const deps = { ...server.context, caller: { kind: 'shell', user: 'auditor' } as const }
  const [emergency] = await listEmergencies(acting(deps), {})
  await reviewEmergency(acting(deps), { id: emergency?.id ?? '', note: 'Seen' })
  expect(await counted()).toBe(1)
})

test('of one registry it has no numbers of all', async () => {
  const { pool } = server.context.db
  await pool.query(
    `insert into rollcall_outbox.event (namespace, reg_event_type, record, failure, failed_at)
      values ('social', 'REGISTER', '{}', 'none', now())`,
  )
  await pool.query(
    `insert into proposal (id, act, sealed, diff, proposed_by, proposed_name, proposed_at, lapses_at)
      select gen_random_uuid(), 'apply', set_byte('\\x00'::bytea, 0, version), '[]', 'token 1', 'a', $1, $2 from master_key`,
    [new Date(server.clock.date()), new Date(server.clock.date() + 60_000)],
  )
  const all = await show()
  expect([all.health.outbox.failed, all.proposals]).toEqual([1, 1])
  const civil = await show({ namespace: 'civil' })
  expect(civil.health).toMatchObject({ overdue: 0, outbox: { waiting: 0, failed: 0, oldest: 0 }, unwitnessed: 0 })
  expect(civil.proposals).toBe(0)
  await pool.query('delete from proposal; delete from rollcall_outbox.event')
})

test('of one registry it names no participant whose mailbox is closed in another one', async () => {
  await server.context.db.pool.query(
    `insert into mailbox (participant, registry, state, closed_at)
      select participant.id, registry.id, 'closed', now() from participant, registry where namespace = 'social'`,
  )
  const closed = async (input: object) => (await show(input)).health.closed_mailboxes
  expect(await closed({})).toEqual(['peer.example'])
  expect(await closed({ namespace: 'social' })).toEqual(['peer.example'])
  expect(await closed({ namespace: 'civil' })).toEqual([])
})

test('an hour that is over is counted once, and the one that goes on each time', async () => {
  let statements = 0
  const { db } = server.context
  const date = Date.now()
  const counting = {
    ...still(),
    clock: { now: () => 0, date: () => date },
    db: {
      ...db,
      pool: Object.assign(Object.create(db.pool), {
        query(asked: { name?: string }, ...rest: unknown[]) {
          if (asked.name === 'traffic') statements += 1
          return Reflect.apply(db.pool.query, db.pool, [asked, ...rest])
        },
      }),
    },
  }
  // Calls at the same time share one count: no reader makes the database count as often as it asks.
  await Promise.all([showOverview(counting, {}), showOverview(counting, {}), showOverview(counting, {})])
  expect(statements).toBe(24)
  await showOverview(counting, {})
  expect(statements - 24).toBeLessThanOrEqual(2)
})

test('when its time is used up, the hours that are missing say so', async () => {
  let time = 0
  const clock = { now: () => (time += 400), date: () => Date.now() }
  // Another pool has no counts in memory.
  const { pool: counted } = server.context.db
  const pool = Object.assign(Object.create(counted), { query: counted.query.bind(counted) })
  const { hours } = await showOverview({ ...server.context, clock, db: { ...server.context.db, pool } }, {})
  expect(hours.map((hour) => hour.counted)).toEqual([true, true, true, ...Array(21).fill(false)])
})

test('what waits, fails and died, what ends soon, and what nobody has looked at', async () => {
  const { pool } = server.database.db
  const origin = 'https://away.example'
  const add = (state: string, target: string | null) =>
    pool.query(
      `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, attempts, next_attempt_at)
       select gen_random_uuid(), participant.id, registry.id, 'on-search', $1::text, $3, false, '\\x01', $2, 1, case when $2 = 'pending' then now() end
       from participant, registry where participant.sender_id = 'peer.example' and namespace = 'civil'`,
      [randomUUID(), state, target],
    )
  await add('pending', `${origin}/a`)
  await add('pending', 'https://well.example/a')
  await add('dead', `${origin}/a`)
  await add('held', null)
  await pool.query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
     select id, $1, 5, now(), now() from participant where sender_id = 'peer.example'`,
    [origin],
  )
  const now = server.clock.date()
  const expires_at = new Date(now + 86_400_000).toISOString()
  await addOperator(acting({ ...server.database, clock: server.clock }), { name: 'soon', roles: ['read'], expires_at })
  const seen = await show()
  expect(seen.deliveries).toEqual({ waiting: 2, failing: 1, dead: 1, held: 1 })
  expect(seen.breakers).toMatchObject([{ participant: 'peer.example', origin, failures: 5 }])
  expect(seen.expiring).toMatchObject([{ what: 'operator token', name: 'soon', of: 'read', at: expires_at }])
  expect(seen.health).toMatchObject({ database: 'closed', ready: true, schema_ahead: 0, overdue: 0 })
  expect([seen.emergencies, seen.proposals]).toEqual([1, 0])
  const social = await show({ namespace: 'social' })
  expect([social.deliveries.waiting, social.breakers, social.expiring, social.emergencies]).toEqual([0, [], [], 1])
  expect((await show({ namespace: 'civil' })).emergencies).toBe(0)
  // Its breaker is still open: nothing is on its way there any more.
  await pool.query("update delivery set target = 'https://well.example/a' where state = 'pending'")
  expect((await show()).breakers).toEqual([])
})

test('two participants with one message_id each have a first answer, with its duration', async () => {
  const header = { message_id: 'm-of-two' }
  for (const sender_id of ['one.example', 'two.example']) {
    const asking = await server.participant(sender_id)
    const request = searchRequest(sender_id, { type: 'UIN', value: '1' }, { header })
    const { status } = await post(`${server.url}/civil/v1.0.0/registry/sync/search`, request, bearer(asking))
    expect(status).toBe(200)
  }
  const all = { from: new Date(0), to: new Date('9999-12-31') }
  const rows = await countTrafficBetween(server.context.db, all, EXCHANGES_SQL)
  const answers = rows.filter(({ registry, outcome }) => registry === 'civil' && outcome === 'succeeded')
  expect(answers.reduce((sum, { messages }) => sum + messages, 0)).toBe(4)
  expect(answers.filter(({ step }) => step === null)).toEqual([])
})
