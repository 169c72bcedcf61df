/** A number that counts persons, in a source that is read live: it is asked about as it is shown, without protected persons. */

import { NOBODY_PROTECTED, type Protection } from '@rollcall/core/model/protection'
import { type Attribute, type Kind, kindNamed } from '@rollcall/protocol'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { addressOf } from '../test/office.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { createLiveRecordAccess } from './live-records.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('social') as Kind
const recordType = kind.record_types.find(({ name }) => name === 'Group') as Kind['record_types'][0]
const group_size = recordType.attributes.find(({ name }) => name === 'group_size') as Attribute
const file = readSourceFile(
  {
    engine: 'postgresql',
    url: { env: 'OFFICE' },
    way: 'live',
    statement_timeout: 60,
    records: {
      Group: {
        from: 'household',
        key: 'code',
        columns: { 'group_identifier[HOUSEHOLD_ID]': 'code', group_size: 'size' },
        children: [{ from: 'resident', on: 'code', columns: { 'member_list.member_identifier[UIN]': 'uin' } }],
        compare: { group_size: 'number' },
      },
    },
  },
  kind,
)

let office: Awaited<ReturnType<typeof emptyDatabase>>
let engine: OpenEngine
beforeAll(async () => {
  office = await emptyDatabase()
  const client = new pg.Client(office.connection)
  await client.connect()
  await client.query(`create table household (code text primary key, size integer);
    create table resident (uin text primary key, code text);
    insert into household values ('H-1', 1), ('H-2', 2), ('H-3', 3);
    insert into resident values ('U-1', 'H-1'), ('U-2', 'H-2'), ('U-3', 'H-2'), ('U-4', 'H-3')`)
  await client.end()
  engine = openEngine(file, { OFFICE: addressOf(office.connection) })
})
afterAll(async () => {
  await engine.close()
  await office.drop()
})

const ada = [['UIN:U-3', [{ id: 1, category: 'shelter' }]]] as const
const U3_PROTECTED: Protection = { version: 1, byIdentifier: new Map(ada), byProtectingIdentifier: new Map(ada) }

test.each([
  ['eq', 1, ['H-1', 'H-2'], ['H-1']],
  ['eq', 2, [], ['H-2']],
  ['le', 1, ['H-1', 'H-2'], ['H-1']],
  ['lt', 2, ['H-1', 'H-2'], ['H-1']],
  ['ge', 2, ['H-3'], ['H-2', 'H-3']],
  ['gt', 1, ['H-3'], ['H-2', 'H-3']],
] as const)('group_size %s %d', async (operator, value, expected, whole) => {
  const page = { sort: [], limit: 10, offset: 0, cap: 10 }
  const found = async (protection: Protection) => {
    const { source } = createLiveRecordAccess(kind, file, engine, async () => protection)
    const predicate = { is: 'compare', attribute: group_size, operator, value } as const
    const { records } = await source.reader('sync').find({ id: 1, kind }, { recordType, predicate, page })
    return records.map(({ document }) => JSON.parse(document).group_identifier[0].identifier_value)
  }
  expect(await found(U3_PROTECTED)).toEqual(expected)
  expect(await found(NOBODY_PROTECTED)).toEqual(whole)
})
