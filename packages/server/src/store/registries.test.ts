import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { StoreRefusal } from './refusal.ts'
import { addRegistry, findRegistry, listRegistries } from './registries.ts'

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

test.each(['nowhere', 'CIVIL', '', 'civil\0', '\ud800', "' or true --"])(
  'nothing is at %j',
  async (namespace) => {
    expect(await findRegistry(database.db, namespace)).toBeNull()
  },
)

describe('addRegistry refuses', () => {
  const good = { namespace: 'x', kind: 'civil', sender_id: 'x.example' }
  const form = 'a namespace is a lower-case letter, then at most 62 lower-case letters, digits or hyphens'

  type Bad = Partial<Parameters<typeof addRegistry>[1]>
  const cases: readonly (readonly [bad: Bad, message: string])[] = [
    ...['', 'X', '1x', '-x', 'x_y', 'x/y', '.well-known', '..', 'x y', 'é', 'x\n', 'x'.repeat(64)].map(
      (namespace) => [{ namespace }, form] as const,
    ),
    ...['oauth2', 'health', 'ready', 'metrics', 'admin'].map(
      (namespace) => [{ namespace }, `the namespace ${namespace} is reserved`] as const,
    ),
    [{ namespace: 'civil' }, 'a registry is mounted at civil already'],
    [
      { kind: 'Civil' },
      'there is no kind "Civil"; the kinds are civil, ibr, ess, social, disability, farmer',
    ],
    [{ sender_id: 'a|b' }, 'sender_id contains | or "'],
    [{ aliases: ['ok', 'a"b'] }, 'alias "a\\"b" contains | or "'],
    [{ sender_id: 'civil.example' }, '"civil.example" already names the registry at civil'],
    [{ sender_id: 'crvs.example' }, '"crvs.example" already names the registry at civil'],
    [{ aliases: ['ok', 'civil.example'] }, '"civil.example" already names the registry at civil'],
    [{ aliases: ['crvs.example'] }, '"crvs.example" already names the registry at civil'],
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

test('a kind that this version does not know is said', async () => {
  const { db } = database
  await db.pool.query(
    `insert into registry (namespace, kind, sender_id) values ('new', 'space', 'space.example')`,
  )
  const message = 'the registry at new is of kind space, which this version does not know'
  await expect(listRegistries(db)).rejects.toThrow(new StoreRefusal(message))
  await expect(findRegistry(db, 'new')).rejects.toThrow(new StoreRefusal(message))
  await db.pool.query(`delete from registry where namespace = 'new'`)
})
