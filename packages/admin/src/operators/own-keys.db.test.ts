import { ENCRYPTED_TABLES } from '@rollcall/keys/store/master-keys'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { OTHER_SEALED_TABLES } from './own-keys.ts'

test('a new master key encrypts every table that has encrypted values', async () => {
  const { db, close } = await testDatabase()
  try {
    const { rows } = await db.pool.query<{ name: string }>(
      `select conrelid::regclass::text as name from pg_constraint where confrelid = 'master_key'::regclass
        order by conrelid::regclass::text collate "C"`,
    )
    const stated = [...Object.values(ENCRYPTED_TABLES), ...OTHER_SEALED_TABLES].map(({ table }) => table)
    expect(stated.toSorted()).toEqual(rows.map(({ name }) => name))
  } finally {
    await close()
  }
})
