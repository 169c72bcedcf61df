import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { listGrants, showGrantTemplate } from '@rollcall/admin/grants/grants'
import { countRecords } from '@rollcall/records/records/record-counts'
import { KIND_GENERATORS } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { applyDemoConfiguration } from './directory.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())
const deps = () => acting({ db: database.db, vault: () => Promise.reject(new Error('no vault is needed')) })

test('the file has a registry for each kind of synthetic people, and grants everything in all of them', async () => {
  const { registries, participant, restricted, secrets } = await applyDemoConfiguration(deps())
  expect(registries.map(({ namespace, kind, demo }) => [namespace, kind.name, demo])).toEqual(
    KIND_GENERATORS.map(({ kind }) => [kind, kind, true]),
  )
  expect([participant.demo, restricted.demo]).toEqual([true, true])
  expect([...secrets.keys()]).toEqual([participant.sender_id, restricted.sender_id])
  const granted = await listGrants(deps(), { sender_id: participant.sender_id })
  expect(granted.map(({ namespace }) => namespace).toSorted()).toEqual(KIND_GENERATORS.map(({ kind }) => kind).toSorted())
  for (const { namespace, terms } of granted) {
    expect(terms).toEqual(await showGrantTemplate(deps(), { namespace, template: 'everything' }))
  }
})

test('what was changed since stays, and what the database does not have is added', async () => {
  const sender_id = 'demo.spmis.example'
  const terms = { operations: ['search'], see: ['identifier'], basis: 'law' } as const
  await setGrant(acting(deps()), { sender_id, namespace: 'civil', terms })
  await revokeGrant(acting(deps()), { sender_id, namespace: 'farmer' })
  const { secrets } = await applyDemoConfiguration(deps())
  expect(secrets.size).toBe(0)
  const granted = new Map((await listGrants(deps(), { sender_id })).map((row) => [row.namespace, row.terms.operations]))
  expect([granted.get('civil'), granted.get('farmer')]).toEqual([['search'], 'all'])
})

test('a demo of an earlier version gets the columns and indexes that it has not, filled', async () => {
  const { registries } = await applyDemoConfiguration(deps())
  const { db } = database
  const civil = registries.find(({ namespace }) => namespace === 'civil')
  const table = `r${civil?.id}_person`
  await db.pool.query(`insert into ${table} (primary_identifier, document) values ('U1', '{"sex": "female"}')`)
  await db.pool.query(`alter table ${table} drop column sex, drop column surname`)

  const again = await applyDemoConfiguration(deps())
  expect(again.registries.flatMap(({ unfilled }) => [...unfilled])).toEqual([])
  const { rows } = await db.pool.query(`select sex is not null as filled from ${table}`)
  expect(rows).toEqual([{ filled: true }])
  const { rows: indexes } = await db.pool.query('select to_regclass($1) is not null as built', [`${table}_surname_index`])
  expect(indexes).toEqual([{ built: true }])
  const [first] = again.registries
  expect(first && (await countRecords(db, first))).toEqual({ Person: 1 })
})
