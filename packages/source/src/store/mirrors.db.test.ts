import { randomUUID } from 'node:crypto'
import { continueJournalAfterRestore } from '@rollcall/database/journal-head'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { mirroredRegistry } from '../../test/mirrored-office.ts'
import { ClaimLost, claimMirror, logPlaceName, releaseMirror, renewMirror, saveProgress } from './mirrors.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

test('one node has a mirror at a time; where its claim has ended another one takes over, and the first one writes no more', async () => {
  const { pool } = database.db
  const source = { way: 'mirror' }
  const { id: registry } = await mirroredRegistry(database.db, source)
  const [first, second] = [randomUUID(), randomUUID()].map((claim) => ({ registry, claim })) as [
    { registry: number; claim: string },
    { registry: number; claim: string },
  ]
  expect(await claimMirror(pool, first, source, 60)).toMatchObject({ file: null, position: null, compared_at: null })
  expect(await claimMirror(pool, second, source, 60)).toBeNull()
  expect(await renewMirror(pool, first, 60)).toBe(true)
  await saveProgress(pool, first, { file: 'f', position: { log: '0/1' } })
  // The node is dead: nobody renews its claim.
  await pool.query(`update source_mirror set claimed_until = now() - interval '1 second'`)
  expect(await claimMirror(pool, second, source, 60)).toMatchObject({ file: 'f', position: { log: '0/1' } })
  expect(await renewMirror(pool, first, 60)).toBe(false)
  await expect(saveProgress(pool, first, { position: { log: '0/2' } })).rejects.toBeInstanceOf(ClaimLost)
  await releaseMirror(pool, second)
  expect(await claimMirror(pool, first, { ...source, follow: 'poll' }, 60), 'a former source file').toBeNull()
  expect(await claimMirror(pool, first, source, 60)).toMatchObject({ position: { log: '0/1' } })
})

test('the place in a log keeps its name until the database is restored', async () => {
  const { pool } = database.db
  const name = () => logPlaceName(pool, { namespace: 'civil' })
  const first = await name()
  expect(first).toMatch(/^civil_[0-9a-f]{8}$/)
  expect(await name()).toBe(first)
  await continueJournalAfterRestore(pool, null)
  const second = await name()
  expect(second).toMatch(/^civil_[0-9a-f]{8}$/)
  expect(second).not.toBe(first)
})
