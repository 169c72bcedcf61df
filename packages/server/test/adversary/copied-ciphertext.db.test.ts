/** A ciphertext in a message other than the one that it first came in. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Unsigned } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import { encrypted, opened, type Peer, publishedKey, searchBy, sendAs, signedBody } from '../sealing.ts'
import type { Answer } from '../server.ts'
import { adversary } from './world.ts'

const { server, peer, refused } = await adversary()
const ada = await peer('ada.example', { decrypts: 'RSA' })
const eve = await peer('eve.example', { decrypts: 'X25519' })
const rsa = await publishedKey(server, 'RSA-OAEP-256')
const ecdh = await publishedKey(server, 'ECDH-ES+A256KW')

const send = (by: Peer, envelope: Unsigned): Promise<Answer> => sendAs(server, by, signedBody(by, envelope))

async function expectRefused(by: Peer, envelope: Unsigned): Promise<void> {
  const answer = await send(by, envelope)
  refused.push(answer)
  expectFault(answer, 400, 'err.encryption.invalid', 'message: cannot be decrypted')
}

/** The owner of the ciphertext gets its answer. */
async function expectTaken(by: Peer, envelope: Unsigned): Promise<void> {
  expect(opened(await send(by, envelope), by)).toHaveProperty('correlation_id')
}

describe('a ciphertext that was copied', () => {
  const copy = (by: Peer, { message }: Unsigned, changes: object = {}): Unsigned => ({
    header: { ...searchBy(by).header, is_msg_encrypted: true, ...changes },
    message,
  })

  it('under another sender', async () => {
    const sent = encrypted(searchBy(ada), rsa)
    await expectTaken(ada, sent)
    await expectRefused(eve, copy(eve, sent))
  })

  it('under another message_id of its own sender', async () => {
    const sent = encrypted(searchBy(ada), rsa)
    await expectTaken(ada, sent)
    await expectRefused(ada, copy(ada, sent))
  })

  it('under another sender whose header is rejected: its transaction_id is not told', async () => {
    const sent = encrypted(searchBy(ada, { message: { transaction_id: 'secret-word' } }), rsa)
    await expectTaken(ada, sent)
    for (const changes of [{ version: '9.0.0' }, { action: 'destroy' }, { action: 'subscribe' }]) {
      await expectRefused(eve, copy(eve, sent, changes))
    }
  })

  it('under another sender with a message_id that was used before', async () => {
    const used = searchBy(eve)
    await send(eve, used)
    const sent = encrypted(searchBy(ada), rsa)
    await expectTaken(ada, sent)
    await expectRefused(eve, copy(eve, sent, { message_id: used.header.message_id }))
  })

  it('of a rejected header as well', async () => {
    const sent = encrypted(searchBy(ada, { header: { version: '9.0.0' } }), rsa)
    await expectTaken(ada, sent)
    await expectRefused(eve, copy(eve, sent))
  })

  it('with an ephemeral key that agrees on the same secret', async () => {
    const sent = encrypted(searchBy(ada), ecdh)
    await expectTaken(ada, sent)
    const epk = sent.message.header.epk as { x: string; y: string }
    const y = Buffer.from(epk.y, 'base64url')
    const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
    const mirrored = (p - BigInt(`0x${y.toString('hex')}`)).toString(16).padStart(64, '0')
    const header = { ...sent.message.header, epk: { ...epk, y: Buffer.from(mirrored, 'hex').toString('base64url') } }
    await expectRefused(eve, copy(eve, { header: sent.header, message: { ...sent.message, header } }))
  })

  it('our log alone says that it was copied', () => {
    expect(server.logged()).toContain('"reason":"decryption_copied"')
    expect(JSON.stringify(refused)).not.toContain('decryption_copied')
  })

  it('what is remembered is a digest', async () => {
    const { message, header } = encrypted(searchBy(ada), rsa)
    await expectTaken(ada, { message, header })
    const digest = createHash('sha256').update(`${message.encrypted_key}.${message.tag}`).digest()
    const { rows } = await server.database.db.pool.query('select fingerprint from sealed_message')
    expect(rows.some(({ fingerprint }) => digest.equals(fingerprint))).toBe(true)
  })
})
