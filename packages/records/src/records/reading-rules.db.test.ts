import type { Registry } from '@rollcall/core/model/registry'
import { inTransaction } from '@rollcall/database/transaction'
import { type Kind, kindNamed, type RecordType } from '@rollcall/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addRegistry, requireRegistry } from '../registries/registries.ts'
import { addAttribute } from '../registries/registry-attributes.ts'
import { backfillColumns } from './backfill.ts'
import { prepareRecord } from './prepare-record.ts'
import { ensureRecordTables } from './record-tables.ts'
import { writeRecords } from './record-writer.ts'

const civil = kindNamed('civil') as Kind
const [person] = civil.record_types
let database: TestDatabase
let registry: Registry
let number = 0

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  number += 1
  const namespace = `civil-${number}`
  registry = await addRegistry(database.db, { namespace, kind: 'civil', sender_id: namespace })
})

const query = async (text: string, values: unknown[] = []) => (await database.db.pool.query(text, values)).rows
const unfilled = async () => [...((await requireRegistry(database.db, registry.namespace)).unfilled.get('Person') ?? [])].sort()

async function write(...documents: object[]): Promise<void> {
  const client = await database.db.pool.connect()
  const records = documents.map((document) => prepareRecord(civil, person, JSON.parse(JSON.stringify(document))))
  await inTransaction(client, () => writeRecords(client, registry, person, records))
  client.release()
}

const ada = {
  identifier: [
    { identifier_type: 'UIN', identifier_value: 'U1' },
    { identifier_type: 'PASSPORT', identifier_value: 'P 1' },
  ],
  name: { family_name: '\u0141ukasz' },
  phone_number: '+999 5550101',
}

test('what was filled by the same rules stays as it is', async () => {
  await write(ada)
  await ensureRecordTables(database.db, registry)
  expect(await unfilled()).toEqual([])
})

test('in a database of a version that kept no rules all is read anew, and nothing is asked about before', async () => {
  await write(ada)
  const { id } = registry
  // The rows are now as the version before wrote them.
  await query(`update r${id}_person set surname = null`)
  await query(`delete from r${id}_person_identifier where type = '*'`)
  await query(`update r${id}_person_identifier set value = '+' || value where type = 'MOBILE'`)
  await query('delete from column_rules where registry = $1', [id])
  await ensureRecordTables(database.db, registry)
  const names = await unfilled()
  expect(names).toEqual(expect.arrayContaining(['birth_date', 'identifier', 'location', 'surname']))
  expect(names).not.toContain('age')
  expect(await backfillColumns(database.db, registry, person, { batch: 1 })).toBe(true)
  expect(await unfilled()).toEqual([])
  expect(await query(`select surname from r${id}_person`)).toEqual([{ surname: 'lukasz' }])
  expect(await query(`select type, value, names_record from r${id}_person_identifier order by type, value`)).toEqual([
    { type: '*', value: 'P1', names_record: true },
    { type: 'MOBILE', value: '9995550101', names_record: true },
    { type: 'UIN', value: 'U1', names_record: true },
  ])
  await ensureRecordTables(database.db, registry)
  expect(await unfilled()).toEqual([])
})

test('one rule that changed has one column filled anew', async () => {
  await write(ada)
  await query(`update column_rules set rules = 'others' where registry = $1 and name = 'surname'`, [registry.id])
  await ensureRecordTables(database.db, registry)
  expect(await unfilled()).toEqual(['surname'])
})

test('a kind that reads an attribute elsewhere has its column filled anew', async () => {
  await write(ada)
  const attributes = person.attributes.map((attribute) =>
    attribute.name === 'surname' ? { ...attribute, paths: ['family.name'] } : attribute,
  )
  const moved: RecordType = { ...person, attributes }
  await ensureRecordTables(database.db, { id: registry.id, kind: { ...civil, record_types: [moved] } })
  expect(await unfilled()).toEqual(['surname'])
})

test('without records there is nothing to fill', async () => {
  await query('delete from column_rules where registry = $1', [registry.id])
  await ensureRecordTables(database.db, registry)
  expect(await unfilled()).toEqual([])
  expect(await query('select from column_rules where registry = $1', [registry.id])).not.toEqual([])
})

test('an attribute that a version does not know is filled anew after that version has run', async () => {
  const { id } = registry
  const attributes = person.attributes.filter(({ name }) => name !== 'surname')
  const earlier: RecordType = { ...person, attributes }
  await write(ada)
  await ensureRecordTables(database.db, { id, kind: { ...civil, record_types: [earlier] } })
  await ensureRecordTables(database.db, registry)
  expect(await unfilled()).toEqual(['surname'])
})

test('an attribute that an operator adds while another node starts stays filled', async () => {
  await addAttribute(database.db, registry.namespace, 'Person', { name: 'clan', type: 'text', paths: ['clan'] })
  await write(ada)
  // This node has read the registry before.
  await ensureRecordTables(database.db, registry)
  await ensureRecordTables(database.db, await requireRegistry(database.db, registry.namespace))
  expect(await unfilled()).toEqual([])
})
