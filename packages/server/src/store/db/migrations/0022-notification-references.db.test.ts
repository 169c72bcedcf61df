import { expect, test } from 'vitest'
import { testDatabase } from '../../../../test/postgres.ts'
import { migrate } from '../database.ts'

test('a migration that landed after one with a higher number runs on a database that has that one', async () => {
  const { db, close } = await testDatabase()
  await db.pool.query('drop index notification_reference_index')
  await db.pool.query(`delete from rollcall_migration where name = '0022-notification-references'`)
  expect(await migrate(db)).toEqual(['0022-notification-references'])
  expect(await migrate(db)).toEqual([])
  await close()
})
