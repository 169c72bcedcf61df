import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { migrate, openDatabase } from '../database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const query = async (text: string) => (await database.db.pool.query(text)).rows

test('mailboxes that are there, and those of a node of the version before, each have 32 random bytes', async () => {
  const owner = openDatabase(database.owner)
  await owner.pool.query('alter table mailbox drop column reference_key')
  await owner.pool.query(`delete from rollcall_migration where name = '0057-reference-keys'`)
  await query('insert into mailbox (participant, registry) select 1, at from generate_series(1, 50) as at')
  expect(await migrate(owner, database.db)).toEqual(['0057-reference-keys'])
  await owner.close()
  await query('insert into mailbox (participant, registry) select 2, at from generate_series(1, 50) as at')
  expect(
    await query('select count(distinct reference_key), min(length(reference_key)), max(length(reference_key)) from mailbox'),
  ).toEqual([{ count: 100, min: 32, max: 32 }])
  // No two bytes of a UUID that every version 4 has in common are left.
  const [bytes] = await query(`select count(distinct get_byte(reference_key, 6)) > 30 as version,
    count(distinct get_byte(reference_key, 8)) > 30 as variant from mailbox`)
  expect(bytes).toEqual({ version: true, variant: true })
})
