import { randomBytes } from 'node:crypto'
import { openDatabase } from '@rollcall/database/database'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { testClock } from '../../observe/test/clock.ts'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { type BodyEncryption, BodyUnreadable, createBodyEncryption } from './bodies.ts'
import { generateMasterKey, masterKeyFromEnvironment } from './master-key.ts'
import { createVault } from './vault.ts'

let database: TestDatabase
let bodies: BodyEncryption
const source = masterKeyFromEnvironment({ masterKey: generateMasterKey(), newMasterKey: undefined })

beforeAll(async () => {
  database = await testDatabase()
  bodies = await node()
})
afterAll(() => database.close())

/** As another process would: nothing in memory yet. */
const node = async (clock = testClock()): Promise<BodyEncryption> =>
  createBodyEncryption(database.db, await createVault(database.db, source), clock)

const FORGOTTEN = new BodyUnreadable('forgotten')
const ALTERED = new BodyUnreadable('altered')
const days = async (): Promise<string[]> =>
  (await database.db.pool.query<{ day: string }>('select day from body_key order by day')).rows.map(({ day }) => day)

test('what is sealed is opened, here and by other nodes, whatever the text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string(), async (text, context) => {
      const wellFormed = text.toWellFormed()
      expect(await bodies.decryptBody(await bodies.encryptBody(wellFormed, context), context)).toBe(wellFormed)
    }),
    { numRuns: 50 },
  )
  const sealed = await bodies.encryptBody('ñ 人 😀', 'exchange 1')
  expect(await (await node()).decryptBody(sealed, 'exchange 1')).toBe('ñ 人 😀')
})

test.each([0, 1_024, 1_025, 32_768, 32_769, 3_000_000])('a text of %i bytes is opened as it was', async (bytes) => {
  const regular = 'x'.repeat(bytes)
  const random = randomBytes(bytes).toString('base64').slice(0, bytes)
  for (const text of [regular, random]) {
    const sealed = await bodies.encryptBody(text, 'a')
    expect((await bodies.decryptBody(sealed, 'a')) === text).toBe(true)
    expect(sealed.length).toBeLessThan(bytes + 100)
  }
})

test('shows nothing of the text, and a large one gets smaller', async () => {
  const text = JSON.stringify(Array.from({ length: 2_000 }, (_, at) => ({ surname: 'Mbeki-Okonkwo', at })))
  const sealed = await bodies.encryptBody(text, 'a')
  expect(sealed.length).toBeLessThan(text.length / 3)
  expect(sealed.includes('Okonkwo')).toBe(false)
  expect(await bodies.encryptBody(text, 'a')).not.toEqual(sealed)
})

test('opens in its own context only', async () => {
  const sealed = await bodies.encryptBody('text', 'exchange 1 request')
  await expect(bodies.decryptBody(sealed, 'exchange 2 request')).rejects.toThrow(ALTERED)
})

test('with any byte changed, or cut short, it stays closed', async () => {
  const short = await bodies.encryptBody('text', 'a', '2026-03-01')
  const deflated = await bodies.encryptBody('x'.repeat(2_000), 'a', '2026-03-01')
  for (const sealed of [short, deflated]) await staysClosed(sealed)
})

async function staysClosed(sealed: Buffer): Promise<void> {
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed)
    altered[at] = (altered[at] ?? 0) ^ 0x80
    await expect(bodies.decryptBody(altered, 'a'), `byte ${at}`).rejects.toThrow(BodyUnreadable)
    await expect(bodies.decryptBody(sealed.subarray(0, at), 'a')).rejects.toThrow(ALTERED)
  }
  const otherwise = Buffer.from(sealed)
  otherwise[0] = 3 - (sealed[0] ?? 0)
  await expect(bodies.decryptBody(otherwise, 'a'), 'the other format').rejects.toThrow(ALTERED)
}

test('several nodes that need a new day’s key at once share one', async () => {
  const nodes = await Promise.all([node(), node(), node()])
  const sealed = await Promise.all(nodes.flatMap((one) => ['x', 'y'].map((text) => one.encryptBody(text, 'a', '2026-02-01'))))
  const fresh = await node()
  expect(await Promise.all(sealed.map((body) => fresh.decryptBody(body, 'a')))).toEqual(['x', 'y', 'x', 'y', 'x', 'y'])
})

test.each(['2026-2-1', '2026-02-30', 'today', '', '1969-12-31', '10000-01-01'])(
  'the day %j is refused, and no key is made for it',
  async (day) => {
    const before = await days()
    await expect(bodies.encryptBody('x', 'a', day)).rejects.toThrow(new RangeError('a day is written YYYY-MM-DD'))
    expect(await days()).toEqual(before)
  },
)

describe('when the key of a day is destroyed', () => {
  const destroy = (day: string) => database.db.pool.query('delete from body_key where day = $1', [day])

  test('its bodies are closed for good within seconds on every node; other days stay', async () => {
    const clock = testClock()
    const other = await node(clock)
    const [gone, stays] = [
      await bodies.encryptBody('gone', 'a', '2026-01-01'),
      await bodies.encryptBody('stays', 'a', '2026-01-02'),
    ]
    expect(await other.decryptBody(gone, 'a')).toBe('gone')
    await destroy('2026-01-01')
    await expect((await node()).decryptBody(gone, 'a')).rejects.toThrow(FORGOTTEN)
    clock.pass(5_000)
    await expect(other.decryptBody(gone, 'a')).rejects.toThrow(FORGOTTEN)
    expect(await other.decryptBody(stays, 'a')).toBe('stays')
  })

  test('a key made for the same day later does not open them', async () => {
    const gone = await bodies.encryptBody('gone', 'a', '2026-01-03')
    await destroy('2026-01-03')
    const other = await node()
    const later = await other.encryptBody('later', 'a', '2026-01-03')
    await expect(other.decryptBody(gone, 'a')).rejects.toThrow(ALTERED)
    expect(await other.decryptBody(later, 'a')).toBe('later')
  })
})

test('keys are asked for once in some seconds, not once a body', async () => {
  const db = openDatabase(database.connection)
  try {
    const fresh = createBodyEncryption(db, await createVault(db, source))
    const sealed = await fresh.encryptBody('x', 'a', '2026-01-05')
    const query = vi.spyOn(db.pool, 'connect')
    for (let at = 0; at < 20; at += 1) await fresh.decryptBody(sealed, 'a')
    expect(query).not.toHaveBeenCalled()
  } finally {
    await db.close()
  }
})
