import { notePublishedKeyUse } from '@rollcall/participants/store/published-keys'
import { afterAll, expect, it } from 'vitest'
import { publicKey } from '../../../core/test/key-pairs.ts'
import { startedDatabase } from '../../../keys/test/postgres.ts'
import { auditing } from '../../../settings/test/audit.ts'
import { acting } from '../../test/acting.ts'
import { makeEvidence } from './evidence.ts'
import { verifyEvidence } from './evidence-check.ts'

const database = await startedDatabase()
afterAll(() => database.close())
const { deps, addEntry, sign } = auditing(database)

const message = (message_id: string) => ({ message_id, digest: 'ab'.repeat(32), kid: 'k1', signature: 's' })

it('takes the first checkpoint that verifies, whatever rows another role has inserted', async () => {
  await addEntry({ operation: 'one', request: message('asked-2') })
  await addEntry({ operation: 'two' })
  await sign()
  // One that is forged, and one whose columns say something else than what is signed.
  for (const content of ["'{}'", 'content']) {
    await database.db.pool.query(
      `insert into account_checkpoint (chain, sequence, hash, at, content, digest, kid, signature)
        select chain, 1, hash, at, ${content}, sha256(${content}::text::bytea || 'x'), kid, signature
        from account_checkpoint where sequence = 2`,
    )
  }
  const evidence = await makeEvidence(acting(deps), { message_id: 'asked-2' })
  await expect(verifyEvidence({}, { evidence: JSON.parse(JSON.stringify(evidence)) })).resolves.toMatchObject({
    accounts: [{ operation: 'one' }],
  })
})

it('is refused with a key that cannot sign, whose fingerprint is its kid', async () => {
  const evidence = JSON.parse(JSON.stringify(await makeEvidence(acting(deps), { message_id: 'asked-2' })))
  const { thumbprint: kid, public_jwk: jwk } = await publicKey('X25519')
  const keys = [{ kid, use: 'account', owner: null, jwk, valid_from: null, valid_until: null }]
  await expect(verifyEvidence({}, { evidence: { ...evidence, keys, kid } })).rejects.toThrow(
    expect.objectContaining({ name: 'AdminRefusal', message: 'keys[0]: kid is not the fingerprint of an Ed25519 key' }),
  )
})

it('has the published keys that verified messages at that time, and no others', async () => {
  const { db } = database
  await addEntry({ operation: 'three', participant: 'a.example', request: message('asked-3') })
  await sign()
  const [used, later, named] = [await publicKey('Ed25519'), await publicKey('Ed25519'), await publicKey('P-256')]
  for (const key of [used, later]) await notePublishedKeyUse(db, 'a.example', { ...key, kid: 'k1' })
  await notePublishedKeyUse(db, 'a.example', { ...named, kid: 'k2' })
  await notePublishedKeyUse(db, 'b.example', { ...named, kid: 'k1' })
  await db.pool.query(
    `update published_key set first_used_at = now() + interval '2 days', last_used_at = now() + interval '3 days'
      where thumbprint = $1`,
    [later.thumbprint],
  )
  const { keys } = await makeEvidence(acting(deps), { message_id: 'asked-3' })
  expect(keys.filter(({ use }) => use === 'message')).toEqual([
    {
      kid: 'k1',
      use: 'message',
      owner: 'a.example',
      jwk: used.public_jwk,
      valid_from: expect.any(String),
      valid_until: expect.any(String),
    },
  ])
})
