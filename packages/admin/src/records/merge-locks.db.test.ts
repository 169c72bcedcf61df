/** The locks of a merge: those that it waits for, and those that it holds. */
import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { mergeRecords } from './merge.ts'
import { importRecords } from './records.ts'

let database: TestDatabase
let civil: Registry
beforeAll(async () => {
  database = await testDatabase()
  civil = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(() => database.close())
beforeEach(async () => {
  await rows('truncate event, retired_record, r1_person cascade')
  await load('U-1', 'U-2')
})

const limits = DEFAULT_LIMITS
const deps = () => ({ db: database.db, limits })
const rows = async (statement: string, ...values: unknown[]) => (await database.db.pool.query(statement, values)).rows
const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
const load = (...values: readonly string[]) => {
  const lines = values.map((value) => `${JSON.stringify({ identifier: [uin(value)] })}\n`)
  const source = Readable.from([Buffer.from(lines.join(''))])
  return importRecords(acting({ ...deps(), source }), { namespace: 'civil', format: 'ndjson' })
}
const merge = (survivor: string, retired: string) =>
  mergeRecords(acting(deps()), { namespace: 'civil', survivor: uin(survivor), retired: uin(retired) })
/** Until something waits for a lock of this kind. */
const waitsFor = (locktype: string) =>
  expect.poll(() => rows('select from pg_locks where locktype = $1 and not granted', locktype)).toHaveLength(1)

test('a merge waits for changes that are under way, also those of an import without events', async () => {
  let merged: Promise<unknown> | undefined
  await withTransaction(database.db.pool, async (client) => {
    await lockRegistryFor(client, civil.id, 'change')
    merged = merge('U-1', 'U-2')
    await waitsFor('advisory')
    expect(await rows('select from r1_person')).toHaveLength(2)
  })
  await merged
  await withTransaction(database.db.pool, async (client) => {
    await lockRegistryFor(client, civil.id, 'exclusive change')
    merged = load('U-3')
    await waitsFor('advisory')
  })
  await merged
  expect(await rows('select from r1_person')).toHaveLength(2)
})

test.each([
  ['U-1', 'U-2'],
  ['U-2', 'U-1'],
])('a merge into %s locks both records in the order of a backfill', async (survivor, retired) => {
  let merged: Promise<unknown> | undefined
  await withTransaction(database.db.pool, async (client) => {
    const [first, second] = await rows('select id from r1_person order by id')
    // This is the lock of a backfill that has come to the first record.
    const lock = 'select from r1_person where id = $1 for no key update nowait'
    await client.query(lock, [first?.id])
    merged = merge(survivor, retired)
    await waitsFor('transactionid')
    await client.query(lock, [second?.id])
  })
  await merged
  expect(await rows('select from r1_person')).toHaveLength(1)
})
