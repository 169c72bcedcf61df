import { listOwnKeys, listValidOwnKeys } from '@rollcall/keys/store/own-keys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { type Database, openDatabase } from '../database.ts'
import { directory } from './0001-directory.ts'
import { keys } from './0003-keys.ts'

let db: Database
let drop: () => Promise<void>
beforeAll(async () => {
  const empty = await emptyDatabase()
  drop = empty.drop
  db = openDatabase(empty.connection)
  await directory.up(db.kysely)
  await db.pool.query(`insert into token_key (kid, public_jwk, private_jwk) values
    ('old', '{"kty":"OKP","crv":"Ed25519","x":"public"}', '{"kty":"OKP","crv":"Ed25519","x":"public","d":"clear"}')`)
  await keys.up(db.kysely)
})
afterAll(async () => {
  await db.close()
  await drop()
})

test('keys that lay in clear are gone', async () => {
  expect(await listValidOwnKeys(db)).toEqual([])
  const { rows } = await db.pool.query(`select to_regclass('token_key') as left`)
  expect(rows).toEqual([{ left: null }])
})

test.each([
  ['an active key without its private half', "'a', 'sig', 'EdDSA', 'active', null", 'own_key_sealed'],
  ['a revoked key with it', "'a', 'sig', 'EdDSA', 'revoked', '\\x01'", 'own_key_revoked'],
  ['a retired key without an end', "'a', 'sig', 'EdDSA', 'retired', null", 'own_key_expires'],
  ['another state', "'a', 'sig', 'EdDSA', 'spare', '\\x01'", 'own_key_state_check'],
  ['a value of no master key', "'a', 'sig', 'EdDSA', 'active', '\\x01'", 'own_key_master_version_fkey'],
])('the database refuses %s', async (_what, values, constraint) => {
  const before = await listOwnKeys(db)
  const statement = `insert into own_key (kid, use, algorithm, state, sealed) values (${values})`
  await expect(db.pool.query(statement)).rejects.toMatchObject({ constraint })
  expect(await listOwnKeys(db)).toEqual(before)
})

test('the database refuses a second active key, a second master key, and a version of 0', async () => {
  const add = (version: number) =>
    db.pool.query(`insert into master_key (version, check_value) values ($1, $2)`, [version, Buffer.of(version)])
  await add(1)
  await expect(add(2)).rejects.toMatchObject({ constraint: 'master_key_single' })
  await expect(add(0)).rejects.toMatchObject({ code: '23514' })
  const active = (kid: string) =>
    db.pool.query(
      `insert into own_key (kid, use, algorithm, state, sealed)
       values ($1, 'sig', 'EdDSA', 'active', '\\x01')`,
      [kid],
    )
  await active('one')
  await expect(active('two')).rejects.toMatchObject({ constraint: 'own_key_current_index' })
  await expect(db.pool.query('delete from master_key')).rejects.toMatchObject({ constraint: 'own_key_master_version_fkey' })
})
