import fc from 'fast-check'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { EncryptedMessage } from '../../envelope.ts'
import { parseJson } from '../../json.ts'
import { validator } from '../../validate.ts'
import { CanonicalText, canonicalJson } from '../canonical-json.ts'
import { KeyRefused } from '../jwk.ts'
import { CONTENT_ENCRYPTIONS } from './algorithms.ts'
import { ciphertextFingerprint, decryptMessage, EncryptionProblem, encryptMessage } from './encryption.ts'

const KEYS = [
  { kid: 'rsa', alg: 'RSA-OAEP-256', crv: undefined },
  { kid: 'p256', alg: 'ECDH-ES+A256KW', crv: 'P-256' },
  { kid: 'x25519', alg: 'ECDH-ES+A256KW', crv: 'X25519' },
]
const publicKeys = new Map<string, JWK>()
const privateKeys = new Map<string, CryptoKey>()

beforeAll(async () => {
  for (const { kid, alg, crv } of KEYS) {
    const pair = await generateKeyPair(alg, crv === undefined ? {} : { crv })
    publicKeys.set(kid, { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'enc' })
    privateKeys.set(kid, pair.privateKey)
  }
})
afterEach(() => void vi.restoreAllMocks())

const LIMITS = { maxCiphertextBytes: 100_000 }
const keyOf = (kid: string) => publicKeys.get(kid) ?? {}
const resolve = (kid: string) => privateKeys.get(kid) ?? null
const open = (encrypted: unknown) => decryptMessage(encrypted, resolve, LIMITS)
const problemOf = async (opening: Promise<unknown>) => opening.catch((error: unknown) => error)

const message = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }))

describe.each(KEYS)('$alg with $kid', ({ kid, alg }) => {
  test.each(CONTENT_ENCRYPTIONS)('$enc: what is encrypted is opened again', async ({ enc }) => {
    await fc.assert(
      fc.asyncProperty(message, async (value) => {
        const encrypted = await encryptMessage({ message: value, key: keyOf(kid), enc })
        const { text, message } = await open(parseJson(JSON.stringify(encrypted)))
        expect(text).toBe(canonicalJson(value))
        expect(message).toEqual(parseJson(text))
      }),
      { numRuns: 20 },
    )
  })

  test('the form is that of the spec, with epk where the key is agreed on', async () => {
    const encrypted = await encryptMessage({ message: {}, key: keyOf(kid) })
    expect(validator(EncryptedMessage).problem(encrypted, '')).toBeNull()
    const { epk, ...header } = encrypted.header
    expect(header).toEqual({ alg, enc: 'A256GCM', kid })
    const { kty, crv, x, y } = keyOf(kid)
    const members = Object.keys(Object.fromEntries(Object.entries({ kty, crv, x, y }).filter(([, v]) => v)))
    expect(Object.keys(epk ?? {}).sort()).toEqual(crv === undefined ? [] : members.sort())
    expect(Object.keys(encrypted).sort()).toEqual(['ciphertext', 'encrypted_key', 'header', 'iv', 'tag'])
  })

  test('no two ciphertexts share a key, an iv or a fingerprint', async () => {
    const twice = [1, 2].map(() => encryptMessage({ message: { a: 1 }, key: keyOf(kid) }))
    const [first, second] = await Promise.all(twice)
    for (const member of ['encrypted_key', 'iv', 'ciphertext', 'tag'] as const) {
      expect(first?.[member]).not.toBe(second?.[member])
    }
  })

  test('any other character in it is refused in the same words', async () => {
    const encrypted = await encryptMessage({ message: { a: 'b' }, key: keyOf(kid) })
    const place = fc.record({
      member: fc.constantFrom('encrypted_key', 'iv', 'ciphertext', 'tag'),
      at: fc.nat(400),
      character: fc.constantFrom(...'AZaz09_-+/=. \u00e9'),
    })
    await fc.assert(
      fc.asyncProperty(place, async ({ member, at, character }) => {
        const text = encrypted[member as 'tag']
        const place = at % text.length
        fc.pre(text[place] !== character)
        const changed = { ...encrypted, [member]: text.slice(0, place) + character + text.slice(place + 1) }
        const problem = await problemOf(open(changed))
        expect(problem).toBeInstanceOf(EncryptionProblem)
        expect(problem).toMatchObject({ message: 'the encrypted message cannot be decrypted' })
      }),
      { numRuns: 60 },
    )
  })

  test('a bad encrypted key ends where a bad tag ends, after the same work', async () => {
    const encrypted = await encryptMessage({ message: { a: 'b' }, key: keyOf(kid) })
    const swapped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
    const content = vi.spyOn(crypto.subtle, 'decrypt')
    for (const member of ['encrypted_key', 'tag'] as const) {
      content.mockClear()
      const problem = await problemOf(open({ ...encrypted, [member]: swapped(encrypted[member]) }))
      expect(problem).toMatchObject({ name: 'EncryptionProblem', step: 'open' })
      expect(content.mock.calls.filter(([how]) => (how as { name: string }).name === 'AES-GCM')).toHaveLength(1)
    }
  })
})

describe('encryptMessage', () => {
  test('takes a text as the JSON that it is', async () => {
    const text = '{ "n": 3.0 }'
    expect((await open(await encryptMessage({ message: text, key: keyOf('rsa') }))).text).toBe(text)
  })

  test('embeds stored records as they are', async () => {
    const stored = { reg_records: [new CanonicalText('{"a":1}')] }
    const { message } = await open(await encryptMessage({ message: stored, key: keyOf('rsa') }))
    expect(message).toEqual({ reg_records: [{ a: 1 }] })
  })

  test('gives nothing when the key is no key to encrypt with', async () => {
    const problem = await problemOf(encryptMessage({ message: {}, key: { ...keyOf('rsa'), alg: 'RSA1_5' } }))
    expect(problem).toBeInstanceOf(KeyRefused)
    expect(problem).toMatchObject({ message: 'alg: must be RSA-OAEP-256 or ECDH-ES+A256KW, and fit the key' })
  })
})

describe('decryptMessage', () => {
  test('opens a ciphertext of the size that is allowed, and not one byte more', async () => {
    const encrypted = await encryptMessage({ message: '{"a":"bcd"}', key: keyOf('rsa') })
    const within = (maxCiphertextBytes: number) => decryptMessage(encrypted, resolve, { maxCiphertextBytes })
    expect((await within(11)).text).toBe('{"a":"bcd"}')
    expect(await problemOf(within(10))).toMatchObject({ name: 'EncryptionProblem', step: 'form' })
  })

  test('asks for no key when the form is wrong', async () => {
    const asked = vi.fn(resolve)
    const encrypted = await encryptMessage({ message: {}, key: keyOf('rsa') })
    const problem = await problemOf(decryptMessage({ ...encrypted, zip: 'DEF' }, asked, LIMITS))
    expect(problem).toMatchObject({ name: 'EncryptionProblem', step: 'form' })
    expect(asked).not.toHaveBeenCalled()
  })

  test('nests as deep as is asked for', async () => {
    const encrypted = await encryptMessage({ message: { a: { b: 1 } }, key: keyOf('rsa') })
    const within = (maxDepth: number) => decryptMessage(encrypted, resolve, { ...LIMITS, bounds: { maxDepth } })
    expect((await within(2)).message).toEqual({ a: { b: 1 } })
    expect(await problemOf(within(1))).toMatchObject({ name: 'EncryptionProblem', step: 'content' })
  })

  test('says nothing of what was in it, whatever is printed', async () => {
    const problem = await problemOf(open(await encryptMessage({ message: '{"secret":1', key: keyOf('rsa') })))
    expect(problem).toMatchObject({ name: 'EncryptionProblem', step: 'content' })
    expect((problem as Error).cause).toBeUndefined()
    expect(`${JSON.stringify(problem)} ${(problem as Error).stack}`).not.toContain('secret')
  })

  test('a directory of keys that is out of order is no fault of the message', async () => {
    const encrypted = await encryptMessage({ message: {}, key: keyOf('rsa') })
    const broken = () => Promise.reject(new Error('the directory is away'))
    expect(await problemOf(decryptMessage(encrypted, broken, LIMITS))).toMatchObject({
      name: 'Error',
      message: 'the directory is away',
    })
  })

  test.each([['rsa'], ['p256']])('a public key in place of the private one of %s opens nothing', async (kid) => {
    const encrypted = await encryptMessage({ message: {}, key: keyOf(kid) })
    const { publicKey } = await generateKeyPair(keyOf(kid).alg ?? '', kid === 'rsa' ? {} : { crv: 'P-256' })
    const problem = await problemOf(decryptMessage(encrypted, () => publicKey, LIMITS))
    expect(problem).toMatchObject({ name: 'EncryptionProblem', step: 'open' })
  })
})

describe('ciphertextFingerprint', () => {
  const hex = async (encrypted_key: string, tag: string) =>
    Buffer.from(await ciphertextFingerprint({ encrypted_key, tag })).toString('hex')

  test('is SHA-256 over both texts, with a point between them', async () => {
    expect(await hex('', '')).toBe('cdb4ee2aea69cc6a83331bbe96dc2caa9a299d21329efb0336fc02a82e1839a8')
  })

  test('no part of one counts for the other', async () => {
    expect(new Set([await hex('AA', 'BB'), await hex('AAB', 'B'), await hex('A', 'ABB')]).size).toBe(3)
  })

  test('stays when header, iv and spelling of the envelope change', async () => {
    const encrypted = await encryptMessage({ message: {}, key: keyOf('rsa') })
    const again = { ...encrypted, header: { ...encrypted.header, kid: 'other' }, iv: 'AAAA' }
    expect(await ciphertextFingerprint(again)).toEqual(await ciphertextFingerprint(encrypted))
  })
})
