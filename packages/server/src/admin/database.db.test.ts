import { validator } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../test/postgres.ts'
import { openDatabase } from '../store/db/database.ts'
import { MIGRATIONS } from '../store/db/migrations/index.ts'
import { examineDatabase, migrateDatabase } from './database.ts'
import { addParticipant } from './participants.ts'
import { addRegistry } from './registries.ts'

test('a database is examined before and after its tables are made, as the schemas say', async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  const problemOf = (useCase: { result: Parameters<typeof validator>[0] }, result: unknown) =>
    validator(useCase.result).problem(result, '')
  const all = Object.keys(MIGRATIONS)

  const before = await examineDatabase({ db }, {})
  expect(problemOf(examineDatabase, before)).toBeNull()
  expect(before.pending).toEqual(all)
  const migrated = await migrateDatabase({ db }, {})
  expect(problemOf(migrateDatabase, migrated)).toBeNull()
  expect(migrated).toEqual({ migrations: all, registries: 0, to_fill: [] })

  await addRegistry({ db }, { kind: 'civil' })
  await addParticipant({ db }, { sender_id: 'a.example', name: 'A' })
  const after = await examineDatabase({ db }, {})
  expect(problemOf(examineDatabase, after)).toBeNull()
  expect(after).toMatchObject({
    pending: [],
    content: { demo: [], real: ['participant a.example', 'registry civil'] },
    withoutSignatureKey: [{ sender_id: 'a.example' }],
    withoutSecret: [],
  })
  await db.close()
  await empty.drop()
})
