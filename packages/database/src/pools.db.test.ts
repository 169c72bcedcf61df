import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { query } from '../test/statement.ts'
import { type Database, openDatabase } from './database.ts'
import { openMinConnections, WaitingPool } from './pools.ts'

const ROLE = 'few_connections'

let database: TestDatabase
let db: Database

/** A role that may have four connections at a time. */
beforeAll(async () => {
  database = await testDatabase()
  await query(database.owner, `create role ${ROLE} login password 'few' connection limit 4`)
  db = openDatabase({ ...database.connection, user: ROLE, password: 'few' })
})

afterAll(async () => {
  await db.close()
  await query(database.owner, `drop role ${ROLE}`)
  await database.close()
})

test('at the limit of its role a pool waits for its own connections, and those of asynchronous searches are left alone', async () => {
  const searches = new WaitingPool({ ...db.connection, max: 2, min: 2 })
  await openMinConnections(searches)
  const held = await Promise.all([searches.connect(), searches.connect()])
  for (const client of held) client.release()
  const asked = Array.from({ length: 200 }, () => db.pool.query('select pg_sleep(0.001)'))
  const worked = Array.from({ length: 20 }, () => searches.query('select 1 as one'))
  expect((await Promise.all(worked)).map(({ rows }) => rows)).toEqual(Array(20).fill([{ one: 1 }]))
  expect(await Promise.all(asked)).toHaveLength(200)
  expect([searches.totalCount, db.pool.totalCount]).toEqual([2, 2])
  await searches.end()
})

test('where there is none at all, whoever asks is told', async () => {
  const full = new WaitingPool({ ...db.connection, max: 4, min: 4 })
  await db.pool.query('select 1')
  await expect(openMinConnections(full)).rejects.toMatchObject({ code: '53300' })
  await full.end()
})
