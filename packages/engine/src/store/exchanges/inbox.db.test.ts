import { randomUUID } from 'node:crypto'
import { type Database, openDatabase } from '@rollcall/database/database'
import { isUnavailable } from '@rollcall/database/database-errors'
import { readDayStorageUse } from '@rollcall/participants/store/day-counts'
import { addParticipant } from '@rollcall/participants/store/participants'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import { forgetInbox } from './forget-exchanges.ts'
import { createInbox, type Inbox, type NewInboxMessage } from './inbox.ts'
import { findInInbox, listInbox } from './inbox-list.ts'

let database: TestDatabase
/** Another node: its own pool, its own queue. */
let other: Database
let inbox: Inbox
let elsewhere: Inbox
beforeAll(async () => {
  database = await testDatabase()
  other = openDatabase(database.connection)
  inbox = createInbox(database.db, { waiting: 10_000 })
  elsewhere = createInbox(other, { waiting: 10_000 })
})
afterAll(async () => {
  await other.close()
  await database.close()
})

const fingerprint = (byte: number): Buffer => Buffer.alloc(32, byte)

function message(message_id: string, changes: Partial<NewInboxMessage> = {}): NewInboxMessage {
  return {
    participant: 1,
    message_id,
    fingerprint: fingerprint(1),
    callback: 'notify',
    registry: 1,
    correlation_id: randomUUID(),
    transaction_id: 'tx-1',
    status: 'succ',
    state: 'stored',
    body: Buffer.from('sealed'),
    ...changes,
  }
}

test('a message is kept once; again it is the same, and with another content different', async () => {
  const first = message('m-1')
  expect(await inbox.persist(first)).toEqual({ correlation_id: first.correlation_id, known: 'new' })
  const { rows } = await database.db.pool.query('select * from inbox_message')
  expect(rows).toEqual([{ ...first, received_at: expect.any(Date) }])
  for (const node of [inbox, elsewhere]) {
    const same = { correlation_id: first.correlation_id, known: 'same' }
    expect(await node.persist(message('m-1'))).toEqual(same)
    expect(await node.known(message('m-1'))).toEqual(same)
    const changed = message('m-1', { fingerprint: fingerprint(2) })
    expect(await node.persist(changed)).toMatchObject({ known: 'different' })
    expect(await node.known(changed)).toMatchObject({ known: 'different' })
  }
  expect(await inbox.known(message('m-2'))).toBeNull()
  expect(await inbox.persist(message('m-1', { participant: 9 }))).toMatchObject({ known: 'new' })
})

test('of concurrent duplicates on two nodes one is new, and each is counted once', async () => {
  const duplicates = Array.from({ length: 300 }, (_, at) => message(`duplicate-${at % 30}`, { participant: 2 + (at % 3) }))
  const answers = await Promise.all(duplicates.map((duplicate, at) => (at % 2 === 0 ? inbox : elsewhere).persist(duplicate)))
  expect(answers.filter(({ known }) => known === 'new')).toHaveLength(30)
  expect(answers.filter(({ known }) => known === 'same')).toHaveLength(270)
  for (const participant of [2, 3, 4]) {
    expect(await readDayStorageUse(other, 'inbox_day', participant)).toEqual({
      messages: 10,
      bytes: 60,
      seconds_left: expect.any(Number),
    })
  }
  const { messages, bytes, seconds_left } = await readDayStorageUse(database.db, 'inbox_day', 77)
  expect([messages, bytes]).toEqual([0, 0])
  const midnight = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000)
  expect(Math.abs(seconds_left - midnight)).toBeLessThan(5)
})

test('only today counts', async () => {
  await inbox.persist(message('old', { participant: 20 }))
  await database.db.pool.query(`update inbox_day set day = day - 1 where participant = 20`)
  expect(await readDayStorageUse(database.db, 'inbox_day', 20)).toMatchObject({ messages: 0, bytes: 0 })
})

test('a message_id of any length is kept', async () => {
  const long = 'x'.repeat(5_000)
  expect(await inbox.persist(message(long))).toMatchObject({ known: 'new' })
  expect(await inbox.persist(message(long))).toMatchObject({ known: 'same' })
  expect(await inbox.persist(message(`${long}y`))).toMatchObject({ known: 'new' })
})

test('without a database nothing is kept, and that is told', async () => {
  const closed = openDatabase(database.connection)
  const lost = createInbox(closed, { waiting: 10 })
  await closed.close()
  await expect(lost.persist(message('lost'))).rejects.toThrow()
  const none = createInbox(database.db, { waiting: 0 })
  const error = await none.persist(message('busy')).catch((thrown: unknown) => thrown)
  expect(isUnavailable(error)).toBe(true)
  expect(await inbox.known(message('lost'))).toBeNull()
})

describe('the list', () => {
  let owner: number
  beforeAll(async () => {
    await database.db.pool.query('delete from inbox_message')
    const participant = await addParticipant(database.db, { sender_id: 'reg.example', name: 'A registry' })
    owner = participant.id
    const registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    const rows: [string, Partial<NewInboxMessage>, string][] = [
      ['a', { callback: 'on-search', state: 'quarantined' }, '2026-01-01'],
      ['b', { callback: 'notify' }, '2026-01-02'],
      ['c', { callback: 'notify', registry: 99, status: null, transaction_id: null }, '2026-01-03'],
    ]
    for (const [id, changes, day] of rows) {
      await inbox.persist(message(id, { participant: owner, registry: registry.id, ...changes }))
      await database.db.pool.query('update inbox_message set received_at = $1 where message_id = $2', [day, id])
    }
    const second = await addParticipant(database.db, { sender_id: 'other.example', name: 'Another' })
    await inbox.persist(message('a', { participant: second.id, registry: registry.id }))
  })

  test.each([
    [{}, ['other.example a', 'reg.example c', 'reg.example b', 'reg.example a']],
    [{ limit: 2 }, ['other.example a', 'reg.example c']],
    [{ participant: 'reg.example' }, ['reg.example c', 'reg.example b', 'reg.example a']],
    [{ participant: 'nobody.example' }, []],
    [{ callback: 'notify' }, ['other.example a', 'reg.example c', 'reg.example b']],
    [{ state: 'quarantined' as const }, ['reg.example a']],
    [{ since: new Date('2026-01-02'), until: new Date('2026-01-03') }, ['reg.example b']],
  ])('with %j is in order', async (filter, expected) => {
    const entries = await listInbox(database.db, { limit: 10, ...filter })
    expect(entries.map(({ participant, message_id }) => `${participant} ${message_id}`)).toEqual(expected)
  })

  test('says of a message what is known without opening it', async () => {
    const [entry] = await listInbox(database.db, { limit: 1, participant: 'reg.example' })
    expect(entry).toEqual({
      participant: 'reg.example',
      message_id: 'c',
      callback: 'notify',
      registry: null,
      correlation_id: expect.any(String),
      transaction_id: null,
      status: null,
      state: 'stored',
      bytes: 6,
      received_at: new Date('2026-01-03'),
    })
  })

  test('a message is found by its id and its sender', async () => {
    const both = await findInInbox(database.db, 'a')
    expect(both.map(({ participant }) => participant)).toEqual(['other.example', 'reg.example'])
    const [one, ...more] = await findInInbox(database.db, 'a', 'reg.example')
    expect(more).toEqual([])
    expect(one).toMatchObject({ owner, body: Buffer.from('sealed'), registry: 'civil' })
    expect(await findInInbox(database.db, 'z')).toEqual([])
  })

  test('what is older than the retention goes, with the counts of days that are over', async () => {
    await database.db.pool.query(`update inbox_message set received_at = now() - interval '5 days' where message_id = 'b'`)
    await database.db.pool.query(`insert into inbox_day values ($1, current_date - 3, 1, 1)`, [owner])
    const before = (await listInbox(database.db, { limit: 10, since: new Date(Date.now() - 10 * 86_400_000) })).length
    // Those of January are long over it; the other participant's is of today.
    expect(await forgetInbox(database.db, 6 * 86_400)).toBe(2)
    expect(await forgetInbox(database.db, 4 * 86_400)).toBe(1)
    expect(before).toBe(2)
    const left = await listInbox(database.db, { limit: 10 })
    expect(left.map(({ participant }) => participant)).toEqual(['other.example'])
    const { rows } = await database.db.pool.query('select * from inbox_day where day < current_date - 1')
    expect(rows).toEqual([])
  })
})

test('lists and housekeeping read indexes', async () => {
  await database.db.pool.query(`insert into inbox_message
    select 1 + n % 50, 'bulk-' || n, sha256(n::text::bytea), 'notify', 1, null, null, null, 'stored', '\\x00',
      now() - n * interval '1 minute' from generate_series(1, 20000) as n`)
  await database.db.pool.query('analyze inbox_message')
  const plan = async (text: string): Promise<string> => {
    const { rows } = await database.db.pool.query(`explain (costs off) ${text}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  expect(await plan('select 1 from inbox_message where participant = 7 order by received_at desc limit 100')).toContain(
    'inbox_message_participant_index',
  )
  expect(
    await plan(`select ctid from inbox_message where received_at < now() - interval '13 days' order by received_at limit 5000`),
  ).toContain('inbox_message_received_index')
})
