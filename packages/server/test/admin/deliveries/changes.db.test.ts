import { randomUUID } from 'node:crypto'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import { examineDatabase } from '@rollcall/admin/database'
import { cancelDeliveries, replayDeliveries, retryDeliveries } from '@rollcall/admin/deliveries/changes'
import { changeDeliveries, listDeliveries } from '@rollcall/admin/deliveries/deliveries'
import { listDestinations } from '@rollcall/admin/deliveries/destinations'
import { listMailboxes } from '@rollcall/admin/deliveries/mailboxes'
import { openDatabase } from '@rollcall/database/database'
import { DELIVERY_CAUSES, explainCause } from '@rollcall/delivery/delivery/causes'
import { findParticipant } from '@rollcall/participants/store/participants'
import { validator } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { adminCaller } from '../../admin-api.ts'
import { eventRows } from '../../notifications.ts'
import { type TestServer, testServer } from '../../server.ts'

let server: TestServer
const AWAY = 'https://away.example'
const query = (text: string, values: unknown[] = []) => server.database.db.pool.query(text, values)
const deps = () => ({ db: server.database.db, limits: { changed_deliveries: 3 } })

beforeAll(async () => {
  server = await testServer()
  for (const namespace of ['civil', 'social']) await server.registry(namespace)
  for (const sender_id of ['one.example', 'two.example']) await server.participant(sender_id)
})
afterAll(() => server.close())
beforeEach(() => query('delete from delivery'))

interface Row {
  readonly participant?: string
  readonly namespace?: string
  readonly state?: string
  readonly reason?: string | null
  /** Null: there is no address. */
  readonly origin?: string | null
  /** Minutes ago. */
  readonly made?: number
}

async function add(row: Row = {}): Promise<string> {
  const { participant = 'one.example', namespace = 'civil', state = 'dead', reason = 'timeout' } = row
  const { origin = AWAY, made = 5 } = row
  const id = randomUUID()
  await query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, reason, attempts,
       next_attempt_at, created_at)
     select $1::uuid, participant.id, registry.id, 'on-search', 'm-1', $2, false, '\\x01', $3::text, $4, 1,
       case when $3::text = 'pending' then now() end, now() - make_interval(mins => $5)
     from participant, registry where participant.sender_id = $6 and namespace = $7`,
    [id, origin === null ? null : `${origin}/in`, state, reason, made, participant, namespace],
  )
  return id
}

const statesOf = async (): Promise<Record<string, number>> => {
  const { rows } = await query('select state, count(*) as deliveries from delivery group by state order by state')
  return Object.fromEntries(rows.map(({ state, deliveries }) => [state, deliveries]))
}

async function refused(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AdminRefusal)
  return (error as AdminRefusal).message
}

const alone = () => ({
  ...deps(),
  limits: { changed_deliveries: 10, replay_deliveries: 3 },
  approvals: { areNeeded: true, propose: () => Promise.reject(new Error('it waits for a second operator')) },
})

test.each([
  ['of a call', () => retryDeliveries(acting(deps()), { state: 'dead' })],
  ['of one operator', () => replayDeliveries(acting(alone()), { state: 'dead' })],
  ['of one operator by a command', () => changeDeliveries(acting(alone()), { change: 'replay', state: 'dead' })],
])('what comes while they are counted does not pass the limit %s', async (_name, change) => {
  for (let made = 1; made <= 3; made += 1) await add({ made })
  const { pool } = server.database.db
  const asked = pool.query.bind(pool) as (text: string, values: unknown[]) => Promise<unknown>
  const spy = vi.spyOn(pool, 'query').mockImplementationOnce(async (...[text, values]: unknown[]) => {
    const counted = await asked(text as string, values as unknown[])
    await add()
    return counted
  })
  try {
    expect(await refused(change())).toBe(
      'these are 4 deliveries, and 3 at most may be changed at a time: give a shorter time with since and until',
    )
  } finally {
    spy.mockRestore()
  }
  expect(await statesOf()).toEqual({ dead: 4 })
})

test('a command of one operator replays no more than one operator may: the rest waits for another', async () => {
  for (let made = 1; made <= 4; made += 1) await add({ made })
  const replayed = changeDeliveries(acting(alone()), { change: 'replay', state: 'dead' })
  await expect(replayed).rejects.toThrow('it waits for a second operator')
  expect(await statesOf()).toEqual({ dead: 4 })
  expect(await changeDeliveries(acting({ db: server.database.db }), { change: 'replay', state: 'dead' })).toEqual({ changed: 4 })
})

describe('a change', () => {
  test('says first how many and of whom, and changes nothing then', async () => {
    for (const participant of ['one.example', 'two.example', 'two.example']) await add({ participant })
    const preview = await replayDeliveries(acting(deps()), { state: 'dead', dry_run: true })
    expect(validator(replayDeliveries.result).problem(preview, '')).toBeNull()
    expect(preview).toEqual({
      dry_run: true,
      deliveries: 3,
      in_closed_mailboxes: 0,
      participants: [
        { participant: 'two.example', deliveries: 2 },
        { participant: 'one.example', deliveries: 1 },
      ],
    })
    expect(await statesOf()).toEqual({ dead: 3 })
    expect(await replayDeliveries(acting(deps()), { participant: 'two.example' })).toMatchObject({
      dry_run: false,
      deliveries: 2,
      participants: [{ participant: 'two.example', deliveries: 2 }],
    })
    expect(await statesOf()).toEqual({ dead: 1, pending: 2 })
  })

  test('is of the registry, the destination, the state and the time that are named, and of no other', async () => {
    const ids = [
      await add({ namespace: 'social' }),
      await add({ origin: 'https://else.example' }),
      await add({ state: 'delivered', reason: null }),
      await add({ made: 60 }),
    ]
    const count = async (input: object) => (await replayDeliveries(acting(deps()), { ...input, dry_run: true })).deliveries
    expect(await count({ namespace: 'social' })).toBe(1)
    expect(await count({ origin: 'https://else.example' })).toBe(1)
    expect(await count({ state: 'delivered' })).toBe(1)
    expect(await count({ until: new Date(Date.now() - 1_800_000).toISOString() })).toBe(1)
    expect(await count({ ids: ids.slice(0, 2), namespace: 'civil' })).toBe(1)
    expect(await count({ ids: ['no id'] })).toBe(0)
    expect(await count({ namespace: 'nowhere' })).toBe(0)
    await cancelDeliveries(acting(deps()), { ids: ids.slice(0, 1) })
    expect(await statesOf()).toEqual({ dead: 2, delivered: 1, dropped: 1 })
    await retryDeliveries(acting(deps()), { origin: 'https://else.example' })
    expect(await statesOf()).toEqual({ dead: 1, delivered: 1, dropped: 1, pending: 1 })
  })

  test('is refused above the limit, without a choice, and where there is nothing to change', async () => {
    for (let number = 0; number < 4; number += 1) await add()
    expect(await refused(replayDeliveries(acting(deps()), { state: 'dead' }))).toBe(
      'these are 4 deliveries, and 3 at most may be changed at a time: give a shorter time with since and until',
    )
    expect((await replayDeliveries(acting(deps()), { state: 'dead', dry_run: true })).deliveries).toBe(4)
    expect(await refused(replayDeliveries(acting(deps()), { dry_run: true }))).toBe(
      'name the deliveries: by ids, participant, namespace, origin, since, until or state',
    )
    expect(await refused(replayDeliveries(acting(deps()), { namespace: 'social' }))).toBe(
      'only deliveries that are delivered or refused or dead or dropped or held can be changed so; none of these is, or its record was deleted after the delivery',
    )
    expect(await refused(retryDeliveries(acting(deps()), { ids: [] }))).toMatch(/^ids: /)
    expect(await refused(retryDeliveries(acting(deps()), { participant: 'nobody.example' }))).toMatch(/nobody\.example/)
    expect(await statesOf()).toEqual({ dead: 4 })
  })

  test('by a token that is bound to a registry is of that registry', async () => {
    await add({ namespace: 'social' })
    await add()
    const caller = await adminCaller(server)
    const bound = await caller.token('bound', ['operate'], ['civil'])
    const ask = (body: object) => caller.post('/deliveries/replay', body, bound)
    expect(await caller.refusal('/deliveries/replay', { state: 'dead', namespace: 'social' }, bound)).toMatch(/^403 /)
    expect(await caller.refusal('/deliveries/replay', { state: 'dead' }, bound)).toMatch(/^403 /)
    expect((await ask({ state: 'dead', namespace: 'civil' })).body).toMatchObject({ deliveries: 1 })
  })
})

test('deliveries are listed page by page, each with its cause and what to do', async () => {
  const ids = []
  for (const made of [3, 2, 2, 2, 1]) ids.unshift(await add({ made }))
  // All within a millisecond.
  await query(
    `update delivery set created_at = '2026-01-01T00:00:00Z'::timestamptz + later * interval '100 microseconds'
     from (select id, row_number() over (order by created_at) as later from delivery) as made where made.id = delivery.id`,
  )
  await add({ state: 'pending', reason: null, namespace: 'social' })
  const seen: string[] = []
  for (let before: string | undefined; ; ) {
    const page = await listDeliveries(server.database, { namespace: 'civil', state: 'dead', limit: 2, before })
    expect(validator(listDeliveries.result).problem(page, '')).toBeNull()
    expect(page.every(({ cause }) => cause?.advice === DELIVERY_CAUSES.timeout.advice)).toBe(true)
    seen.push(...page.map(({ id }) => id))
    if (page.length < 2) break
    before = page.at(-1)?.id
  }
  expect(seen).toEqual(ids)
  expect(await listDeliveries(server.database, { origin: AWAY, limit: 10 })).toHaveLength(6)
  expect(await refused(listDeliveries(server.database, { before: 'x' }))).toBe('before: there is no delivery x')
})

test('one that waits has the cause of its last attempt, and so has its destination', async () => {
  const id = await add({ state: 'pending', reason: null })
  const attempts: [number, string][] = [
    [1, 'timeout'],
    [2, 'http_5xx'],
    // Under way.
    [3, 'interrupted'],
  ]
  for (const [number, error] of attempts) {
    await query('insert into delivery_attempt (delivery, number, at, duration_ms, error) values ($1, $2, now(), 5, $3)', [
      id,
      number,
      error,
    ])
  }
  const [listed] = await listDeliveries(server.database, {})
  expect([listed?.reason, listed?.cause]).toEqual([null, explainCause('http_5xx')])
  const { destinations } = await listDestinations(server.database, {})
  expect(destinations).toMatchObject([{ waiting: 1, causes: [], last_cause: listed?.cause }])
})

test('one that is held says that there is no address, and only those without one are replayed', async () => {
  await add({ state: 'held', reason: null, origin: null })
  await add({ state: 'delivered', reason: null })
  const [held] = await listDeliveries(server.database, { state: 'held' })
  expect([held?.next_attempt_at, held?.reason, held?.cause]).toEqual([null, 'no_address', explainCause('no_address')])
  expect((await examineDatabase(server.database, {})).withHeldDeliveries).toEqual([{ sender_id: 'one.example' }])
  const { destinations } = await listDestinations(server.database, {})
  expect(destinations).toMatchObject([{ origin: null, waiting: 0, dead: 0, held: 1, last_cause: held?.cause }])
  const choice = { participant: 'one.example', origin: '', state: 'held' } as const
  expect(await replayDeliveries(acting(deps()), choice)).toMatchObject({ deliveries: 1 })
  expect(await statesOf()).toEqual({ delivered: 1, pending: 1 })
})

test.each(['https://away.example\0', 'https://away.example/\ud800'])(
  'an origin that the database cannot store is that of no delivery: %j',
  async (origin) => {
    for (const state of ['held', 'dead']) await add({ state, origin: null })
    expect(await listDeliveries(server.database, { origin })).toEqual([])
    for (const change of ['replay', 'drop'] as const) {
      expect(await changeDeliveries(acting({ db: server.database.db }), { change, origin })).toEqual({ changed: 0 })
    }
    expect(await replayDeliveries(acting(deps()), { origin, dry_run: true })).toMatchObject({ deliveries: 0 })
    expect(await refused(cancelDeliveries(acting(deps()), { origin }))).toBe(
      'only deliveries that are pending or held or dead can be changed so; none of these is',
    )
    expect(await statesOf()).toEqual({ dead: 1, held: 1 })
    expect(await listDeliveries(server.database, { namespace: 'civil\0' })).toEqual([])
    expect(await refused(listDeliveries(server.database, { participant: 'one.example\0' }))).toMatch(
      /^no participant has sender_id /,
    )
  },
)

test('what waits is due at once after the settings for callbacks were changed, what is held stays held', async () => {
  const pending = await add({ state: 'pending', reason: null })
  await add({ state: 'held', reason: null, origin: null })
  await query("update delivery set next_attempt_at = now() + interval '1 day' where id = $1", [pending])
  const { db, vault } = { ...server.context }
  await changeCallback(acting({ db, vault }), { sender_id: 'one.example', default_url: 'https://well.example' })
  const { rows } = await query(
    `select target, next_attempt_at < now() + interval '1 hour' as due from delivery where state = 'pending'`,
  )
  expect(rows).toEqual([{ target: 'https://well.example/registry/on-search', due: true }])
  expect(await statesOf()).toEqual({ held: 1, pending: 1 })
})

test('acts that change any number of deliveries have no time limit', async () => {
  await add()
  const owner = openDatabase(server.database.owner)
  await owner.pool.query(`
    create function check_limit() returns trigger language plpgsql as $$ begin
      if current_setting('statement_timeout') <> '0' then raise exception 'has a time limit'; end if;
      return null;
    end $$;
    create trigger check_limit after update on delivery for each statement execute function check_limit()`)
  const { db, vault } = server.context
  const all = { participant: 'one.example' }
  try {
    expect(await changeDeliveries(acting({ db }), { ...all, change: 'retry' })).toEqual({ changed: 1 })
    // It moves pending deliveries to the new address, and makes them due.
    await changeCallback(acting({ db, vault }), { sender_id: 'one.example', default_url: 'https://new.example' })
    expect(await changeDeliveries(acting({ db }), { ...all, change: 'drop' })).toEqual({ changed: 1 })
  } finally {
    await owner.pool.query('drop trigger check_limit on delivery; drop function check_limit()')
    await owner.close()
  }
  const { rows } = await query('show statement_timeout')
  expect(rows).not.toEqual([{ statement_timeout: '0' }])
})

test('destinations say what waits there, what was given up and why', async () => {
  await add()
  await add({ reason: 'http_4xx' })
  await add({ reason: 'http_4xx', made: 30 })
  await add({ state: 'pending', reason: null, origin: 'https://well.example' })
  await query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at)
     select id, $1, 5, now(), now() from participant where sender_id = 'one.example' on conflict do nothing`,
    [AWAY],
  )
  const listed = await listDestinations(server.database, {})
  expect(validator(listDestinations.result).problem(listed, '')).toBeNull()
  expect(listed.destinations.map(({ origin, waiting, dead, failures }) => [origin, waiting, dead, failures])).toEqual([
    [AWAY, 0, 3, 5],
    ['https://well.example', 1, 0, 0],
  ])
  expect(listed.destinations.map(({ last_cause }) => last_cause)).toEqual([null, null])
  expect(listed.destinations[0]?.causes).toEqual([
    { ...explainCause('http_4xx'), deliveries: 2 },
    { ...explainCause('timeout'), deliveries: 1 },
  ])
  expect((await listDestinations(server.database, { limit: 1 })).more).toBe(true)
  expect((await listDestinations(server.database, { namespace: 'social' })).destinations).toEqual([])
  expect((await listDestinations(server.database, { participant: 'two.example' })).destinations).toEqual([])
})

test('mailboxes say how much waits in them, page by page', async () => {
  const rows = eventRows(server.database, await requireRegistry(server.database.db, 'civil'))
  const participant = await findParticipant(server.database.db, 'one.example')
  if (participant === null) throw new Error('no such participant')
  for (const sender_uri of ['https://a.example', 'https://b.example']) await rows.subscribe(participant, { sender_uri })
  await query("update subscription set state = 'suspended' where mailbox = (select max(id) from mailbox)")
  await query("update mailbox set state = 'closed', closed_at = now() where id = (select max(id) from mailbox)")
  const listed = await listMailboxes(server.database, {})
  expect(validator(listMailboxes.result).problem(listed, '')).toBeNull()
  expect(listed.map(({ state, suspended, subscriptions, waiting }) => [state, suspended, subscriptions, waiting])).toEqual([
    ['closed', 1, 1, 0],
    ['open', 0, 1, 0],
  ])
  const [first] = await listMailboxes(server.database, { limit: 1 })
  expect(await listMailboxes(server.database, { before: first?.id })).toEqual(listed.slice(1))
  expect(await listMailboxes(server.database, { state: 'closed', participant: 'one.example' })).toEqual([first])
  expect(await listMailboxes(server.database, { namespace: 'social' })).toEqual([])
  expect(await refused(listMailboxes(server.database, { before: 'x' }))).toMatch(/^before: /)
})
