import { openDatabase } from '@rollcall/database/database'
import { validator } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { MIGRATIONS } from '../../database/src/migrations/index.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { acting } from '../test/acting.ts'
import { examineDatabase, migrateDatabase } from './database.ts'
import { setGrant } from './grants/grant-changes.ts'
import { addParticipant, setParticipantStatus } from './participants/participants.ts'
import { addRegistry } from './registries/registries.ts'

test('a database is examined before and after its tables are made, as the schemas say', async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  const problemOf = (adminFunction: { result: Parameters<typeof validator>[0] }, result: unknown) =>
    validator(adminFunction.result).problem(result, '')
  const all = Object.keys(MIGRATIONS)

  const before = await examineDatabase({ db }, {})
  expect(problemOf(examineDatabase, before)).toBeNull()
  expect(before.pending).toEqual(all)
  const migrated = await migrateDatabase({ db }, {})
  expect(problemOf(migrateDatabase, migrated)).toBeNull()
  expect(migrated).toEqual({ migrations: all, registries: 0, to_fill: [] })

  await addRegistry(acting({ db }), { kind: 'civil' })
  await addParticipant(acting({ db }), { sender_id: 'a.example', name: 'A' })
  const after = await examineDatabase({ db }, {})
  expect(problemOf(examineDatabase, after)).toBeNull()
  expect(after).toMatchObject({
    pending: [],
    content: { demo: [], real: ['participant a.example', 'registry civil'] },
    withoutSignatureKey: [{ sender_id: 'a.example' }],
    withoutSecret: [],
    grants: { weak: [], expiring: [], without: [{ sender_id: 'a.example' }] },
  })
  const grants = async (sender_id: string, terms: Partial<Parameters<typeof setGrant>[1]['terms']>) => {
    const narrow = { operations: ['search'], see: ['surname'], basis: 'law' } as const
    await setGrant(acting({ db }), { sender_id, namespace: 'civil', terms: { ...narrow, ...terms } })
    return (await examineDatabase({ db }, {})).grants
  }
  const place = { sender_id: 'a.example', namespace: 'civil' }
  const nothing = { weak: [], expiring: [], without: [] }
  const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  expect(await grants('a.example', {})).toEqual(nothing)
  expect(await grants('a.example', { ask: 'all', see: 'all' })).toEqual({ ...nothing, weak: [place] })
  const rows = { Person: { sex: { eq: 'female' } } }
  expect(await grants('a.example', { ask: 'all', see: 'all', rows })).toEqual(nothing)
  const valid_until = soon(29)
  expect(await grants('a.example', { valid_until })).toEqual({ ...nothing, expiring: [{ ...place, valid_until }] })
  expect(await grants('a.example', { valid_until: soon(31) })).toEqual(nothing)
  await setParticipantStatus({ db }, { sender_id: 'a.example', status: 'disabled' })
  expect(await grants('a.example', { ask: 'all', see: 'all', valid_until })).toEqual(nothing)
  await db.close()
  await empty.drop()
})
