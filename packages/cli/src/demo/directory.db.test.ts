import { countRecords } from '@rollcall/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../server/test/postgres.ts'
import { ensureDemoDirectory } from './directory.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

test('a demo of an earlier version gets the columns and indexes that it has not, filled', async () => {
  const { db } = database
  const { registries } = await ensureDemoDirectory(db)
  const civil = registries.find(({ namespace }) => namespace === 'civil')
  const table = `r${civil?.id}_person`
  await db.pool.query(
    `insert into ${table} (primary_identifier, document) values ('U1', '{"sex": "female"}')`,
  )
  await db.pool.query(`alter table ${table} drop column sex, drop column surname`)

  const again = await ensureDemoDirectory(db)
  expect(again.registries.flatMap(({ unfilled }) => [...unfilled])).toEqual([])
  const { rows } = await db.pool.query(`select sex is not null as filled from ${table}`)
  expect(rows).toEqual([{ filled: true }])
  const { rows: indexes } = await db.pool.query('select to_regclass($1) is not null as built', [
    `${table}_surname_index`,
  ])
  expect(indexes).toEqual([{ built: true }])
  const [first] = again.registries
  expect(first && (await countRecords(db, first))).toEqual({ Person: 1 })
})
