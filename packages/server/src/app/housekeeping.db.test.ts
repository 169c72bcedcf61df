import { Writable } from 'node:stream'
import { suspendSubscriptions } from '@rollcall/delivery/store/events/subscription-states'
import { createLog } from '@rollcall/observe/log'
import { recordsOf, unreachableRegistries } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import { removeRegistryAndRecords } from '@rollcall/records/registries/removed-registries'
import { readConfig } from '@rollcall/settings/config'
import { openSources } from '@rollcall/source/open-sources'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertSubscription } from '../../../delivery/test/subscriptions.ts'
import { officeSource } from '../../../source/test/office.ts'
import { type TestServer, testServer } from '../../test/server.ts'
import { runHousekeeping } from './housekeeping.ts'

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(() => server.close())

/** The parts that housekeeping needs, and the lines that it logs from `warn` on. */
function deps() {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const { db, bodies, clock, directory, limits, reading, schema, turns } = server.context
  const log = createLog({ level: 'warn', destination })
  return { lines, db, bodies, clock, directory, limits, reading, schema, turns, log }
}

const { signal } = new AbortController()

test('a chore that fails stops none of the others, and is named', async () => {
  const { pool } = server.database.db
  const fingerprint = Buffer.alloc(32)
  await pool.query(
    `insert into sealed_message (fingerprint, participant, message_id, received_at)
     values ($1, 1, 'm', now() - interval '6 days')`,
    [fingerprint],
  )
  await pool.query('alter table breaker rename to away')
  const { lines, ...rest } = deps()
  await runHousekeeping(rest, signal)
  await pool.query('alter table away rename to breaker')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'warn',
      database: { sqlstate: '42P01' },
      msg: 'breakers that nobody asks for could not be forgotten; tried again soon',
    },
  ])
  expect((await pool.query('select from sealed_message')).rowCount).toBe(0)
})

test('operator tokens are deleted when they ended long ago', async () => {
  const { pool } = server.database.db
  await pool.query(
    `insert into operator_token (name, sha256, roles, expires_at, revoked_at)
     select name, '', '{read}', now() + make_interval(days => expires), now() - make_interval(days => revoked)
     from (values ('live', 10, null), ('expired lately', -89, null), ('expired', -91, null),
       ('revoked lately', 10, 89), ('revoked', 10, 91)) as token (name, expires, revoked)`,
  )
  const { lines, ...rest } = deps()
  await runHousekeeping(rest, signal)
  const { rows } = await pool.query('select name from operator_token order by id')
  expect(rows.map(({ name }) => name)).toEqual(['live', 'expired lately', 'revoked lately'])
  await pool.query('delete from operator_token')
})

test('what was never answered or taken is forgotten in its time, and not in silence', async () => {
  const { lines, ...rest } = deps()
  const { database } = server
  const exchange = (state: string, age: string) =>
    database.db.pool.query(
      `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
         encrypted, request, items, references_stored, state, received_at)
       values (gen_random_uuid(), 1, 1, 'search', 'm', 'tx', false, '', 1, true, $1, now() - $2::interval)`,
      [state, age],
    )
  const delivery = (state: string, age: string) =>
    database.db.pool.query(
      `insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, next_attempt_at,
         created_at)
       values (gen_random_uuid(), 1, 1, 'on-search', 'm', false, '', $1, case $1 when 'pending' then now() end,
         now() - $2::interval)`,
      [state, age],
    )
  for (const age of ['4 days', '6 days']) {
    for (const state of ['accepted', 'replying', 'replied', 'failed']) await exchange(state, age)
    for (const state of ['pending', 'delivered', 'dead']) await delivery(state, age)
  }
  await runHousekeeping(rest, signal)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { exchanges: 2, deliveries: 1, msg: 'messages that were never answered, or never taken, are older than their retention' },
  ])
  const { rows } = await database.db.pool.query(
    'select (select count(*) from accepted_exchange) as exchanges, (select count(*) from delivery) as deliveries',
  )
  expect(rows).toEqual([{ exchanges: 4, deliveries: 3 }])
  await runHousekeeping(rest, signal)
  expect(lines).toHaveLength(1)
})

test('events are stored as long as they may be corrected', async () => {
  const { limits, ...rest } = deps()
  const { pool } = server.database.db
  await pool.query(
    `insert into event (registry, event_type, record_type, record, record_version, occurred_at, recorded_at)
     select 1, 'Death', 'Person', days, 1, now(), now() - make_interval(days => days)
     from unnest(array[$1::int - 1, $1 + 1]) as days`,
    [limits.correction_time],
  )
  await runHousekeeping({ ...rest, limits }, signal)
  expect((await pool.query('select record from event')).rows).toEqual([{ record: limits.correction_time - 1 }])
})

test('a subscription that was suspended is logged once', async () => {
  const { lines, ...rest } = deps()
  const registry = await server.registry('civil')
  const client = await server.database.db.pool.connect()
  const filed = { event_type: 'Death', record_type: 'Person' }
  const id = await insertSubscription(client, registry.id, filed, 'SECRET')
  await suspendSubscriptions(client, [id], 'unreadable')
  client.release()
  await runHousekeeping(rest, signal)
  await runHousekeeping(rest, signal)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'error', registry: 'civil', reason: 'unreadable', subscriptions: [id], msg: 'subscriptions are suspended' },
  ])
})

test('a schedule that goes on when what is retried is forgotten is refused at the start', () => {
  const env = (schedule: string) => ({ ROLLCALL_RETRY_SCHEDULE: schedule })
  expect(() => readConfig(env('86400,86400,86400,86400,86400'))).toThrow(
    'ROLLCALL_RETRY_SCHEDULE must end within ROLLCALL_EXCHANGE_RETENTION, when deliveries are deleted',
  )
  const longer = { ...env('86400,86400,86400,86400,86400'), ROLLCALL_EXCHANGE_RETENTION: '864000' }
  expect(readConfig(longer).retrySchedule).toHaveLength(5)
  for (const nonsense of ['five', '5;10', '-5', '1e3', '5,', 'NaN', '99999999']) {
    expect(() => readConfig(env(nonsense)), nonsense).toThrow(
      'ROLLCALL_RETRY_SCHEDULE must be at most 100 numbers of seconds with commas between them',
    )
  }
})

test('the source of a registry that was removed is not away any more', async () => {
  const { db } = server.database
  const sources = openSources(db, {})
  const source = officeSource({ env: 'NOWHERE' })
  const registry = await addRegistry(db, { namespace: 'live', kind: 'civil', sender_id: 'live.example', source })
  recordsOf(db, registry)
  const { lines, ...rest } = deps()
  await runHousekeeping(rest, signal)
  expect(unreachableRegistries(db)).toEqual(['live'])
  await removeRegistryAndRecords(db, registry.id)
  await runHousekeeping(rest, signal)
  expect([unreachableRegistries(db), lines]).toEqual([[], []])
  await sources.close()
})
