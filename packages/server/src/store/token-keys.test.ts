import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { addFirstTokenKey, listTokenKeys } from './token-keys.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const jwk = (x: string) => ({ kty: 'OKP', crv: 'Ed25519', x, d: `secret of ${x}` })

test('of several nodes that add the first key at once, one does', async () => {
  const { db } = database
  expect(await listTokenKeys(db)).toEqual([])
  await Promise.all(['a', 'b', 'c', 'd'].map((kid) => addFirstTokenKey(db, { kid, private_jwk: jwk(kid) })))
  const keys = await listTokenKeys(db)
  expect(keys).toHaveLength(1)
  const kid = keys[0]?.kid ?? ''
  expect(keys[0]).toEqual({
    kid,
    private_jwk: jwk(kid),
    public_jwk: { kty: 'OKP', crv: 'Ed25519', x: kid },
    created_at: expect.any(Date),
  })
})

test('the newest is listed first', async () => {
  await database.db.kysely
    .insertInto('token_key')
    .values({ kid: 'newer', public_jwk: '{}', private_jwk: '{}' })
    .execute()
  const [first, ...others] = await listTokenKeys(database.db)
  expect(first?.kid).toBe('newer')
  expect(others).toHaveLength(1)
})
