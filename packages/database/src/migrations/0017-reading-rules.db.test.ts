import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { readingRules } from './0017-reading-rules.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

test('telephone numbers of earlier versions are found by their digits, and as they were', async () => {
  const { pool, kysely } = database.db
  await pool.query('drop table column_rules')
  await pool.query('alter table import_progress drop column inserted, drop column read')
  await pool.query(
    `create table r9_person_identifier (type text collate "C", value text collate "C", record bigint,
       names_record boolean, primary key (type, value, record))`,
  )
  await pool.query(
    `insert into r9_person_identifier values ('MOBILE', '+12345', 1, true), ('MOBILE', '12345', 1, false),
       ('MOBILE', '+777', 2, true), ('UIN', '+1', 2, true)`,
  )
  await kysely.transaction().execute((transaction) => readingRules.up(transaction))
  const { rows } = await sql<{ value: string }>`
    select type || ' ' || value || ' ' || record as value from r9_person_identifier order by 1`.execute(kysely)
  expect(rows.map(({ value }) => value)).toEqual([
    'MOBILE +12345 1',
    'MOBILE +777 2',
    'MOBILE 12345 1',
    'MOBILE 777 2',
    'UIN +1 2',
  ])
})
