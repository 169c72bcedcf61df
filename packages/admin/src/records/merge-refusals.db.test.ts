import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { JsonObject } from '@rollcall/protocol'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal, type RefusalReason } from '../admin-function.ts'
import { protectPerson, unprotectPerson } from '../persons/protected-persons.ts'
import { mergeRecords, unmergeRecords } from './merge.ts'
import { importRecords } from './records.ts'

let database: TestDatabase
const limits = DEFAULT_LIMITS
const deps = () => ({ db: database.db, limits, now: () => new Date('2026-06-15T09:00:00Z') })
const rows = async (statement: string) => (await database.db.pool.query(statement)).rows
const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
const uin = (value: string) => id('UIN', value)
const person = (value: string, ...others: JsonObject[]): JsonObject => ({ identifier: [uin(value), ...others] })

const load = (documents: readonly JsonObject[], namespace = 'civil') => {
  const source = Readable.from([Buffer.from(documents.map((one) => `${JSON.stringify(one)}\n`).join(''))])
  return importRecords(acting({ ...deps(), source }), { namespace, format: 'ndjson', events: 'none' })
}

beforeAll(async () => {
  database = await testDatabase()
  await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
  await addRegistry(database.db, { namespace: 'social', kind: 'social', sender_id: 'social.example' })
  await load([person('A'), person('B', id('MRN', 'M-1')), person('C', id('MRN', 'M-1'))])
  await mergeRecords(acting(deps()), { namespace: 'civil', survivor: uin('B'), retired: uin('A') })
  const member = { '@type': 'Member', member_identifier: [uin('A')] }
  const group = {
    '@type': 'Group',
    group_identifier: [id('HOUSEHOLD_ID', 'H'), uin('G')],
    member_list: [{ member_identifier: [uin('A')] }],
  }
  const same = { '@type': 'Member', member_identifier: [uin('G')] }
  await load([member, group, same], 'social')
})
afterAll(() => database.close())

describe('what cannot be merged is refused', () => {
  test.each<[string, object, string, RefusalReason]>([
    ['the same record', { survivor: uin('B'), retired: uin(' b ') }, 'survivor and retired: are the same record', 'invalid'], // biome-ignore format: a row
    ['an unknown record', { survivor: uin('B'), retired: uin('X') }, 'retired: no record has this identifier', 'not_found'], // biome-ignore format: a row
    ['an unknown survivor', { survivor: uin('X'), retired: uin('B') }, 'survivor: no record has this identifier', 'not_found'], // biome-ignore format: a row
    ['a retired survivor', { survivor: uin('A'), retired: uin('C') }, 'survivor: the record was merged into another one; name that one', 'conflict'], // biome-ignore format: a row
    ['one that is retired', { survivor: uin('C'), retired: uin('A') }, 'retired: the record was merged into another one; name that one', 'conflict'], // biome-ignore format: a row
    ['an identifier of several', { survivor: uin('B'), retired: id('MRN', 'M-1') }, 'retired: several records have this identifier; name the record by its UIN', 'invalid'], // biome-ignore format: a row
    ['an unknown type', { survivor: uin('B'), retired: id('SHOE', '4') }, 'retired.identifier_type: must be one of UIN', 'invalid'], // biome-ignore format: a row
    ['no value', { survivor: uin(' '), retired: uin('C') }, 'survivor.identifier_value: must be a valid UIN', 'invalid'], // biome-ignore format: a row
    ['a NUL', { survivor: uin('B'), retired: uin('C\0') }, 'retired.identifier_value: must be a valid UIN', 'invalid'], // biome-ignore format: a row
    ['an unknown registry', { namespace: 'x', survivor: uin('B'), retired: uin('C') }, 'there is no registry at x', 'invalid'], // biome-ignore format: a row
    ['an unknown record type', { record_type: 'Farmer', survivor: uin('B'), retired: uin('C') }, 'the registry has no record type "Farmer"', 'invalid'], // biome-ignore format: a row
    ['two types', { namespace: 'social', survivor: uin('A'), retired: id('HOUSEHOLD_ID', 'H') }, 'survivor and retired: must be records of one type', 'invalid'], // biome-ignore format: a row
    ['an identifier in two types', { namespace: 'social', survivor: uin('A'), retired: uin('G') }, 'retired: records of several types have this identifier; say which with record_type', 'invalid'], // biome-ignore format: a row
  ])('%s', async (_, input, message, reason) => {
    const before = await rows('select id, document from r1_person order by id')
    const whole = { namespace: 'civil', survivor: uin(''), retired: uin(''), ...input }
    const refusal = await mergeRecords(acting(deps()), whole).then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(AdminRefusal)
    expect(refusal).toMatchObject({ message: expect.stringContaining(message), reason })
    expect(await rows('select id, document from r1_person order by id')).toEqual(before)
  })

  test('with the record type, one of several is merged', async () => {
    const input = { namespace: 'social', record_type: 'Member', survivor: uin('A'), retired: uin('G') }
    expect(await mergeRecords(acting(deps()), input)).toMatchObject({ record_type: 'Member' })
  })

  test.each<[string, object, string, RefusalReason]>([
    ['one that was not merged', uin('B'), 'retired: the record was not merged into another one', 'conflict'],
    ['an unknown one', uin('X'), 'retired: no record has this identifier', 'not_found'],
  ])('unmerge of %s', async (_, retired, message, reason) => {
    await expect(
      unmergeRecords(acting(deps()), { namespace: 'civil', retired: retired as ReturnType<typeof uin> }),
    ).rejects.toMatchObject({ name: 'AdminRefusal', message, reason })
  })
})

test('records that are not protected alike are not merged; both of a merge are protected until each protection is lifted', async () => {
  await load([person('P-1'), person('P-2')])
  const protect = (identifier_value: string) =>
    protectPerson(acting(deps()), {
      namespace: 'civil',
      identifier_type: 'UIN',
      identifier_value,
      category: 'sealed',
      reason: 'x',
    })
  const merge = () => mergeRecords(acting(deps()), { namespace: 'civil', survivor: uin('P-1'), retired: uin('P-2') })
  const refused = new AdminRefusal(
    'survivor and retired: the records are not protected alike; protect both under one category, or lift the protection first',
    { reason: 'conflict' },
  )
  await protect('P-1')
  await expect(merge()).rejects.toThrow(refused)
  await protect('P-2')
  expect(await merge()).toMatchObject({ notified: 0 })
  const lift = (identifier_value: string) =>
    unprotectPerson(acting(deps()), { namespace: 'civil', identifier_type: 'UIN', identifier_value })
  await lift('P-1')
  expect(await unmergeRecords(acting(deps()), { namespace: 'civil', retired: uin('P-2') })).toMatchObject({ notified: 0 })
  expect(await merge()).toMatchObject({ notified: 0 })
  await lift('P-1')
  await expect(lift('P-2')).rejects.toThrow(new AdminRefusal('identifier: no protected person has it', { reason: 'not_found' }))
})
