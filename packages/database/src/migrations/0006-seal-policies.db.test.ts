import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { openDatabase } from '../database.ts'
import { directory } from './0001-directory.ts'
import { sealPolicies } from './0006-seal-policies.ts'

test('a demo that is there already may leave messages unsigned and call back to its machine, others may not', async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  // Migrations see a database without types: what its tables are is what they change.
  const untyped = db.kysely as unknown as Kysely<unknown>
  await directory.up(untyped)
  await db.pool.query(`insert into participant (sender_id, client_id, name, demo)
    values ('demo', 'a', 'Demo', true), ('real', 'b', 'Real', false)`)
  await sealPolicies.up(untyped)
  const { rows } = await db.pool.query(`select sender_id, signature_policy, allow_unsigned, signature_profile,
    encryption_policy, jwks_uri, outgoing from participant order by id`)
  const others = { signature_profile: null, encryption_policy: 'allowed', jwks_uri: null }
  const loopback = { ports: 'any', plainHttp: true, loopback: true }
  expect(rows).toEqual([
    {
      ...others,
      sender_id: 'demo',
      signature_policy: 'if-present',
      allow_unsigned: true,
      outgoing: ['127.0.0.1', 'localhost', '::1'].map((host) => ({ host, ...loopback })),
    },
    { ...others, sender_id: 'real', signature_policy: 'required', allow_unsigned: false, outgoing: [] },
  ])
  await expect(db.pool.query(`update participant set signature_policy = 'off' where id = 2`)).rejects.toThrow(
    'participant_allow_unsigned_check',
  )
  await db.close()
  await empty.drop()
})
