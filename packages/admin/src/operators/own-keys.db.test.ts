import { readFile } from 'node:fs/promises'
import { loadAuditKeys } from '@rollcall/audit/keys'
import { openDatabase } from '@rollcall/database/database'
import { createBodyEncryption } from '@rollcall/keys/bodies'
import { generateMasterKey, masterKeyFromEnvironment } from '@rollcall/keys/master-key'
import { ensureOwnKeys } from '@rollcall/keys/rotation'
import { ENCRYPTED_TABLES } from '@rollcall/keys/store/master-keys'
import { createVault } from '@rollcall/keys/vault'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { addParticipant } from '../participants/participants.ts'
import { SEALED_TABLES_BESIDE_KEYS } from './own-keys.ts'

test('a new master key encrypts every table that has encrypted values', async () => {
  const { db, close } = await testDatabase()
  try {
    const { rows } = await db.pool.query<{ name: string }>(
      `select conrelid::regclass::text as name from pg_constraint where confrelid = 'master_key'::regclass
        order by conrelid::regclass::text collate "C"`,
    )
    const stated = [...Object.values(ENCRYPTED_TABLES), ...SEALED_TABLES_BESIDE_KEYS].map(({ table }) => table)
    expect(stated.toSorted()).toEqual(rows.map(({ name }) => name))
  } finally {
    await close()
  }
})

test('when the master key is lost, the statements of docs/keys.md let a server start with another one', async () => {
  const { db, owner, close } = await testDatabase()
  const ownerDb = openDatabase(owner)
  const start = async () => {
    const vault = await createVault(db, masterKeyFromEnvironment({ masterKey: generateMasterKey(), newMasterKey: undefined }))
    await ensureOwnKeys(db, vault)
    await createBodyEncryption(db, vault).encryptBody('a message', 'a')
    return loadAuditKeys(db, vault)
  }
  try {
    const before = await start()
    await addParticipant(acting({ db }), { sender_id: 'a.example', name: 'A' })
    await ownerDb.pool.query(
      `insert into participant_callback (participant, auth, sealed) select id, 'bearer', '\\x01' from participant;
       insert into proposal (id, act, sealed, diff, proposed_by, proposed_name, proposed_at, lapses_at)
         values (gen_random_uuid(), 'participant key add', '\\x01', '[]', 'o', 'o', now(), now() + interval '1 day');
       insert into account_checkpoint (chain, sequence, hash, at, content, digest, kid, signature)
         values (gen_random_uuid(), 1, '', now(), '', '', 'k', '')`,
    )
    const page = await readFile(new URL('../../../../docs/keys.md', import.meta.url), 'utf8')
    const [, statements = ''] = /## When the master key is lost[\s\S]*?```sql\n([\s\S]*?)```/.exec(page) ?? []
    await ownerDb.pool.query(statements)
    expect((await start()).secrets.pseudonym).not.toBe(before.secrets.pseudonym)
    expect((await db.pool.query('select state, sealed from proposal')).rows).toEqual([{ state: 'lapsed', sealed: null }])
    expect((await db.pool.query('select auth, sealed from participant_callback')).rows).toEqual([{ auth: 'none', sealed: null }])
  } finally {
    await ownerDb.close()
    await close()
  }
})
