import { beforeAll, describe, expect, test } from 'vitest'
import { CanonicalText, canonicalJson } from '../canonical-json.ts'
import { SourcedEnvelope } from '../source.ts'
import { DEFAULT_SIGNATURE_PROFILE as profile } from './layout.ts'
import { SignatureProblem } from './problem.ts'
import { type SignRequest, sign, signedContent } from './sign.ts'
import { readSignature, verifySignature } from './verify.ts'

type Pair = { readonly publicKey: SignRequest['key']['privateKey']; readonly privateKey: SignRequest['key']['privateKey'] }
let pair: Pair
let request: SignRequest
beforeAll(async () => {
  pair = (await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])) as unknown as Pair
  request = {
    header: { sender_id: 'civil', message_id: 'm-1' },
    message: { b: 1, a: 'é' },
    profile,
    key: { sender_id: 'civil', kid: 'k-1', algorithm: 'EdDSA', privateKey: pair.privateKey },
    namespace: 'registry',
    created: 1_767_225_600,
    expires: 1_767_225_900,
  }
})

test('writes the parameters of the spec in its order', async () => {
  expect(await sign(request)).toMatch(
    /^namespace="registry", kidId="civil\|k-1\|ed25519", algorithm="ed25519", created="1767225600", expires="1767225900", headers="\(created\) \(expires\) digest", signature="[A-Za-z0-9+/]{86}=="$/,
  )
})

test('a message that is canonical text already is signed as it is', async () => {
  const message = new CanonicalText(canonicalJson(request.message))
  expect(await sign({ ...request, message })).toBe(await sign(request))
})

test('the bytes that are signed are known without the private key', async () => {
  const { privateKey, ...key } = request.key
  const content = await signedContent({ ...request, key })
  const signature = await crypto.subtle.sign({ name: 'Ed25519' }, privateKey, new Uint8Array(content))
  const text = btoa(String.fromCharCode(...new Uint8Array(signature)))
  expect(await sign(request)).toContain(`signature="${text}"`)
})

test('what was signed verifies with the public half, and with no other key', async () => {
  const { header, message } = request
  const body = canonicalJson({ signature: await sign(request), header, message })
  const envelope = new SourcedEnvelope(body)
  const signature = readSignature(envelope.member('signature'), { profile, namespaces: ['registry'] })
  expect(signature).toMatchObject({
    sender_id: 'civil',
    kid: 'k-1',
    algorithm: 'EdDSA',
    created: 1_767_225_600,
    expires: 1_767_225_900,
  })
  await expect(verifySignature(signature, envelope, pair.publicKey)).resolves.toBeUndefined()

  const other = (await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify'])) as unknown as Pair
  await expect(verifySignature(signature, envelope, other.publicKey)).rejects.toThrow(
    new SignatureProblem('invalid', 'the signature does not belong to this header and message'),
  )
  const ecdsa = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'sign',
    'verify',
  ])) as unknown as Pair
  await expect(verifySignature(signature, envelope, ecdsa.publicKey)).rejects.toThrow(
    new SignatureProblem('invalid', 'the key is for another algorithm than the signature'),
  )
  // A private key verifies nothing; what WebCrypto says of it stays inside.
  await expect(verifySignature(signature, envelope, pair.privateKey)).rejects.toThrow(SignatureProblem)
})

describe('mistakes of the caller', () => {
  const key = (change: object) => ({ key: { ...request.key, ...change } })

  test.each<[string, () => object]>([
    ['the key belongs to another sender_id than the header', () => ({ header: { sender_id: 'other' } })],
    ['the key belongs to another sender_id than the header', () => ({ header: {} })],
    ['the algorithm is not one of the profile', () => ({ profile: { ...profile, algorithms: ['ES256'] } })],
    [
      'the key is for another algorithm',
      () => ({ profile: { ...profile, algorithms: ['ES256'] }, ...key({ algorithm: 'ES256' }) }),
    ],
    ['created and expires must be Unix times in whole seconds, created first', () => ({ expires: 1_767_225_600 })],
    ['created and expires must be Unix times in whole seconds, created first', () => ({ created: 1.5 })],
    ['a part of kidId cannot be empty or hold |', () => key({ kid: 'a|b' })],
    ['a part of kidId cannot be empty or hold |', () => key({ kid: '' })],
    ['a parameter of a signature cannot hold quotes, backslashes or controls', () => key({ kid: 'a"b' })],
    ['a parameter of a signature cannot hold quotes, backslashes or controls', () => ({ namespace: 'a\\' })],
  ])('%s', async (rule, change) => {
    await expect(sign({ ...request, ...change() })).rejects.toThrow(new TypeError(rule))
  })
})
