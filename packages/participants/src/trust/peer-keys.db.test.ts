import type { Participant } from '@rollcall/core/model/participant'
import { openDatabase } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import type { PublicKey } from '@rollcall/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { publicKey } from '../../../core/test/key-pairs.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { skippingClock } from '../../../observe/test/clock.ts'
import { addParticipantKey, revokeParticipantKey } from '../store/participant-keys.ts'
import { addParticipant } from '../store/participants.ts'
import { listEvidenceKeys } from '../store/published-keys.ts'
import { createPeerKeys } from './peer-keys.ts'

let database: TestDatabase
let a: Participant
let b: Participant
let logged: string[]
let clock = skippingClock()

beforeAll(async () => {
  database = await testDatabase()
})
beforeEach(async () => {
  logged = []
  clock = skippingClock()
  await database.db.pool.query('truncate participant cascade')
  a = await addParticipant(database.db, { sender_id: 'a.example', name: 'A' })
  b = await addParticipant(database.db, { sender_id: 'b.example', name: 'B' })
})
afterAll(() => database.close())

/** The keys as a node sees them that has just started; `set` is what a participant publishes. */
function node(set: readonly PublicKey[] = [], db = database.db) {
  const asked: (string | null)[] = []
  const log = createLog({ destination: { write: (line: string) => logged.push(line) } })
  const fetchKeySet = async (_owner: unknown, kid: string | null) => {
    asked.push(kid)
    return set
  }
  return { ...createPeerKeys(db, { fetchKeySet, log, clock }), asked }
}
const DAY = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY)
const add = (owner: Participant, key: PublicKey, times: object = {}) =>
  addParticipantKey(database.db, owner, { ...key, ...times })

describe('registered keys', () => {
  test('verify by kid and algorithm', async () => {
    await add(a, await publicKey('Ed25519', { kid: 'one' }))
    await add(a, await publicKey('Ed25519', { kid: 'two' }))
    await add(a, await publicKey('RSA', { kid: 'rsa' }))
    await add(a, await publicKey('RSA', { kid: 'enc', use: 'enc' }))
    const { verifying } = node()
    const [key, ...more] = await verifying(a, 'one', 'EdDSA')
    expect(key).toMatchObject({ type: 'public', usages: ['verify'], algorithm: { name: 'Ed25519' } })
    expect(more).toEqual([])
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(2)
    expect(await verifying(a, 'rsa', 'RS256')).toHaveLength(1)
    for (const kid of ['rsa', 'enc', 'three', 'One', '']) expect(await verifying(a, kid, 'EdDSA')).toEqual([])
    expect(await verifying(a, 'enc', 'RS256')).toEqual([])
    expect(await verifying(b, 'one', 'EdDSA')).toEqual([])
    expect(await verifying(b, null, 'EdDSA')).toEqual([])
  })

  test('one that cannot be read is said by its thumbprint, and stops none of the others', async () => {
    const broken = await publicKey('Ed25519', { kid: 'broken' })
    const lost = await publicKey('RSA', { kid: 'lost', use: 'enc' })
    for (const key of [broken, lost]) await add(a, key)
    await add(a, await publicKey('Ed25519', { kid: 'whole' }))
    await add(a, await publicKey('RSA', { kid: 'enc', use: 'enc' }), { valid_from: inDays(-1) })
    await database.db.pool.query(`update participant_key set public_jwk = '{"kty":"none"}' where kid in ('broken', 'lost')`)
    const { verifying, encryption } = node()
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(1)
    expect(await verifying(a, 'whole', 'EdDSA')).toHaveLength(1)
    expect(await verifying(a, 'broken', 'EdDSA')).toEqual([])
    expect(await encryption(a)).toMatchObject({ kid: 'enc' })
    expect(logged).toHaveLength(2)
    expect(logged[0]).toContain(`"thumbprint":"${broken.thumbprint}"`)
    expect(logged[1]).toContain(`"thumbprint":"${lost.thumbprint}"`)
  })

  test('are imported once', async () => {
    await add(a, await publicKey('Ed25519', { kid: 'one' }))
    const { verifying } = node()
    const [first] = await verifying(a, 'one', 'EdDSA')
    const [again] = await verifying(a, null, 'EdDSA')
    expect(again).toBe(first)
  })

  test('count within their times', async () => {
    await add(a, await publicKey('Ed25519', { kid: 'later' }), { valid_from: inDays(1) })
    await add(a, await publicKey('Ed25519', { kid: 'over' }), { valid_from: inDays(-2), valid_until: inDays(-1) })
    await add(a, await publicKey('Ed25519', { kid: 'now' }), { valid_from: inDays(-1), valid_until: inDays(1) })
    const { verifying } = node()
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(1)
    expect(await verifying(a, 'now', 'EdDSA')).toHaveLength(1)
    for (const kid of ['later', 'over']) expect(await verifying(a, kid, 'EdDSA')).toEqual([])
    const soon = await publicKey('Ed25519', { kid: 'soon' })
    await add(b, soon, { valid_from: inDays(-1), valid_until: new Date(clock.date() + 60_000) })
    clock.pass(59_700)
    expect(await verifying(b, 'soon', 'EdDSA')).toHaveLength(1)
    clock.pass(300)
    // To the moment, although what was read is not yet old.
    expect(await verifying(b, 'soon', 'EdDSA')).toEqual([])
  })

  test('are revoked on every node within a second', async () => {
    const other = openDatabase(database.connection)
    const nodes = [node(), node([], other)]
    await add(a, await publicKey('Ed25519', { kid: 'one' }))
    const counts = () => Promise.all(nodes.map(async (peer) => (await peer.verifying(a, 'one', 'EdDSA')).length))
    expect(await counts()).toEqual([1, 1])
    await revokeParticipantKey(database.db, a, 'one')
    clock.pass(1_000)
    expect(await counts()).toEqual([0, 0])
    await other.close()
  })
})

describe('published keys', () => {
  test('verify where no registered key has the name', async () => {
    const published = [await publicKey('Ed25519', { kid: 'one' }), await publicKey('Ed25519', { kid: 'two' })]
    await add(a, await publicKey('Ed25519', { kid: 'one' }), { valid_from: inDays(1) })
    const { verifying, asked } = node(published)
    expect(await verifying(a, 'two', 'EdDSA')).toHaveLength(1)
    expect(await verifying(a, 'one', 'EdDSA')).toEqual([])
    expect(asked).toEqual(['two'])
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(2)
  })

  test('are noted when they have verified a message, once an hour', async () => {
    const [published, registered] = [await publicKey('Ed25519', { kid: 'two' }), await publicKey('Ed25519', { kid: 'one' })]
    await add(a, registered)
    const { noteKeyUse } = node([published])
    for (const kid of ['one', 'two', 'two', 'three']) await noteKeyUse(a, kid)
    const noted = async () => listEvidenceKeys(database.db, a.sender_id)
    const [first, ...more] = await noted()
    expect([first, more]).toMatchObject([{ kid: 'two', public_jwk: published.public_jwk }, []])
    const last = first?.last_used_at.getTime() ?? 0
    await noteKeyUse(a, 'two')
    expect((await noted())[0]?.last_used_at.getTime()).toBe(last)
    clock.pass(3_600_000)
    await noteKeyUse(a, 'two')
    expect((await noted())[0]?.last_used_at.getTime()).toBeGreaterThan(last)
    await noteKeyUse({ ...a, id: -1, sender_id: '\0' }, 'two')
    expect(logged.join()).toContain('the use of a published key could not be noted')
  })

  test("are not believed when they are another participant's, and that is told once", async () => {
    const stolen = await publicKey('Ed25519', { kid: 'one' })
    await add(b, stolen)
    const { verifying } = node([stolen, await publicKey('Ed25519', { kid: 'two' })])
    expect(await verifying(a, 'one', 'EdDSA')).toEqual([])
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(1)
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        time: expect.any(String),
        sender_id: 'a.example',
        why: "another participant's",
        msg: 'key of a key set ignored',
      },
    ])
  })

  test('do not bring back what was revoked or is over', async () => {
    const [revoked, over, fine] = [
      await publicKey('Ed25519', { kid: 'revoked' }),
      await publicKey('Ed25519', { kid: 'over' }),
      await publicKey('Ed25519', { kid: 'fine' }),
    ]
    await add(a, revoked)
    await revokeParticipantKey(database.db, a, 'revoked')
    await add(a, over, { kid: 'registered', valid_from: inDays(-2), valid_until: inDays(-1) })
    await add(a, fine, { kid: 'also' })
    const { verifying } = node([revoked, over, fine])
    for (const kid of ['revoked', 'over']) expect(await verifying(a, kid, 'EdDSA')).toEqual([])
    expect(await verifying(a, 'fine', 'EdDSA')).toHaveLength(1)
    // Under both names it is one key.
    expect(await verifying(a, null, 'EdDSA')).toHaveLength(1)
    expect(logged.join()).toContain('revoked or not valid')
  })

  test('that are revoked here stop within a second', async () => {
    const key = await publicKey('Ed25519', { kid: 'one' })
    const { verifying } = node([key])
    expect(await verifying(a, 'one', 'EdDSA')).toHaveLength(1)
    await add(a, key)
    await revokeParticipantKey(database.db, a, 'one')
    clock.pass(1_000)
    expect(await verifying(a, 'one', 'EdDSA')).toEqual([])
  })

  test('and registered ones are 20 together at most', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => publicKey('Ed25519')))
    await add(a, await publicKey('Ed25519'))
    expect(await node(many).verifying(a, null, 'EdDSA')).toHaveLength(20)
  })
})

describe('encryption', () => {
  test('is for the newest live key', async () => {
    await add(a, await publicKey('RSA', { kid: 'older', use: 'enc' }), { valid_from: inDays(-2) })
    await add(a, await publicKey('X25519', { kid: 'newer' }), { valid_from: inDays(-1) })
    await add(a, await publicKey('RSA', { kid: 'later', use: 'enc' }), { valid_from: inDays(1) })
    await add(a, await publicKey('RSA', { kid: 'signs' }))
    expect(await node().encryption(a)).toMatchObject({ kid: 'newer', alg: 'ECDH-ES+A256KW' })
    await revokeParticipantKey(database.db, a, 'newer')
    expect(await node().encryption(a)).toMatchObject({ kid: 'older', alg: 'RSA-OAEP-256' })
  })

  test('is for a published key where none is registered', async () => {
    const { encryption } = node([await publicKey('RSA', { kid: 'signs' }), await publicKey('RSA', { kid: 'enc', use: 'enc' })])
    expect(await encryption(a)).toMatchObject({ kid: 'enc' })
  })

  test("is for no key of somebody else's, rather for none", async () => {
    const key = await publicKey('RSA', { kid: 'enc', use: 'enc' })
    await add(b, key)
    expect(await node([key]).encryption(a)).toBeNull()
    expect(await node().encryption(a)).toBeNull()
  })
})
