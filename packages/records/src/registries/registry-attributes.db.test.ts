import type { Registry } from '@rollcall/core/model/registry'
import { openDatabase } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import type { Attribute } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { readIndexes } from '../records/catalog.ts'
import { releaseImportClaim, tryClaimImport } from '../records/claims.ts'
import { prepareRecord } from '../records/prepare-record.ts'
import { writeRecords } from '../records/record-writer.ts'
import { addRegistry, requireRegistry } from './registries.ts'
import { addAttribute, declareAttributeIndex, isAttributeOfKind, removeAttribute } from './registry-attributes.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await addRegistry(database.db, { namespace: 'empty', kind: 'civil', sender_id: 'empty.example' })
  const full = await addRegistry(database.db, { namespace: 'full', kind: 'civil', sender_id: 'full.example' })
  await write(full, 'A1')
})
afterAll(() => database.close())

const clan: Attribute = { name: 'clan', type: 'text', paths: ['clan_name'], indexed: true, sortable: true }

async function write({ namespace }: Registry, uin: string): Promise<void> {
  const registry = await requireRegistry(database.db, namespace)
  const [person] = registry.kind.record_types
  const document = { identifier: [{ identifier_type: 'UIN', identifier_value: uin }], clan_name: 'Ankole' }
  const client = await database.db.pool.connect()
  await client.query('begin')
  await writeRecords(client, registry, person, [prepareRecord(registry.kind, person, document)])
  await client.query('commit')
  client.release()
}

async function columns(registry: Registry): Promise<readonly string[]> {
  const { rows } = await database.db.pool.query(`select column_name from information_schema.columns where table_name = $1`, [
    `r${registry.id}_person`,
  ])
  return rows.map(({ column_name }) => column_name)
}

const indexes = async (registry: Registry) => [...(await readIndexes(database.db.kysely, `r${registry.id}_person`)).keys()]

test('without records the column and its index are there at once', async () => {
  const added = await addAttribute(database.db, 'empty', 'person', clan)
  expect(added.kind.record_types[0].attributes).toContainEqual(clan)
  expect(added.unfilled).toEqual(new Map())
  expect(await columns(added)).toContain('clan')
  expect(await indexes(added)).toContain(`r${added.id}_person_clan_index`)
  expect(isAttributeOfKind(added, added.kind.record_types[0], 'clan')).toBe(false)
  expect(isAttributeOfKind(added, added.kind.record_types[0], 'sex')).toBe(true)

  await write(added, 'B1')
  const { rows } = await database.db.pool.query(`select clan from r${added.id}_person`)
  expect(rows).toEqual([{ clan: 'Ankole' }])
})

test('with records it is to be filled, and its index is left to be built', async () => {
  const added = await addAttribute(database.db, 'full', 'Person', clan)
  expect(added.unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  expect(await columns(added)).toContain('clan')
  expect(await indexes(added)).not.toContain(`r${added.id}_person_clan_index`)
})

test('an attribute goes with its column and its index, and may come again as another', async () => {
  const { db } = database
  await removeAttribute(db, 'empty', 'Person', 'clan')
  const removed = await requireRegistry(db, 'empty')
  expect(removed.kind.record_types[0].attributes).not.toContainEqual(clan)
  expect(await columns(removed)).not.toContain('clan')
  expect(await indexes(removed)).not.toContain(`r${removed.id}_person_clan_index`)

  const { sortable: _, ...rest } = clan
  const again = await addAttribute(db, 'empty', 'Person', { ...rest, type: 'number', many: true })
  expect(again.unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  await removeAttribute(db, 'empty', 'Person', 'clan')
  await removeAttribute(db, 'full', 'Person', 'clan')
  expect((await requireRegistry(db, 'full')).unfilled).toEqual(new Map())
})

test('an attribute is replaced with its column and its index; what is refused leaves it as it was', async () => {
  const { db } = database
  const number: Attribute = { name: 'clan', type: 'number', paths: ['clan_number'] }
  await expect(addAttribute(db, 'full', 'Person', number, { replaces: true })).rejects.toThrow(
    new StoreRefusal('no attribute clan was added to Person of full'),
  )
  await addAttribute(db, 'full', 'Person', clan)
  const fault: Attribute = { ...number, many: true, sortable: true }
  await expect(addAttribute(db, 'full', 'Person', fault, { replaces: true })).rejects.toThrow(
    new StoreRefusal('sortable: an attribute with many values cannot be sorted by'),
  )
  expect((await requireRegistry(db, 'full')).kind.record_types[0].attributes).toContainEqual(clan)
  const { id, kind, unfilled } = await addAttribute(db, 'full', 'Person', number, { replaces: true })
  expect(kind.record_types[0].attributes).toContainEqual(number)
  expect(unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  const { rows } = await db.pool.query(
    `select data_type from information_schema.columns where table_name = 'r${id}_person' and column_name = 'clan'`,
  )
  expect(rows).toEqual([{ data_type: 'double precision' }])
  await removeAttribute(db, 'full', 'Person', 'clan')
})

test('a column that an attribute of an earlier kind left is not taken for a new one', async () => {
  const { db } = database
  const full = await requireRegistry(db, 'full')
  await db.pool.query(`alter table r${full.id}_person add column clan text collate "C" default 'of old'`)
  const added = await addAttribute(db, 'full', 'Person', clan)
  const { rows } = await db.pool.query(`select clan from r${added.id}_person`)
  expect(rows).toEqual([{ clan: null }])
  expect(added.unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  await removeAttribute(db, 'full', 'Person', 'clan')
})

test("an index for the kind's own attribute is declared and taken back, the attribute stays", async () => {
  const { db } = database
  const { id, kind } = await requireRegistry(db, 'full')
  const plain = kind.record_types[0].attributes.find(({ indexed, type }) => !indexed && type !== 'age')
  const name = plain?.name ?? ''
  const indexed = await declareAttributeIndex(db, 'full', 'Person', name)
  const attributes = indexed.kind.record_types[0].attributes
  expect(attributes.find((attribute) => attribute.name === name)).toEqual({ ...plain, indexed: true })
  expect(indexed.unfilled).toEqual(new Map())
  await expect(declareAttributeIndex(db, 'full', 'Person', name)).rejects.toThrow(
    new StoreRefusal(`an index for ${name} of Person is declared already; rollcall index apply builds it`),
  )
  await db.pool.query(`create index r${id}_person_${name}_index on r${id}_person (id)`)
  await removeAttribute(db, 'full', 'Person', name)
  expect((await requireRegistry(db, 'full')).kind).toBe(kind)
  expect(await columns(indexed)).toContain(name)
  expect(await indexes(indexed)).not.toContain(`r${id}_person_${name}_index`)
})

test("an operator's own attribute may get its index later", async () => {
  const { db } = database
  const { indexed: _, ...plain } = clan
  await addAttribute(db, 'full', 'Person', plain)
  const indexed = await declareAttributeIndex(db, 'full', 'Person', 'clan')
  expect(indexed.kind.record_types[0].attributes).toContainEqual(clan)
  expect(indexed.unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  await removeAttribute(db, 'full', 'Person', 'clan')
})

const named = (more: Partial<Attribute>): Attribute => ({ ...clan, ...more })

test.each<[string, string, Attribute, string]>([
  ['nowhere', 'Person', clan, 'there is no registry at nowhere; rollcall registry list shows those there are'],
  ['full', 'Farmer', clan, 'the registry has no record type "Farmer"; it has Person'],
  [
    'full',
    'Person',
    named({ name: 'sex' }),
    'Person has the attribute sex by its kind; rollcall attribute index declares an index for it',
  ],
  [
    'full',
    'Person',
    named({ name: 'Clan"; --' }),
    'name: must be 1 to 41 lower-case letters, digits and _, beginning with a letter',
  ],
  ['full', 'Person', named({ many: true }), 'sortable: an attribute with many values cannot be sorted by'],
])('adding to %s %s is refused: %j', async (namespace, type, attribute, message) => {
  await expect(addAttribute(database.db, namespace, type, attribute)).rejects.toThrow(new StoreRefusal(message))
  const { rows } = await database.db.pool.query('select from registry_attribute')
  expect(rows).toEqual([])
})

test('what is not there cannot be indexed or removed', async () => {
  const { db } = database
  await expect(declareAttributeIndex(db, 'full', 'Person', 'clan')).rejects.toThrow(
    new StoreRefusal('Person has no attribute "clan"; rollcall attribute list shows those it has'),
  )
  await expect(declareAttributeIndex(db, 'full', 'Person', 'age')).rejects.toThrow(
    new StoreRefusal('age: nothing of it is stored; index birth_date'),
  )
  await expect(removeAttribute(db, 'full', 'Person', 'sex')).rejects.toThrow(
    new StoreRefusal('no attribute sex was added to Person of full'),
  )
})

test('the same attribute is not added twice, also by two at once', async () => {
  const { db } = database
  const results = await Promise.allSettled([1, 2].map(() => addAttribute(db, 'full', 'Person', clan)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await expect(addAttribute(db, 'full', 'Person', clan)).rejects.toThrow(
    new StoreRefusal('Person has the attribute clan already; remove it first'),
  )
  await removeAttribute(db, 'full', 'Person', 'clan')
})

test('while an import runs nothing is added: it writes the columns that it knew when it began', async () => {
  const { db } = database
  const { id } = await requireRegistry(db, 'full')
  const importing = await db.pool.connect()
  await tryClaimImport(importing, id)
  await expect(addAttribute(db, 'full', 'Person', clan)).rejects.toThrow(
    new StoreRefusal('an import into full or a build of its indexes is running; try again when it has ended'),
  )
  await releaseImportClaim(importing, id)
  importing.release(true)
})

test('a table that is in use too long, or is not ours, is said plainly', async () => {
  const { db, owner, connection } = database
  const { id } = await requireRegistry(db, 'full')
  const reader = await db.pool.connect()
  await reader.query('begin')
  await reader.query(`select from r${id}_person`)
  await expect(addAttribute(db, 'full', 'Person', clan)).rejects.toThrow(
    new StoreRefusal('the records of full are in use by something that has not ended within 5s; try again'),
  )
  await reader.query('rollback')
  reader.release()

  const user = `guest_${connection.database}`
  await query(owner, `create role ${user} login password 'x'`)
  await db.pool.query(`grant select, insert, update on all tables in schema public to ${user}`)
  const guest = openDatabase({ ...connection, user, password: 'x' })
  await expect(addAttribute(guest, 'full', 'Person', clan)).rejects.toThrow(
    new StoreRefusal(
      `the database user ${user} does not own the table r${id}_person; give DATABASE_URL the login of its owner ${connection.user}`,
    ),
  )
  await guest.close()
  await query(owner, `drop owned by ${user}; drop role ${user}`)
})
