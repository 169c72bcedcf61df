import { openDatabase } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { inTransaction } from '@rollcall/database/transaction'
import type { Attribute } from '@rollcall/protocol'
import type { PoolClient } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { isIndexPlanApplied, planIndexes } from '../records/index-plan.ts'
import { prepareRecord } from '../records/prepare-record.ts'
import { writeRecords } from '../records/record-writer.ts'
import { type ApplyIndexesProgress, applyIndexes } from './index-apply.ts'
import { addRegistry, requireRegistry } from './registries.ts'
import { addAttribute, removeAttribute } from './registry-attributes.ts'

const RECORDS = 2_500
const CLAN: Attribute = { name: 'clan', type: 'text', paths: ['clan_name'], indexed: true }
const INDEX = 'r1_person_clan_index'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  const registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  const [person] = registry.kind.record_types
  const records = Array.from({ length: RECORDS }, (_, at) =>
    prepareRecord(registry.kind, person, {
      identifier: [{ identifier_type: 'UIN', identifier_value: `U${at}` }],
      clan_name: `clan ${at % 10}`,
    }),
  )
  const client = await database.db.pool.connect()
  await inTransaction(client, () => writeRecords(client, registry, person, records))
  client.release()
})
afterAll(() => database.close())

/** Each test begins with an attribute that is neither filled nor indexed. */
beforeEach(async () => {
  const { db } = database
  await removeAttribute(db, 'civil', 'Person', 'clan').catch(() => undefined)
  await addAttribute(db, 'civil', 'Person', CLAN)
})

async function plan() {
  const [found] = await planIndexes(database.db, await requireRegistry(database.db, 'civil'))
  if (found === undefined) throw new Error('a kind has a record type')
  return found
}

async function filled(): Promise<number> {
  const { rows } = await database.db.pool.query('select count(clan) as filled from r1_person')
  return rows[0].filled
}

const apply = (options: Parameters<typeof applyIndexes>[2] = {}) => applyIndexes(database.db, 'civil', options)

/** Keeps every build waiting: a writer that was there before it has not ended. */
async function holdBuilds(): Promise<{ release(): Promise<void>; client: PoolClient }> {
  const client = await database.db.pool.connect()
  await client.query('begin')
  await client.query('lock table r1_person in row exclusive mode')
  return {
    client,
    async release() {
      await client.query('rollback')
      client.release()
    },
  }
}

async function until(found: () => Promise<boolean>): Promise<void> {
  await expect.poll(found, { timeout: 60_000, interval: 20 }).toBe(true)
}

const isInvalid = async () => (await plan()).missing.some(({ index, state }) => index === INDEX && state === 'invalid')

test('a plan says what is not filled and not there; nothing of it remains after it was applied', async () => {
  const before = await plan()
  expect(before).toMatchObject({
    namespace: 'civil',
    record_type: 'Person',
    unfilled: ['clan'],
    missing: [{ index: INDEX, of: 'clan', state: 'missing' }],
    foreign: [],
  })
  expect(isIndexPlanApplied(before)).toBe(false)
  expect(await filled()).toBe(0)

  const told: ApplyIndexesProgress[] = []
  const applied = await apply({ onProgress: (progress) => told.push(progress) })
  expect(applied).toEqual({ filled: ['Person.clan'], built: [INDEX], finished: true })
  expect(told.at(0)).toMatchObject({ task: 'civil Person: backfilling clan', done: 1_000 })
  expect(await filled()).toBe(RECORDS)
  const after = await plan()
  expect(after).toMatchObject({ unfilled: [], missing: [] })
  expect(isIndexPlanApplied(after)).toBe(true)
  expect(await apply()).toEqual({ filled: [], built: [], finished: true })
})

test('stopped while it fills, it goes on from there', async () => {
  const stop = new AbortController()
  const stopped = await apply({ signal: stop.signal, onProgress: () => stop.abort() })
  expect(stopped).toEqual({ filled: [], built: [], finished: false })
  expect(await filled()).toBe(1_000)
  const told: ApplyIndexesProgress[] = []
  expect(await apply({ onProgress: (progress) => told.push(progress) })).toMatchObject({ finished: true })
  expect(told.at(0)).toMatchObject({ done: 1_000 })
  expect(await filled()).toBe(RECORDS)
})

test('stopped while it builds, it leaves an index that nothing uses and the next one builds anew', async () => {
  await apply()
  await database.db.pool.query(`drop index ${INDEX}`)
  const held = await holdBuilds()
  const stop = new AbortController()
  const phases = new Set<string>()
  const building = apply({ signal: stop.signal, onProgress: ({ task }) => phases.add(task) })
  await until(isInvalid)
  await until(async () => phases.size > 0)
  stop.abort()
  expect(await building).toEqual({ filled: [], built: [], finished: false })
  expect([...phases]).toContain('civil Person: index for clan, waiting for writers before build')
  expect(await isInvalid()).toBe(true)
  await held.release()

  expect(await apply()).toEqual({ filled: [], built: [INDEX], finished: true })
  expect(isIndexPlanApplied(await plan())).toBe(true)
})

test('of two that apply at once one is refused, and no attribute is changed meanwhile', async () => {
  await apply()
  await database.db.pool.query(`drop index ${INDEX}`)
  const held = await holdBuilds()
  const building = apply()
  await until(isInvalid)
  await expect(apply()).rejects.toThrow(
    new StoreRefusal('another command builds the indexes of civil or changed its attributes; try again when it has ended'),
  )
  await expect(removeAttribute(database.db, 'civil', 'Person', 'clan')).rejects.toThrow(
    new StoreRefusal('an import into civil or a build of its indexes is running; try again when it has ended'),
  )
  await held.release()
  expect(await building).toMatchObject({ built: [INDEX] })
})

test('who is not the owner is told so', async () => {
  const { connection, owner, db } = database
  const user = `guest_${connection.database}`
  await query(owner, `create role ${user} login password 'x'`)
  await db.pool.query(`grant select, insert, update, delete on all tables in schema public to ${user}`)
  const guest = openDatabase({ ...connection, user, password: 'x' })
  await expect(applyIndexes(guest, 'civil')).rejects.toThrow(
    new StoreRefusal(
      `the database user ${user} does not own the table r1_person; give DATABASE_URL the login of its owner ${connection.user}`,
    ),
  )
  await guest.close()

  await query(owner, `drop owned by ${user}; drop role ${user}`)
})

test('indexes of nothing declared are listed, keys are not', async () => {
  await database.db.pool.query('create index forgotten on r1_person (created_at)')
  expect((await plan()).foreign).toEqual(['forgotten'])
  await database.db.pool.query('drop index forgotten')
})
