import { StoreRefusal } from '@rollcall/database/refusal'
import { createLog } from '@rollcall/observe/log'
import { createDirectory } from '@rollcall/participants/directory/directory'
import { KINDS } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addRegistry, findRegistry, listRegistries, readRegistries, requireRegistry, updateRegistry } from './registries.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await addRegistry(database.db, {
    namespace: 'civil',
    kind: 'civil',
    sender_id: 'civil.example',
    aliases: ['crvs.example', 'civil.example', 'crvs.example'],
  })
})
afterAll(() => database.close())

test('a registry is found at its namespace, with its kind and its record tables', async () => {
  const { db } = database
  const found = await findRegistry(db, 'civil')
  expect(found).toMatchObject({
    namespace: 'civil',
    kind: { name: 'civil' },
    sender_id: 'civil.example',
    aliases: ['crvs.example'],
    demo: false,
    time_zone: 'UTC',
    unfilled: new Map(),
  })
  const { rows } = await db.pool.query('select count(*) as records from r1_person')
  expect(found?.id).toBe(1)
  expect(rows).toEqual([{ records: 0 }])
})

test('registries are listed by namespace', async () => {
  const { db } = database
  await addRegistry(db, { namespace: 'all-of-it', kind: 'ibr', sender_id: 'ibr.example', demo: true })
  const listed = await listRegistries(db)
  expect(listed.map(({ namespace, kind, demo }) => [namespace, kind.name, demo])).toEqual([
    ['all-of-it', 'ibr', true],
    ['civil', 'civil', false],
  ])
})

test('a time zone is chosen at the beginning or later', async () => {
  const { db } = database
  const zoned = { namespace: 'kigali', kind: 'ess', sender_id: 'kigali.example', time_zone: 'Africa/Kigali' }
  expect(await addRegistry(db, zoned)).toMatchObject({ time_zone: 'Africa/Kigali' })
  expect(await updateRegistry(db, 'kigali', { time_zone: 'Asia/Kathmandu' })).toMatchObject({ time_zone: 'Asia/Kathmandu' })
  expect(await findRegistry(db, 'kigali')).toMatchObject({ time_zone: 'Asia/Kathmandu' })
  expect(await findRegistry(db, 'civil')).toMatchObject({ time_zone: 'UTC' })
  await expect(updateRegistry(db, 'kigali', { time_zone: 'Mars/Olympus' })).rejects.toThrow(
    new StoreRefusal('"Mars/Olympus" is no time zone; write one such as Africa/Kigali or UTC'),
  )
  await expect(updateRegistry(db, 'nowhere', { time_zone: 'UTC' })).rejects.toThrow(
    new StoreRefusal('there is no registry at nowhere; rollcall registry list shows those there are'),
  )
  await expect(updateRegistry(db, 'kigalli', { time_zone: 'UTC' })).rejects.toThrow(
    new StoreRefusal('there is no registry at kigalli; the nearest is kigali; rollcall registry list shows those there are'),
  )
  await db.pool.query(`delete from registry where namespace = 'kigali'`)
})

test('what an operator added stands in the kind, which is the same object as long as it is the same', async () => {
  const { db } = database
  const bare = await requireRegistry(db, 'civil')
  expect((await requireRegistry(db, 'civil')).kind).toBe(bare.kind)
  const declare = (name: string, definition: object) =>
    db.pool.query('insert into registry_attribute values ($1, $2, $3, $4)', [bare.id, 'Person', name, JSON.stringify(definition)])
  await declare('clan', { type: 'text', paths: ['clan_name'] })
  const { kind } = await requireRegistry(db, 'civil')
  expect(kind).not.toBe(bare.kind)
  const attributes = kind.record_types[0].attributes
  expect(attributes.at(-1)).toEqual({ name: 'clan', type: 'text', paths: ['clan_name'] })
  expect((await requireRegistry(db, 'civil')).kind).toBe(kind)
  expect((await listRegistries(db)).find(({ namespace }) => namespace === 'civil')?.kind).toBe(kind)

  // An attribute without a place in a later version of the kind is not asked about, and harms nothing.
  await declare('nothing', {})
  await db.pool.query(`update registry_attribute set record_type = 'Nobody' where name = 'nothing'`)
  expect((await requireRegistry(db, 'civil')).kind).toBe(kind)

  await db.pool.query(`insert into column_fill (registry, record_type, name) values ($1, 'Person', 'clan')`, [bare.id])
  expect((await requireRegistry(db, 'civil')).unfilled).toEqual(new Map([['Person', new Set(['clan'])]]))
  await db.pool.query('delete from registry_attribute; delete from column_fill')
  expect((await requireRegistry(db, 'civil')).kind).toBe(bare.kind)
})

test.each(['nowhere', 'CIVIL', '', 'civil\0', '\ud800', "' or true --"])('nothing is at %j', async (namespace) => {
  expect(await findRegistry(database.db, namespace)).toBeNull()
})

describe('addRegistry refuses', () => {
  const good = { namespace: 'x', kind: 'civil', sender_id: 'x.example' }
  const form = 'a namespace is a lower-case letter, then at most 62 lower-case letters, digits or hyphens'

  type Bad = Partial<Parameters<typeof addRegistry>[1]>
  const cases: readonly (readonly [bad: Bad, message: string])[] = [
    ...['', 'X', '1x', '-x', 'x_y', 'x/y', '.well-known', '..', 'x y', 'é', 'x\n', 'x'.repeat(64)].map(
      (namespace) => [{ namespace }, form] as const,
    ),
    ...['oauth2', 'health', 'ready', 'metrics', 'admin', 'partner'].map(
      (namespace) => [{ namespace }, `the namespace ${namespace} is reserved; choose another`] as const,
    ),
    [{ namespace: 'civil' }, 'there is a registry at civil already; choose another namespace'],
    [
      { kind: 'Civil' },
      `there is no kind "Civil"; the kinds are ${KINDS.map(({ name }) => name).join(', ')}; the nearest is civil`,
    ],
    [{ time_zone: 'CEST2' }, '"CEST2" is no time zone; write one such as Africa/Kigali or UTC'],
    [{ sender_id: 'a|b' }, 'sender_id contains | or "'],
    [
      { sender_id: 'Civil Registry' },
      'sender_id has a space; choose a name such as civil.example.org: it stands in every message, and it cannot be changed later',
    ],
    [{ aliases: ['ok', 'a"b'] }, 'alias "a\\"b" contains | or "'],
    [{ sender_id: 'civil.example' }, '"civil.example" is a name of the registry at civil already; choose another'],
    [{ sender_id: 'crvs.example' }, '"crvs.example" is a name of the registry at civil already; choose another'],
    [{ aliases: ['ok', 'civil.example'] }, '"civil.example" is a name of the registry at civil already; choose another'],
    [{ aliases: ['crvs.example'] }, '"crvs.example" is a name of the registry at civil already; choose another'],
  ]

  test.each(cases)('%j', async (bad, message) => {
    const before = await listRegistries(database.db)
    await expect(addRegistry(database.db, { ...good, ...bad })).rejects.toThrow(new StoreRefusal(message))
    expect(await listRegistries(database.db)).toEqual(before)
  })
})

test('of several that want one name at once, one gets it', async () => {
  const results = await Promise.allSettled(
    [1, 2, 3, 4].map((number) =>
      addRegistry(database.db, {
        namespace: `twin-${number}`,
        kind: 'ess',
        sender_id: `twin-${number}.example`,
        aliases: ['twin.example'],
      }),
    ),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a registry of a kind that this version does not know is said, and stops none of the others', async () => {
  const { db } = database
  await db.pool.query(`insert into registry (namespace, kind, sender_id) values ('new', 'space', 'space.example')`)
  const message = 'the registry at new is of kind space, which this version does not know'
  const before = await listRegistries(db)
  const { registries, unreadable } = await readRegistries(db)
  expect(registries).toEqual(before)
  expect(registries.length).toBeGreaterThan(0)
  expect(unreadable).toEqual([{ id: expect.any(Number), namespace: 'new', error: new StoreRefusal(message) }])
  const log = createLog({ level: 'silent' })
  const directory = createDirectory(db, log)
  const [served] = registries
  expect(await directory.registry(served?.namespace ?? '')).toMatchObject({ id: served?.id })
  expect(await directory.registryById(served?.id ?? 0)).toMatchObject({ id: served?.id })
  await expect(directory.registry('new')).rejects.toThrow(new StoreRefusal(message))
  await expect(directory.registryById(unreadable[0]?.id ?? 0)).rejects.toThrow(new StoreRefusal(message))
  await expect(findRegistry(db, 'new')).rejects.toThrow(new StoreRefusal(message))
  await db.pool.query(`delete from registry where namespace = 'new'`)
})
