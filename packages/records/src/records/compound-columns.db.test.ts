import type { AttributeScalar } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { area, crop, cropType, sown } from '../../test/query-fixture.ts'
import { compoundColumn, memberJsonWriter } from './columns.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const column = compoundColumn(crop)

test('a compound is one column of JSON, empty without elements', () => {
  expect(column).toMatchObject({ name: 'crop', sql_type: 'jsonb', definition: 'jsonb' })
  expect(column.toSql([])).toBeNull()
})

test('members that an element lacks are left out, others than the members as well', () => {
  const elements = [{ sown: { from: '1985-01-01', to: '1985-12-31' } }, { area: 2, crop_type: 'rice', other: 1 }]
  expect(column.toSql(elements)).toBe('[{"sown_from":"1985-01-01","sown_to":"1985-12-31"},{"crop_type":"rice","area":2}]')
})

test.each(['NULL', '"', '\\', '\\u0000', '\u2028', '😀', "'", '\n', '{}'])('PostgreSQL holds %j', async (text) => {
  const { rows } = await database.db.pool.query('select $1::jsonb as held', [column.toSql([{ crop_type: text }])])
  expect(rows).toEqual([{ held: [{ crop_type: text }] }])
})

test.each([
  [cropType, 'rice', '"crop_type":"rice"'],
  [area, 5e-324, '"area":5e-324'],
  [sown, { from: '2024-03-01', to: '2024-03-01' }, '"sown_from":"2024-03-01","sown_to":"2024-03-01"'],
] as const)('%o of %o is written as %s', (member, value: AttributeScalar, expected) => {
  expect(memberJsonWriter(member)(value)).toBe(expected)
})

test('a date that is not an interval is an error of ours', () => {
  expect(() => memberJsonWriter(sown)('2024')).toThrow('a date attribute holds an interval of days')
})
