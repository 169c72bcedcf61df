import { StoreRefusal } from '@rollcall/database/refusal'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addSecret } from './client-secrets.ts'
import { DEFAULT_MESSAGE_POLICY } from './message-policy.ts'
import {
  addParticipant,
  changeParticipant,
  findClient,
  findParticipant,
  listParticipants,
  listParticipantsWithoutSecret,
  setParticipantStatus,
} from './participants.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const NO_RATE = 'rate_limit is a number above 0, or Infinity for no limit'
const NO_CONCURRENCY = 'concurrency_limit is a whole number of at least 1, or Infinity for no limit'

const sha256 = (byte: number) => Buffer.alloc(32, byte)

describe('addParticipant', () => {
  test('makes an active participant without a secret', async () => {
    const { db } = database
    const added = await addParticipant(db, { sender_id: 'b.example', name: 'B' })
    expect(added).toEqual({
      id: expect.any(Number),
      sender_id: 'b.example',
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'B',
      status: 'active',
      max_page_size: null,
      rate_limit: null,
      concurrency_limit: null,
      max_subscriptions: null,
      ...DEFAULT_MESSAGE_POLICY,
      demo: false,
      environment: 'live',
    })
    expect(await findParticipant(db, 'b.example')).toEqual(added)
    expect(await findClient(db, added.client_id)).toEqual({ participant: added, secrets: [] })
  })

  test('keeps what it is given, and client ids differ', async () => {
    const { db } = database
    const a = await addParticipant(db, {
      sender_id: 'a.example',
      name: 'A',
      max_page_size: 1_000,
      rate_limit: 0.5,
      concurrency_limit: Infinity,
      demo: true,
    })
    expect(a).toMatchObject({ max_page_size: 1_000, rate_limit: 0.5, concurrency_limit: Infinity, demo: true })
    const listed = await listParticipants(db)
    expect(listed.map(({ sender_id }) => sender_id)).toEqual(['a.example', 'b.example'])
    expect(new Set(listed.map(({ client_id }) => client_id)).size).toBe(2)
  })

  test.each([
    [{ sender_id: 'b.example', name: 'B' }, 'a participant with sender_id b.example exists already'],
    [{ sender_id: 'x|y', name: 'X' }, 'sender_id contains | or "'],
    [{ sender_id: 'x', name: ' ' }, "a participant's name has 1 to 255 characters"],
    [{ sender_id: 'x', name: 'x'.repeat(256) }, "a participant's name has 1 to 255 characters"],
    [{ sender_id: 'x', name: 'a\0' }, "a participant's name has 1 to 255 characters"],
    [{ sender_id: 'x', name: 'X', max_page_size: 0 }, 'max_page_size is a whole number of at least 1'],
    [{ sender_id: 'x', name: 'X', max_page_size: 1.5 }, 'max_page_size is a whole number of at least 1'],
    [{ sender_id: 'x', name: 'X', rate_limit: 0 }, NO_RATE],
    [{ sender_id: 'x', name: 'X', rate_limit: Number.NaN }, NO_RATE],
    [{ sender_id: 'x', name: 'X', concurrency_limit: 0 }, NO_CONCURRENCY],
    [{ sender_id: 'x', name: 'X', concurrency_limit: 1.5 }, NO_CONCURRENCY],
  ])('refuses %j', async (participant, message) => {
    await expect(addParticipant(database.db, participant)).rejects.toThrow(new StoreRefusal(message))
    expect(await findParticipant(database.db, 'x')).toBeNull()
  })

  test('the database itself refuses a sender_id that breaks the rules', async () => {
    const insert = `insert into participant (sender_id, client_id, name) values ($1, 'c', 'n')`
    for (const sender_id of ['', 'a|b', 'a"b', 'a\nb', 'x'.repeat(256)]) {
      await expect(database.db.pool.query(insert, [sender_id])).rejects.toMatchObject({ code: '23514' })
    }
  })
})

test('what PostgreSQL cannot hold is found nowhere', async () => {
  expect(await findParticipant(database.db, 'b.example\0')).toBeNull()
  expect(await findClient(database.db, '\0')).toBeNull()
  expect(await findClient(database.db, '\ud800')).toBeNull()
  expect(await findClient(database.db, `' or true --`)).toBeNull()
})

test('a participant is disabled and enabled again', async () => {
  const { db } = database
  expect(await setParticipantStatus(db, 'b.example', 'disabled')).toMatchObject({ status: 'disabled' })
  expect(await findParticipant(db, 'b.example')).toMatchObject({ status: 'disabled' })
  expect(await setParticipantStatus(db, 'b.example', 'active')).toMatchObject({ status: 'active' })
  await expect(setParticipantStatus(db, 'nobody', 'disabled')).rejects.toThrow(
    new StoreRefusal('no participant has sender_id nobody'),
  )
  await expect(setParticipantStatus(db, 'b.example\0', 'disabled')).rejects.toThrow(StoreRefusal)
})

describe('changeParticipant, the limit of subscriptions', () => {
  test('changes what is named, and refuses a limit that is none', async () => {
    const { db } = database
    await addParticipant(db, { sender_id: 'events.example', name: 'E', max_subscriptions: 5 })
    const set = (changes: Parameters<typeof changeParticipant>[2]) => changeParticipant(db, 'events.example', changes)
    expect(await set({ max_subscriptions: 7 })).toMatchObject({ max_subscriptions: 7 })
    expect(await set({ max_subscriptions: Infinity })).toMatchObject({ max_subscriptions: Infinity })
    expect(await set({ max_subscriptions: null })).toMatchObject({ max_subscriptions: null })
    for (const max_subscriptions of [-1, 1.5, Number.NaN]) {
      await expect(set({ max_subscriptions })).rejects.toThrow(
        'max_subscriptions is a whole number of at least 0, or Infinity for no limit',
      )
    }
    await expect(changeParticipant(db, 'nobody', { max_subscriptions: 1 })).rejects.toThrow('no participant has sender_id nobody')
  })
})

describe('changeParticipant, quotas', () => {
  test('sets both limits, and gives them back to the server', async () => {
    const { db } = database
    const set = (rate_limit: number | null, concurrency_limit: number | null) =>
      changeParticipant(db, 'b.example', { rate_limit, concurrency_limit })
    expect(await set(20, Infinity)).toMatchObject({ rate_limit: 20, concurrency_limit: Infinity })
    expect(await findParticipant(db, 'b.example')).toMatchObject({ rate_limit: 20, concurrency_limit: Infinity })
    expect(await set(null, null)).toMatchObject({ rate_limit: null, concurrency_limit: null })
    await expect(set(-1, null)).rejects.toThrow(new StoreRefusal(NO_RATE))
    await expect(set(null, 0)).rejects.toThrow(new StoreRefusal(NO_CONCURRENCY))
    const limits = { rate_limit: 1, concurrency_limit: 1 }
    await expect(changeParticipant(db, 'nobody', limits)).rejects.toThrow(new StoreRefusal('no participant has sender_id nobody'))
  })

  test.each(['rate_limit', 'concurrency_limit'])('the database itself refuses a %s that is none', async (column) => {
    for (const value of ['0', '-1', 'NaN', '-Infinity']) {
      const update = database.db.pool.query(`update participant set ${column} = $1`, [value])
      await expect(update).rejects.toMatchObject({ code: '23514' })
    }
  })
})

describe('addSecret', () => {
  test('two live at most, the oldest goes', async () => {
    const { db } = database
    const participant = await addParticipant(db, { sender_id: 'c.example', name: 'C' })
    const live = async () => (await findClient(db, participant.client_id))?.secrets
    await addSecret(db, participant, sha256(1))
    expect(await live()).toEqual([sha256(1)])
    await addSecret(db, participant, sha256(2))
    expect(await live()).toEqual([sha256(2), sha256(1)])
    await addSecret(db, participant, sha256(3))
    expect(await live()).toEqual([sha256(3), sha256(2)])
    const { rows } = await db.pool.query(
      'select sha256 from participant_secret where participant = $1 and retired_at is not null',
      [participant.id],
    )
    expect(rows).toEqual([{ sha256: sha256(1) }])
  })

  test('whoever has none is listed, whatever was retired', async () => {
    const { db } = database
    const without = async () => (await listParticipantsWithoutSecret(db)).map(({ sender_id }) => sender_id)
    const participant = await addParticipant(db, { sender_id: 'no-secret.example', name: 'N' })
    expect(await without()).toContain('no-secret.example')
    await addSecret(db, participant, sha256(1))
    expect(await without()).not.toContain('no-secret.example')
    await db.pool.query('update participant_secret set retired_at = now() where participant = $1', [participant.id])
    expect(await without()).toContain('no-secret.example')
  })

  test('two live at most, however many are added at once', async () => {
    const { db } = database
    const participant = await addParticipant(db, { sender_id: 'd.example', name: 'D' })
    await Promise.all([1, 2, 3, 4, 5, 6].map((byte) => addSecret(db, participant, sha256(byte))))
    expect((await findClient(db, participant.client_id))?.secrets).toHaveLength(2)
  })

  test('refuses a participant that is not there, and what is no SHA-256', async () => {
    const { db } = database
    await expect(addSecret(db, { id: 999_999 }, sha256(1))).rejects.toThrow(new StoreRefusal('no such participant'))
    const participant = await addParticipant(db, { sender_id: 'e.example', name: 'E' })
    await expect(addSecret(db, participant, Buffer.from('clear'))).rejects.toMatchObject({ code: '23514' })
  })
})
