import type { RegistryShape } from '@rollcall/core/model/registry'
import { openDatabase } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { type Attribute, type Compound, KINDS, type Kind, kindNamed, type RecordType } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { ensureRecordTables, recordTable } from './record-tables.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const [civil] = KINDS as readonly [Kind, ...Kind[]]

/** A registry of the civil kind, but with these attributes. */
function registryWith(
  id: number,
  attributes: readonly Attribute[],
  compounds: readonly Compound[] = [],
): RegistryShape & { recordType: RecordType } {
  const recordType: RecordType = { ...civil.record_types[0], name: 'TestPerson', attributes, compounds }
  return { id, kind: { ...civil, record_types: [recordType] }, recordType }
}

const surname: Attribute = { name: 'surname', paths: ['surname'], type: 'text', indexed: true }
const born: Attribute = { name: 'born', paths: ['born'], type: 'date', indexed: true }
const phone: Attribute = { name: 'phone', paths: ['phone'], type: 'text', many: true, indexed: true }
const married: Attribute = { name: 'married', paths: ['married'], type: 'date', many: true, indexed: true }
const crop: Compound = {
  name: 'crop',
  paths: ['crop'],
  members: [
    { name: 'crop_type', paths: ['type'], type: 'code' },
    { name: 'sown', paths: ['sown'], type: 'date' },
  ],
  indexed: true,
}
const score: Attribute = { name: 'score', paths: ['score'], type: 'number' }

async function columnsOf(table: string): Promise<Record<string, string>> {
  const { rows } = await database.db.pool.query<{ name: string; type: string }>(
    `select attname as name, concat_ws(' ', format_type(atttypid, atttypmod), 'collate ' || collname,
       case when attnotnull then 'not null' end) as type
     from pg_attribute left join pg_collation on pg_collation.oid = attcollation and collname <> 'default'
     where attrelid = to_regclass($1) and attnum > 0`,
    [table],
  )
  return Object.fromEntries(rows.map(({ name, type }) => [name, type]))
}

async function indexesOf(table: string): Promise<string[]> {
  const { rows } = await database.db.pool.query<{ definition: string }>(
    'select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = to_regclass($1) order by 1',
    [table],
  )
  return rows.map(({ definition }) => definition.replace(/ ON \S+ USING /, ' '))
}

test('makes the tables, columns and indexes that the kind declares', async () => {
  await ensureRecordTables(database.db, registryWith(1, [surname, born, phone, married, score], [crop]))
  expect(await columnsOf('r1_test_person')).toEqual({
    id: 'bigint not null',
    primary_identifier: 'text collate C not null',
    document: 'text not null',
    created_at: 'timestamp with time zone not null',
    import_run: 'bigint',
    import_line: 'bigint',
    updated_at: 'timestamp with time zone not null',
    surname: 'text collate C',
    born_from: 'date',
    born_to: 'date',
    phone: 'text[] collate C',
    married_from: 'date[]',
    married_to: 'date[]',
    score: 'double precision',
    crop: 'jsonb',
  })
  expect(await indexesOf('r1_test_person')).toEqual([
    'CREATE INDEX r1_test_person_born_index btree (born_from, born_to)',
    'CREATE INDEX r1_test_person_crop_index gin (crop jsonb_path_ops)',
    'CREATE INDEX r1_test_person_married_index gin (married_from, married_to)',
    'CREATE INDEX r1_test_person_phone_index gin (phone)',
    'CREATE INDEX r1_test_person_surname_index btree (surname)',
    'CREATE UNIQUE INDEX r1_test_person_pkey btree (id)',
    'CREATE UNIQUE INDEX r1_test_person_primary_identifier_key btree (primary_identifier)',
  ])
  expect(await columnsOf('r1_test_person_identifier')).toEqual({
    type: 'text collate C not null',
    value: 'text collate C not null',
    record: 'bigint not null',
    names_record: 'boolean not null',
  })
  expect(await indexesOf('r1_test_person_identifier')).toEqual([
    'CREATE INDEX r1_test_person_identifier_record_index btree (record)',
    'CREATE UNIQUE INDEX r1_test_person_identifier_pkey btree (type, value, record)',
  ])
})

test('identifiers go with their record; one may name several records', async () => {
  const { pool } = database.db
  await ensureRecordTables(database.db, registryWith(2, []))
  await pool.query(`insert into r2_test_person (primary_identifier, document) values ('A', '{}'), ('B', '{}')`)
  await pool.query(`insert into r2_test_person_identifier select 'MOBILE', '123', id, true from r2_test_person`)
  await pool.query(`delete from r2_test_person where primary_identifier = 'A'`)
  expect((await pool.query('select count(*) as left from r2_test_person_identifier')).rows).toEqual([{ left: 1 }])
})

/** A registry that the database knows, as those are whose columns are to be filled. */
async function knownRegistry(id: number): Promise<void> {
  await database.db.pool.query(
    `insert into registry (id, namespace, kind, sender_id) overriding system value
     values ($1::int, 'n' || $1::int, 'civil', 'n' || $1::int)`,
    [id],
  )
}

test('adds what is newly declared and leaves the rest as it is', async () => {
  const { pool } = database.db
  await knownRegistry(3)
  await ensureRecordTables(database.db, registryWith(3, [surname]))
  await pool.query(`insert into r3_test_person (primary_identifier, document, surname) values ('A', '{"a":1}', 'Okoro')`)
  await ensureRecordTables(database.db, registryWith(3, [surname, born, { ...score, indexed: true }]))
  const { rows } = await pool.query('select primary_identifier, document, surname, born_from, born_to, score from r3_test_person')
  expect(rows).toEqual([
    { primary_identifier: 'A', document: '{"a":1}', surname: 'Okoro', born_from: null, born_to: null, score: null },
  ])
  // Building an index would keep writers waiting, so that is left to the operator.
  expect((await indexesOf('r3_test_person')).filter((index) => /born|score/.test(index))).toEqual([])
  const toFill = await pool.query('select registry, record_type, name, next_record from column_fill order by name')
  expect(toFill.rows).toEqual(['born', 'score'].map((name) => ({ registry: 3, record_type: 'TestPerson', name, next_record: 0 })))
  // An attribute that is no longer declared keeps its column.
  await ensureRecordTables(database.db, registryWith(3, []))
  expect(await columnsOf('r3_test_person')).toHaveProperty('surname')
})

test('in an empty table a new column needs no filling, and its index is made', async () => {
  await ensureRecordTables(database.db, registryWith(10, [surname]))
  await ensureRecordTables(database.db, registryWith(10, [surname, born]))
  expect(await indexesOf('r10_test_person')).toContain('CREATE INDEX r10_test_person_born_index btree (born_from, born_to)')
  const { rows } = await database.db.pool.query('select from column_fill where registry = 10')
  expect(rows).toEqual([])
})

test('a reader does not keep a second run waiting: nothing is missing, so nothing is locked', async () => {
  const registry = registryWith(4, [surname, born])
  await ensureRecordTables(database.db, registry)
  const client = await database.db.pool.connect()
  await client.query('begin')
  await client.query('select * from r4_test_person')
  const impatient = openDatabase({ ...database.connection, options: '-c lock_timeout=100' })
  await ensureRecordTables(impatient, registry)
  await impatient.close()
  await client.query('rollback')
  client.release()
})

test('many nodes at once make one set of tables', async () => {
  const registry = registryWith(5, [surname, born, phone])
  await Promise.all(Array.from({ length: 6 }, () => ensureRecordTables(database.db, registry)))
  expect(await indexesOf('r5_test_person')).toHaveLength(5)
})

test('refuses an attribute whose column has another type', async () => {
  await ensureRecordTables(database.db, registryWith(6, [surname]))
  await expect(ensureRecordTables(database.db, registryWith(6, [born, { ...surname, many: true }]))).rejects.toThrow(
    new StoreRefusal('column surname of table r6_test_person is text and the kind declares text[]'),
  )
  // All or nothing: `born` stood before it.
  expect(await columnsOf('r6_test_person')).not.toHaveProperty('born_from')
})

test.each(['id', 'document', 'created_at'])('an attribute cannot be called %s', (name) => {
  const registry = registryWith(7, [{ ...surname, name }])
  expect(() => recordTable(registry, registry.recordType)).toThrow(`two columns would be called ${name}`)
})

test('two attributes cannot share a column', () => {
  const registry = registryWith(7, [born, { ...surname, name: 'born_to' }])
  expect(() => recordTable(registry, registry.recordType)).toThrow('TestPerson: two columns would be called born_to')
})

test('an attribute cannot share a column with a compound', () => {
  const registry = registryWith(7, [{ ...surname, name: 'crop' }], [crop])
  expect(() => recordTable(registry, registry.recordType)).toThrow('TestPerson: two columns would be called crop')
})

test('a table is described once for each registry', () => {
  const one = registryWith(8, [surname])
  expect(recordTable(one, one.recordType)).toBe(recordTable(one, one.recordType))
  expect(recordTable({ ...one, id: 9 }, one.recordType).table).toBe('r9_test_person')
  expect(recordTable(one, one.recordType).table).toBe('r8_test_person')
})

test.each(KINDS.map(({ name }) => name))('every table of the kind %s can be made, and made again', async (name) => {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`no kind ${name}`)
  const registry = { id: 100 + KINDS.indexOf(kind), kind }
  await ensureRecordTables(database.db, registry)
  await ensureRecordTables(database.db, registry)
  for (const recordType of kind.record_types) {
    const { table, columns } = recordTable(registry, recordType)
    const found = await columnsOf(table)
    expect(Object.keys(found)).toHaveLength(7 + columns.length)
    for (const column of columns) expect(found[column.name]?.startsWith(column.sql_type)).toBe(true)
  }
})

test('documents are compressed with lz4 where the server can', async () => {
  const { rows } = await database.db.pool.query(
    `select attcompression = case when 'lz4' = any(enumvals) then 'l' else '' end as ok
     from pg_attribute, pg_settings where attrelid = to_regclass('r1_test_person') and attname = 'document'
       and name = 'default_toast_compression'`,
  )
  expect(rows).toEqual([{ ok: true }])
})

test('searches do not wait behind a new column that waits for a long reader', async () => {
  await ensureRecordTables(database.db, registryWith(61, [surname]))
  const { table } = recordTable(registryWith(61, [surname]), registryWith(61, [surname]).recordType)
  const { pool } = database.db
  const reader = await pool.connect()
  await reader.query('begin')
  await reader.query(`select from ${table} limit 1`)
  const ensured = ensureRecordTables(database.db, registryWith(61, [surname, score]))
  const isWaiting = async () =>
    (await pool.query('select from pg_locks where not granted and relation = to_regclass($1)', [table])).rowCount === 1
  await expect.poll(isWaiting).toBe(true)
  // A search that had to wait for the reader would never be answered here.
  await pool.query(`select from ${table} limit 1`)
  expect(await columnsOf(table)).not.toHaveProperty('score')
  await reader.query('commit')
  reader.release()
  await ensured
  expect(await columnsOf(table)).toHaveProperty('score')
})
