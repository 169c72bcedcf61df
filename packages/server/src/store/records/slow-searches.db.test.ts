import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../test/postgres.ts'
import type { Registry } from '../../model/registry.ts'
import { addRegistry } from '../registries/registries.ts'
import { addSlowSearches, listSlowSearches } from './index-plan.ts'

let database: TestDatabase
let registry: Registry
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
})
afterAll(() => database.close())

test('rows add up; those of a registry that is no more are passed over', async () => {
  const { db } = database
  const row = { registry: registry.id, record_type: 'Person' }
  const two = { ...row, attributes: ['birth_date', 'sex'], searches: 2, total_ms: 800, max_ms: 500 }
  await addSlowSearches(db, [
    two,
    { ...row, attributes: [], searches: 1, total_ms: 300, max_ms: 300 },
    { ...two, registry: 99 },
  ])
  await addSlowSearches(db, [{ ...two, searches: 1, total_ms: 400.5, max_ms: 400.5 }])
  const last_seen = expect.any(Date)
  expect(await listSlowSearches(db, registry)).toEqual([
    { ...two, searches: 3, total_ms: 1_200.5, max_ms: 500, last_seen },
    { ...row, attributes: [], searches: 1, total_ms: 300, max_ms: 300, last_seen },
  ])
  expect(await listSlowSearches(db, { id: 99 })).toEqual([])
})

test('nodes that add the same rows at once lose nothing', async () => {
  const rows = ['a', 'b', 'c', 'd'].map((name) => ({
    registry: registry.id,
    record_type: 'Member',
    attributes: [name],
    searches: 1,
    total_ms: 10,
    max_ms: 10,
  }))
  const reversed = rows.toReversed()
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => addSlowSearches(database.db, at % 2 === 0 ? rows : reversed)),
  )
  const found = (await listSlowSearches(database.db, registry)).filter((row) => row.record_type === 'Member')
  expect(found.map(({ searches }) => searches)).toEqual([20, 20, 20, 20])
})

test('however many combinations peers ask for, the most expensive thousand of a registry stay', async () => {
  const { db } = database
  const other = await addRegistry(db, { namespace: 'other', kind: 'civil', sender_id: 'other.example' })
  const rows = (ms: number, name: string) =>
    Array.from({ length: 600 }, (_, at) => ({
      registry: other.id,
      record_type: 'Person',
      attributes: [`${name}_${at}`],
      searches: 1,
      total_ms: ms,
      max_ms: ms,
    }))
  const before = await listSlowSearches(db, registry)
  await addSlowSearches(db, rows(300, 'cheap'))
  await Promise.all([addSlowSearches(db, rows(900, 'dear')), addSlowSearches(db, rows(800, 'dear'))])
  const found = await listSlowSearches(db, other)
  expect(found).toHaveLength(1_000)
  expect(found.filter(({ total_ms }) => total_ms === 1_700)).toHaveLength(600)
  expect(await listSlowSearches(db, registry)).toEqual(before)
})
