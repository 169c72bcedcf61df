import { openDatabase } from '@rollcall/database/database'
import { addRegistry } from '@rollcall/records/registries/registries'
import { expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { listRegistriesAndParticipants } from './demo-data.ts'
import { addParticipant } from './participants.ts'

test('what a demo made and what is real are told apart', async () => {
  const { db, close } = await testDatabase()
  try {
    expect(await listRegistriesAndParticipants(db)).toEqual({ demo: [], real: [] })
    await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example', demo: true })
    await addRegistry(db, { namespace: 'ess', kind: 'ess', sender_id: 'ess.example' })
    await addParticipant(db, { sender_id: 'a.example', name: 'A' })
    await addParticipant(db, { sender_id: 'b.example', name: 'B', demo: true })
    expect(await listRegistriesAndParticipants(db)).toEqual({
      demo: ['participant b.example', 'registry civil'],
      real: ['participant a.example', 'registry ess'],
    })
  } finally {
    await close()
  }
})

test('a database that was never migrated is empty, and stays as it is', async () => {
  const { connection, drop } = await emptyDatabase()
  const db = openDatabase(connection)
  try {
    expect(await listRegistriesAndParticipants(db)).toEqual({ demo: [], real: [] })
    const { rows } = await db.pool.query(`select from pg_tables where schemaname = 'public'`)
    expect(rows).toEqual([])
  } finally {
    await db.close()
    await drop()
  }
})
