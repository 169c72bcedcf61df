import { expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { migrate, openDatabase } from '../database.ts'

test('a migration that landed after one with a higher number runs on a database that has that one', async () => {
  const { db, owner: connection, close } = await testDatabase()
  const owner = openDatabase(connection)
  await db.pool.query('drop index notification_reference_index')
  await owner.pool.query(`delete from rollcall_migration where name = '0022-notification-references'`)
  expect(await migrate(owner, db)).toEqual(['0022-notification-references'])
  expect(await migrate(db)).toEqual([])
  await owner.close()
  await close()
})
