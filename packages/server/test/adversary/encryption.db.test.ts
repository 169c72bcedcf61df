/** Encrypted messages: what comes in encrypted is opened once, for its sender alone, and answered encrypted or not at all. */

import { revokeOwnKey } from '@rollcall/keys/rotation'
import { revokeParticipantKey } from '@rollcall/participants/store/participant-keys'
import { readConfig } from '@rollcall/settings/config'
import { openVault } from '@rollcall/settings/storage'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import type { Unsigned } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import {
  encrypted,
  expectSealed,
  opened,
  type Peer,
  publishedKey,
  registered,
  sealingPeer,
  searchBy,
  sendAs,
  signedBody,
} from '../sealing.ts'
import { type Answer, MASTER_KEY } from '../server.ts'
import { encrypt } from '../stranger/encryption.ts'
import { adversary } from './world.ts'

const RSA = 'RSA-OAEP-256'
const ECDH = 'ECDH-ES+A256KW'
const CLOSED = 'message: cannot be decrypted'

const { server, peer: newPeer, refused } = await adversary({ limits: { body_bytes: 100_000 } })
const ada = await newPeer('ada.example', { decrypts: 'RSA' })
const eve = await newPeer('eve.example', { decrypts: 'X25519' })
const keyless = await newPeer('keyless.example')
const strict = await newPeer('strict.example', { decrypts: 'P-256', settings: { encryption_policy: 'required' } })
const open = await newPeer('open.example', { decrypts: 'RSA', settings: { encryption_policy: 'refused' } })
const rsa = await publishedKey(server, RSA)
const ecdh = await publishedKey(server, ECDH)

const send = (by: Peer, envelope: Unsigned): Promise<Answer> => sendAs(server, by, signedBody(by, envelope))

async function expectRefused(by: Peer, envelope: Unsigned, message = CLOSED): Promise<void> {
  const answer = await send(by, envelope)
  refused.push(answer)
  expectFault(answer, 400, 'err.encryption.invalid', message)
}

/** The answer shows nothing but its header and a message that its participant alone can open. */
function expectClosed({ body }: Answer): void {
  expect(Object.keys(body.message).sort()).toEqual(['ciphertext', 'encrypted_key', 'header', 'iv', 'tag'])
  expect(JSON.stringify(body)).not.toMatch(/Okoro|B-5521|tx-1|search_response|correlation/)
}

const looked = async (): Promise<number> =>
  Number((await server.database.db.pool.query('select count(*) from exchange')).rows[0].count)

describe('asked encrypted, answered encrypted', () => {
  const WAYS = [RSA, ECDH].flatMap((alg) => ['A256GCM', 'A128GCM'].map((enc) => [alg, enc] as const))

  it.each(WAYS)('%s with %s: a stranger opens and verifies the answer', async (alg, enc) => {
    for (const peer of [ada, eve, strict]) {
      const answer = await send(peer, encrypted(searchBy(peer), alg === RSA ? rsa : ecdh, { enc }))
      await expectSealed(server, answer)
      expectClosed(answer)
      expect(opened(answer, peer)).toMatchObject({
        transaction_id: 'tx-1',
        search_response: [{ status: 'succ', data: { reg_records: [{ name: { surname: 'Okoro' } }] } }],
      })
    }
  })

  it.each([
    ['version', { header: { version: '9.0.0' } }, 'rjct.version.invalid'],
    ['action', { header: { action: 'subscribe' } }, 'rjct.action.invalid'],
    ['unknown action', { header: { action: 'destroy' } }, 'rjct.action.not_supported'],
    ['total_count', { header: { total_count: 7 } }, 'rjct.total_count.invalid'],
  ])('a rejected header is answered encrypted: %s', async (_name, changes, code) => {
    const answer = await send(ada, encrypted(searchBy(ada, changes), rsa))
    await expectSealed(server, answer)
    expectClosed(answer)
    expect(answer.body.header).toMatchObject({ status: 'rjct', status_reason_code: code })
    expect(opened(answer, ada)).toEqual({
      transaction_id: 'tx-1',
      correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      search_response: [],
    })
  })

  it('a duplicate and a batch in which all is rejected are answered encrypted', async () => {
    const sent = searchBy(ada, { criteria: { query: { type: 'secret-word', value: 'secret-word' } } })
    const rejected = await send(ada, encrypted(sent, rsa))
    expectClosed(rejected)
    expect(rejected.body.header.status_reason_code).toBe('rjct.errors.too_many')
    const other = { header: sent.header, message: { ...sent.message, transaction_id: 'tx-10' } }
    const duplicate = await send(ada, encrypted(other, rsa))
    expectClosed(duplicate)
    expect(duplicate.body.header.status_reason_code).toBe('rjct.message_id.duplicate')
  })

  it('a message that is wrong inside is refused without a word of what it holds', async () => {
    const wrong = searchBy(ada, { item: { locale: 'secret-word' } })
    const answer = await send(ada, encrypted(wrong, rsa))
    refused.push(answer)
    const text = answer.body.message.error.message
    expect(text).toMatch(/^message\.search_request\[0\]\.locale: /)
    expectFault(answer, 400, 'err.request.bad', text)
  })

  it('the same message encrypted anew is the same message', async () => {
    const sent = searchBy(ada)
    const [first, again] = [await send(ada, encrypted(sent, rsa)), await send(ada, encrypted(sent, rsa))]
    expect(opened(again, ada).correlation_id).toBe(opened(first, ada).correlation_id)
  })
})

describe('the policy of a participant', () => {
  it('required: nothing is taken in clear', async () => {
    await expectRefused(strict, searchBy(strict), 'message: must be encrypted')
    const otherwise = searchBy(strict, { header: { version: '9.0.0' } })
    await expectRefused(strict, otherwise, 'message: must be encrypted')
  })

  it('refused: nothing is taken encrypted', async () => {
    await expectRefused(open, encrypted(searchBy(open), rsa), 'message: this participant is registered to send in clear')
    await expectSealed(server, await send(open, searchBy(open)))
  })

  it('allowed, and no key to answer with: nothing is looked up', async () => {
    const before = await looked()
    const text = 'message: there is no usable key of the sender to encrypt the answer with'
    await expectRefused(keyless, encrypted(searchBy(keyless), rsa), text)
    await expectRefused(keyless, encrypted(searchBy(keyless, { header: { version: '9.0.0' } }), rsa), text)
    expect(await looked()).toBe(before)
  })

  it('whose only key was revoked: nothing goes out in clear', async () => {
    const peer = await sealingPeer(server, 'revoked.example', { decrypts: 'RSA' })
    expectClosed(await send(peer, encrypted(searchBy(peer), rsa)))
    await revokeParticipantKey(server.database.db, await registered(server, peer.sender_id), 'enc-1')
    server.clock.pass(1_000)
    const text = 'message: there is no usable key of the sender to encrypt the answer with'
    await expectRefused(peer, encrypted(searchBy(peer), rsa), text)
  })
})

describe('is_msg_encrypted that lies', () => {
  const LIES = 'header.is_msg_encrypted: must say whether message is an EncryptedMessage'

  it('says encrypted and is clear', async () => {
    await expectRefused(ada, searchBy(ada, { header: { is_msg_encrypted: true } }), LIES)
  })

  it.each([false, undefined])('is encrypted and says %s', async (is_msg_encrypted) => {
    const { header, message } = encrypted(searchBy(ada), rsa)
    await expectRefused(ada, { header: { ...header, is_msg_encrypted }, message }, LIES)
  })

  it('a clear message with the members of an encrypted one', async () => {
    const sent = searchBy(ada)
    const { message } = encrypted(searchBy(ada), rsa)
    await expectRefused(ada, { header: sent.header, message: { ...sent.message, ...message } }, LIES)
  })

  it.each(['ciphertext', 'encrypted_key', 'tag', 'iv', 'header'])('without %s', async (member) => {
    const { header, message } = encrypted(searchBy(ada), rsa)
    const without = Object.fromEntries(Object.entries(message).filter(([name]) => name !== member))
    await expectRefused(ada, { header, message: without }, `message.${member}: is required`)
  })

  it.each(['alg', 'enc', 'kid'])('without %s in its header', async (member) => {
    const { header, message } = encrypted(searchBy(ada), rsa)
    const inner = Object.entries(message.header).filter(([name]) => name !== member)
    const without = { ...message, header: Object.fromEntries(inner) }
    await expectRefused(ada, { header, message: without }, `message.header.${member}: is required`)
  })
})

describe('what cannot be decrypted has one answer', () => {
  const base = () => encrypted(searchBy(ada), rsa)
  const bent = (changes: object, header: object = {}): Unsigned => {
    const sent = base()
    return { header: sent.header, message: { ...sent.message, header: { ...sent.message.header, ...header }, ...changes } }
  }
  /** Another last byte, in base64url. */
  const flipped = (text: string): string => {
    const bytes = Buffer.from(text, 'base64url')
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    return bytes.toString('base64url')
  }

  it.each(['unknown', '', 'x'.repeat(257), "' or 1=1"])('kid "%s"', async (kid) => {
    await expectRefused(ada, bent({}, { kid }))
  })

  it('a key of another algorithm under its kid, and our signing key', async () => {
    await expectRefused(ada, bent({}, { kid: ecdh.kid }))
    await expectRefused(ada, bent({}, { kid: (await publishedKey(server, 'EdDSA')).kid }))
  })

  it('encrypted for another key under the kid of ours', async () => {
    for (const type of ['RSA', 'P-256'] as const) {
      const ours = type === 'RSA' ? rsa : ecdh
      const key = { ...keyPair(type).jwk, kid: ours.kid, alg: ours.alg }
      await expectRefused(ada, encrypted(searchBy(ada), key))
    }
  })

  it.each(['tag', 'iv', 'ciphertext', 'encrypted_key'] as const)('%s: a bit flipped, cut, empty, padded', async (part) => {
    const { [part]: text } = base().message
    const values = [flipped(text), text.slice(0, -4), text.slice(0, -1), '', `${text}=`, `${text}\n`, `${text}AAAA`]
    for (const value of values) {
      const sent = base()
      await expectRefused(ada, {
        header: sent.header,
        message: { ...sent.message, [part]: value === flipped(text) ? flipped(sent.message[part]) : value },
      })
    }
  })

  it.each(['RSA1_5', 'RSA-OAEP', 'dir', 'PBES2-HS256+A128KW', 'A256KW', 'ECDH-ES', 'none', 'rsa-oaep-256'])(
    'alg %s',
    async (alg) => expectRefused(ada, bent({}, { alg })),
  )

  it.each(['A256CBC-HS512', 'A128CBC-HS256', 'A192GCM', 'a256gcm', 'none'])('enc %s', async (enc) => {
    await expectRefused(ada, bent({}, { enc }))
  })

  it.each([
    ['zip', 'DEF'],
    ['crit', ['exp']],
    ['p2c', 1_000_000_000],
    ['p2s', 'AAAA'],
    ['jwk', {}],
    ['jku', 'https://keys.example/'],
    ['x5u', 'https://keys.example/'],
    ['apu', 'AAAA'],
  ])('a header member more: %s', async (member, value) => {
    await expectRefused(ada, bent({}, { [member]: value }))
    const guarded = Buffer.from(JSON.stringify({ [member]: value })).toString('base64url')
    await expectRefused(ada, bent({ protected: guarded }))
  })

  it.each([
    ['aad', 'AAAA'],
    ['unprotected', {}],
    ['recipients', []],
    ['extra', 1],
  ])('a member more: %s', async (member, value) => expectRefused(ada, bent({ [member]: value })))

  it.each([
    ['no JSON', 'secret-word'],
    ['an array', '[]'],
    ['a text', '"secret-word"'],
    ['null', 'null'],
    ['a member twice', '{"transaction_id":"a","transaction_id":"b"}'],
    ['a NUL', '{"transaction_id":"\\u0000"}'],
    ['a number that would be rounded', '{"transaction_id":9007199254740993}'],
    ['too deep', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['a mark before it', '\ufeff{}'],
  ])('plaintext that is no object of ours: %s', async (_name, text) => {
    const { header } = base()
    await expectRefused(ada, { header, message: encrypt(text, rsa) })
  })

  it.each([
    ['no point of the curve', { x: 'A'.repeat(43), y: 'A'.repeat(43) }],
    ['of another curve', keyPair('X25519').jwk],
    ['of another type', keyPair('RSA').jwk],
    ['cut', { x: 'AAAA' }],
    ['private', { d: 'A'.repeat(43) }],
    ['named', { kid: 'x' }],
  ])('an ephemeral key that is %s', async (_name, change) => {
    const { header, message } = encrypted(searchBy(ada), ecdh)
    const own = message.header.epk as object
    const epk = 'kty' in change ? change : { ...own, ...change }
    await expectRefused(ada, { header, message: { ...message, header: { ...message.header, epk } } })
  })

  it('a plaintext that is an encrypted message once more', async () => {
    const { header, message } = base()
    const answer = await send(ada, { header, message: encrypt(message, rsa) })
    refused.push(answer)
    const text = answer.body.message.error.message
    expect(text).toMatch(/^message\.transaction_id: /)
    expectFault(answer, 400, 'err.request.bad', text)
  })

  it('a ciphertext over the limit of bodies never gets to a key', async () => {
    const { header, message } = base()
    const answer = await send(ada, { header, message: { ...message, ciphertext: 'A'.repeat(200_000) } })
    expectFault(answer, 413, 'err.request.bad', 'body: must be at most 100000 bytes')
    await expectRefused(ada, { header, message: { ...message, ciphertext: 'A'.repeat(90_000) } })
  })

  it('the log says which step failed, and the peer is not told', () => {
    const lines = server.logged().split('\n')
    const noted = lines.filter((line) => line.includes('requests were refused')).map((line) => JSON.parse(line))
    const reasons = ['form', 'key', 'open', 'content'].map((step) => `decryption_${step}`)
    for (const reason of reasons) {
      expect(noted).toContainEqual(expect.objectContaining({ refusal: 'err.encryption.invalid', reason }))
    }
    expect(JSON.stringify(refused)).not.toContain('decryption_')
  })

  it('nothing that was refused is remembered, and nothing has become a failure of ours', async () => {
    expect(server.logged()).not.toMatch(/failed inside|"level":"(error|fatal)"/)
    expect(refused.every(({ status }) => status === 400)).toBe(true)
  })
})

it('a revoked key of ours opens nothing, within a second', async () => {
  const config = readConfig({ ROLLCALL_MASTER_KEY: MASTER_KEY })
  const { db } = server.database
  const sent = encrypted(searchBy(ada), rsa)
  expectClosed(await send(ada, sent))
  await revokeOwnKey(db, await openVault(config, db), rsa.kid)
  server.clock.pass(1_000)
  await expectRefused(ada, encrypted(searchBy(ada), rsa))
  await expectRefused(ada, sent)
  const next = await publishedKey(server, RSA)
  expect(next.kid).not.toBe(rsa.kid)
  expectClosed(await send(ada, encrypted(searchBy(ada), next)))
})
