import type { Participant } from '@rollcall/core/model/participant'
import { StoreRefusal } from '@rollcall/database/refusal'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { publicKey } from '../../../core/test/key-pairs.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import {
  addParticipantKey,
  findRegisteredKeys,
  findSigningKey,
  listCurrentAndFutureKeys,
  listParticipantKeys,
  revokeParticipantKey,
} from './participant-keys.ts'
import { addParticipant } from './participants.ts'

let database: TestDatabase
let a: Participant
let b: Participant
beforeAll(async () => {
  database = await testDatabase()
})
beforeEach(async () => {
  await database.db.pool.query('truncate participant cascade')
  a = await addParticipant(database.db, { sender_id: 'a.example', name: 'A' })
  b = await addParticipant(database.db, { sender_id: 'b.example', name: 'B' })
})
afterAll(() => database.close())

test('a key is kept, live from now on', async () => {
  const { db } = database
  const key = await publicKey('Ed25519', { kid: 'one' })
  const added = await addParticipantKey(db, a, key)
  expect(added).toMatchObject({ ...key, participant: a.id, valid_until: null, revoked_at: null })
  const { rows } = await db.pool.query("select $1::timestamptz between now() - interval '1 hour' and now() as lately", [
    added.valid_from,
  ])
  expect(rows).toEqual([{ lately: true }])
  expect(await listParticipantKeys(db, a)).toEqual([added])
  expect(await listCurrentAndFutureKeys(db)).toEqual([added])
  expect(await listCurrentAndFutureKeys(db, b)).toEqual([])
  expect(await findRegisteredKeys(db, [key.thumbprint, 'x'])).toEqual([added])
  expect(await findRegisteredKeys(db, [])).toEqual([])
})

test('the live ones are those that are not over, the latest to begin first', async () => {
  const { db } = database
  const at = (day: number) => new Date(Date.UTC(2020, 0, day))
  const add = async (kid: string, valid_from: Date, valid_until: Date | null = null) =>
    addParticipantKey(db, a, { ...(await publicKey('Ed25519', { kid })), valid_from, valid_until })
  await add('first', at(1))
  await add('over', at(3), at(4))
  await add('second', at(2))
  await add('later', new Date(Date.now() + 86_400_000))
  expect((await listCurrentAndFutureKeys(db, a)).map(({ kid }) => kid)).toEqual(['later', 'second', 'first'])
  expect((await findSigningKey(db, a, new Date()))?.kid).toBe('second')
  expect(await findSigningKey(db, b, new Date())).toBeUndefined()
  expect((await listParticipantKeys(db, a)).map(({ kid }) => kid)).toEqual(['later', 'second', 'over', 'first'])
})

test('adding a key again changes its entry, and its times where they are given', async () => {
  const { db } = database
  const valid_until = new Date(Date.now() + 86_400_000)
  const key = await publicKey('RSA', { kid: 'one' })
  const first = await addParticipantKey(db, a, { ...key, valid_until })
  const again = await addParticipantKey(db, a, { ...key, kid: 'two' })
  expect(again).toEqual({ ...first, kid: 'two' })
  expect(await addParticipantKey(db, a, { ...key, valid_until: null })).toEqual({ ...first, valid_until: null })
})

test('a public key belongs to one participant', async () => {
  const { db } = database
  const key = await publicKey('Ed25519', { kid: 'one' })
  await addParticipantKey(db, a, key)
  const refusal = 'this key belongs to a.example already, and a public key belongs to one participant'
  await expect(addParticipantKey(db, b, key)).rejects.toThrow(new StoreRefusal(refusal))
  await revokeParticipantKey(db, a, 'one')
  await expect(addParticipantKey(db, b, key)).rejects.toThrow(new StoreRefusal(refusal))
})

test('of two who register one key at once, one gets it', async () => {
  const { db } = database
  const key = await publicKey('Ed25519')
  const results = await Promise.allSettled([a, b].map((owner) => addParticipantKey(db, owner, key)))
  const [lost] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(lost).toBeInstanceOf(StoreRefusal)
  expect(lost.message).toMatch(/^this key belongs to .+ already, and a public key belongs to one participant$/)
  expect(await listCurrentAndFutureKeys(db)).toHaveLength(1)
})

test('revoked is revoked: the key is never taken again, its name may be', async () => {
  const { db } = database
  const key = await publicKey('Ed25519', { kid: 'one' })
  await addParticipantKey(db, a, key)
  const revoked = await revokeParticipantKey(db, a, 'one')
  expect(revoked.revoked_at).toBeInstanceOf(Date)
  expect(await listCurrentAndFutureKeys(db, a)).toEqual([])
  await expect(addParticipantKey(db, a, key)).rejects.toThrow(
    new StoreRefusal('this key was revoked, and a revoked key cannot be registered again; make a new key'),
  )
  const next = await addParticipantKey(db, a, await publicKey('Ed25519', { kid: 'one' }))
  expect(await listCurrentAndFutureKeys(db, a)).toEqual([next])
})

test.each(['one', 'a\0'])('nothing is revoked where no live key is called %j', async (kid) => {
  const { db } = database
  await addParticipantKey(db, b, await publicKey('Ed25519', { kid: 'one' }))
  await expect(revokeParticipantKey(db, a, kid)).rejects.toThrow(
    new StoreRefusal(
      'a.example has no live registered key with this kid; ' +
        'to refuse a key that only its jwks_uri lists, add it here and revoke it',
    ),
  )
  expect(await listCurrentAndFutureKeys(db)).toHaveLength(1)
})

test('two unrevoked keys of a participant have two names, also when one has ended', async () => {
  const { db } = database
  const refusal = 'an unrevoked key of the participant has the kid one; revoke it if it has ended, or give this one another kid'
  const key = { ...(await publicKey('Ed25519', { kid: 'one' })), valid_from: new Date(0) }
  for (const valid_until of [null, new Date(1)]) {
    await addParticipantKey(db, a, { ...key, valid_until })
    await expect(addParticipantKey(db, a, await publicKey('RSA', { kid: 'one' }))).rejects.toThrow(new StoreRefusal(refusal))
  }
  await addParticipantKey(db, b, await publicKey('Ed25519', { kid: 'one' }))
  await revokeParticipantKey(db, a, 'one')
  await addParticipantKey(db, a, await publicKey('RSA', { kid: 'one' }))
})

test('a key ends after it begins', async () => {
  const { db } = database
  const key = await publicKey('Ed25519')
  await expect(addParticipantKey(db, a, { ...key, valid_until: new Date(0) })).rejects.toThrow(
    new StoreRefusal('valid_until: must be later than valid_from'),
  )
})

test('at most 20 live keys', async () => {
  const { db } = database
  for (let index = 0; index < 20; index += 1) await addParticipantKey(db, a, await publicKey('Ed25519'))
  await expect(addParticipantKey(db, a, await publicKey('Ed25519'))).rejects.toThrow(
    new StoreRefusal('a participant has at most 20 live keys; revoke one that is not used'),
  )
})

test('nobody has no key', async () => {
  const nobody = { id: 0 }
  await expect(addParticipantKey(database.db, nobody, await publicKey('Ed25519'))).rejects.toThrow(
    new StoreRefusal('no such participant'),
  )
})

test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])('the table itself refuses member %s', async (member) => {
  const key = await publicKey('Ed25519')
  const public_jwk = { ...key.public_jwk, [member]: 'AAAA' }
  await expect(addParticipantKey(database.db, a, { ...key, public_jwk })).rejects.toMatchObject({
    constraint: 'participant_key_public_jwk_check',
  })
})
