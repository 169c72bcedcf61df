import { randomBytes } from 'node:crypto'
import { createLog } from '@rollcall/observe/log'
import { createAccessTokenIssuer } from '@rollcall/participants/directory/tokens'
import { expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { createBodyEncryption } from './bodies.ts'
import { generateMasterKey, masterKeyFromEnvironment, masterKeyText } from './master-key.ts'
import { decryptJwk } from './own-key-definitions.ts'
import { ensureAndLoadOwnKeys } from './own-keys.ts'
import { rotateOwnKeys } from './rotation.ts'
import { listOwnKeys } from './store/own-keys.ts'
import { createVault } from './vault.ts'

/** Every row of every table, as `pg_dump` would have it; bytea once more as the bytes it stands for. */
async function dump({ db }: TestDatabase): Promise<Buffer> {
  const { rows: tables } = await db.pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(5)
  const parts: Buffer[] = []
  for (const { name } of tables) {
    const { rows } = await db.pool.query(`select t::text as text from ${name} t`)
    for (const { text } of rows as { text: string }[]) {
      parts.push(Buffer.from(text))
      for (const [, hex = ''] of text.matchAll(/\\x([0-9a-f]+)/g)) parts.push(Buffer.from(hex, 'hex'))
    }
  }
  return Buffer.concat(parts)
}

test('no table holds a private key, a body or the master key in clear', async () => {
  const database = await testDatabase()
  try {
    const masterKey = generateMasterKey()
    const vault = await createVault(database.db, masterKeyFromEnvironment({ masterKey, newMasterKey: undefined }))
    const keys = await ensureAndLoadOwnKeys(database.db, vault, createLog({ level: 'silent' }))
    await rotateOwnKeys(database.db, vault)
    const { access_token } = await createAccessTokenIssuer(keys.tokens, { lifetime: 60 }).issue({
      sender_id: 'spmis.example',
      client_id: 'c1',
      environment: 'live',
    })
    const body = `surname ${randomBytes(8).toString('hex')}`
    const kept = await createBodyEncryption(database.db, vault).encryptBody(body, 'a')

    const secrets = [masterKeyText(masterKey), body, access_token]
    const publics: string[] = []
    for (const key of await listOwnKeys(database.db)) {
      const { d, p, q, dp, dq, qi } = await decryptJwk(key, vault)
      secrets.push(...[d, p, q, dp, dq, qi].filter((member) => member !== undefined))
      publics.push(key.kid)
    }
    expect(secrets.length).toBeGreaterThan(3 + 8)

    const dumped = Buffer.concat([await dump(database), kept])
    // The dump is one in which a secret would be found.
    for (const text of publics) expect(dumped.includes(text)).toBe(true)
    for (const secret of secrets) {
      const raw = Buffer.from(secret, 'base64url')
      const forms = [secret, raw, raw.toString('base64'), raw.toString('hex')]
      expect(forms.some((form) => dumped.includes(form))).toBe(false)
    }
  } finally {
    await database.close()
  }
})
