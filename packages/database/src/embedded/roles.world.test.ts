import { expect, test } from 'vitest'
import { query, temporaryDirectory } from '../../test/embedded.ts'
import { migrate, openDatabase } from '../database.ts'
import { readDatabaseRoleFacts } from '../roles.ts'
import { openEmbeddedPostgres } from './postgres.ts'

const databases = ({ connection, application }: Awaited<ReturnType<typeof openEmbeddedPostgres>>) =>
  [connection, application].map((one) => openDatabase(one as Parameters<typeof openDatabase>[0]))

test('a data folder of an earlier version, where the superuser has everything, gets two roles', async () => {
  const directory = await temporaryDirectory()
  const first = await openEmbeddedPostgres(directory)
  const [before] = databases(first)
  if (before === undefined) throw new Error('no database')
  await migrate(before)
  await before.close()
  await query(first.connection, 'drop role rollcall_application')
  await first.close()

  const second = await openEmbeddedPostgres(directory)
  expect(second.application).toMatchObject({ user: 'rollcall_application', database: 'rollcall' })
  expect(second.application.password).not.toBe(second.connection.password)
  const [owner, application] = databases(second)
  if (owner === undefined || application === undefined) throw new Error('no databases')
  await expect(migrate(application)).rejects.toThrow('the role of DATABASE_URL may not read the tables')
  expect(await migrate(owner, application)).toEqual([])
  expect(await readDatabaseRoleFacts(application)).toMatchObject({ separate: true, superuser: false })
  await expect(application.pool.query('delete from account')).rejects.toMatchObject({ code: '42501' })
  await expect(application.pool.query('select pg_read_file($1)', ['PG_VERSION'])).rejects.toMatchObject({ code: '42501' })
  expect(await migrate(application)).toEqual([])
  await Promise.all([owner.close(), application.close()])
  await second.close()
})
