import { openDatabase } from '@rollcall/database/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import { createReceivedCiphertextStore } from './sealed-messages.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const sealed = (byte: number, participant = 1, message_id = 'm-1') => ({
  fingerprint: Buffer.alloc(32, byte),
  participant,
  message_id,
})

test('a ciphertext belongs to the message it first came in', async () => {
  const memory = createReceivedCiphertextStore(database.db, { waiting: 100 })
  expect(await memory.remember(sealed(1))).toBe(true)
  expect(await memory.remember(sealed(1))).toBe(true)
  expect(await memory.remember(sealed(1, 2))).toBe(false)
  expect(await memory.remember(sealed(1, 1, 'm-2'))).toBe(false)
  expect(await memory.remember(sealed(1))).toBe(true)
})

test('a message encrypted once more brings a ciphertext of its own, which is remembered as well', async () => {
  const memory = createReceivedCiphertextStore(database.db, { waiting: 100 })
  expect(await memory.remember(sealed(2))).toBe(true)
  expect(await memory.remember(sealed(3))).toBe(true)
  expect(await memory.remember(sealed(3, 2))).toBe(false)
})

test('a message_id of any length is told from another', async () => {
  const memory = createReceivedCiphertextStore(database.db, { waiting: 100 })
  const long = 'x'.repeat(100_000)
  expect(await memory.remember(sealed(4, 1, long))).toBe(true)
  expect(await memory.remember(sealed(4, 1, long))).toBe(true)
  expect(await memory.remember(sealed(4, 1, `${long}y`))).toBe(false)
})

test('of concurrent senders on two nodes one has it', async () => {
  const other = openDatabase(database.connection)
  const nodes = [database.db, other].map((db) => createReceivedCiphertextStore(db, { waiting: 1_000 }))
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => nodes[index % 2]?.remember(sealed(100 + (index % 5), index))),
  )
  expect(answers.filter((mine) => mine === true)).toHaveLength(5)
  await other.close()
})
