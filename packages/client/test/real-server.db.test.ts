/** Against the real server on real PostgreSQL: in clear, signed in several profiles, encrypted. */
import type { Jwk, SignatureProfile } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consentAuthority } from '../../admin/test/consents.ts'
import { keyPair } from '../../core/test/key-pairs.ts'
import { grant } from '../../participants/test/grants.ts'
import { type PeerOptions, sealingPeer } from '../../server/test/sealing.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import {
  AckError,
  assertedConsent,
  type ClientOptions,
  identifier,
  itemsOrThrow,
  RegistryClient,
  signedConsent,
} from '../src/index.ts'
import { all, failure } from './world.ts'

const person = (uin: string, given_name: string) => ({
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'MOBILE', identifier_value: '+999 555 0101' },
  ],
  name: { surname: 'Okoro', given_name },
})
const ADA = identifier('UIN', '0012')

let server: TestServer
beforeAll(async () => {
  server = await testServer()
  await server.registry('civil', [person('0012', 'Ada'), person('0013', 'Bo'), person('0014', 'Cai')])
})
afterAll(() => server.close())

let participants = 0

/** A new participant of the server, and its client. */
async function client(
  peerOptions: PeerOptions = {},
  options: (peer: Awaited<ReturnType<typeof sealingPeer>>) => Partial<ClientOptions> = () => ({}),
): Promise<RegistryClient> {
  participants += 1
  const peer = await sealingPeer(server, `sp-${participants}.example`, peerOptions)
  return new RegistryClient({
    base_url: `${server.url}/civil/v1.0.0`,
    sender_id: peer.sender_id,
    receiver_id: 'civil.example',
    credentials: { client_id: peer.client_id, client_secret: peer.secret },
    signing: { key: { ...peer.signer.privateJwk, kid: peer.signer.kid } as Jwk },
    ...options(peer),
  })
}

describe('signed', () => {
  it('finds a person by an identifier, and verifies the answer with the published keys', async () => {
    const asking = await client()
    const answer = await asking.search(ADA)
    expect(answer).toMatchObject({ signed: true, encrypted: false })
    const [item] = itemsOrThrow(answer)
    expect(item?.data?.reg_records).toEqual([person('0012', 'Ada')])
    expect(await asking.searchOne(identifier('UIN', '9999'))).toBeNull()
  })

  it('is answered where it writes every member of the header', async () => {
    const asking = await client({}, () => ({ outgoing: 'reserialised' }))
    expect(await asking.searchOne(ADA)).toEqual(person('0012', 'Ada'))
  })

  it('goes through pages', async () => {
    const asking = await client()
    const criteria = { ...identifier('MOBILE', '+999 555 0101'), pagination: { page_size: 2 } }
    const sort = [{ attribute_name: 'given_name', sort_order: 'asc' as const }]
    const found = await all(asking.searchAll({ ...criteria, sort }))
    expect(found.map(({ name }) => name)).toEqual(['Ada', 'Bo', 'Cai'].map((given_name) => ({ surname: 'Okoro', given_name })))
  })

  it('says which item was rejected', async () => {
    const asking = await client()
    const answer = await asking.search([ADA, identifier('SHOE_SIZE', '42')])
    const error = await failure(Promise.resolve(answer).then(itemsOrThrow))
    expect(error).toMatchObject({ name: 'ItemRejected', reference_id: '2', code: 'rjct.search_criteria.invalid' })
    expect(String(error)).toContain('query')
  })

  const profile = (changes: Partial<SignatureProfile>): SignatureProfile => ({
    layout: 'parameters',
    canonical_form: 'rfc8785',
    digest_prefix: '',
    algorithms: ['EdDSA'],
    ...changes,
  })

  it.each<[string, SignatureProfile]>([
    ['a prefix before the digest', profile({ digest_prefix: 'SHA-256=' })],
    ['Python-like JSON', profile({ canonical_form: 'sorted-escaped' })],
    ['Python-like JSON without escapes', profile({ canonical_form: 'sorted-unescaped' })],
    ['the text as it is sent', profile({ canonical_form: 'as-received' })],
    ['a JWS', profile({ layout: 'jws' })],
    ['a detached JWS with ES256', profile({ layout: 'jws-detached', algorithms: ['ES256'] })],
    ['RSA', profile({ algorithms: ['RS256'] })],
    ['bare RSA', profile({ layout: 'raw-rsa', algorithms: ['RS256'] })],
  ])('with %s', async (_name, own) => {
    const asking = await client({ profile: own }, ({ signer }) => ({
      signing: { key: { ...signer.privateJwk, kid: signer.kid } as Jwk, profile: own },
    }))
    expect(await asking.searchOne(ADA)).toEqual(person('0012', 'Ada'))
  })

  it('expects answers by the algorithm of its key', async () => {
    const asking = await client({ profile: profile({ algorithms: ['ES256'] }) }, ({ signer }) => ({
      signing: { key: { ...signer.privateJwk, kid: signer.kid } as Jwk },
    }))
    expect(await asking.searchOne(ADA)).toEqual(person('0012', 'Ada'))
  })
})

it('asks under a consent, and under one that an authority has signed', async () => {
  const asking = await client()
  const authority = await consentAuthority(server.database)
  await grant(server.database, `sp-${participants}.example`, 'civil', {
    operations: ['search'],
    query_forms: ['identifier'],
    see: ['identifier', 'name'],
    basis: 'consent',
    purposes: ['eligibility'],
  })
  const none = itemsOrThrow.bind(null, await asking.search(ADA))
  expect(none).toThrow('search_criteria.consent: is required here')
  expect(await asking.searchOne({ ...ADA, ...assertedConsent('eligibility', { text: 'x' }) })).toEqual(person('0012', 'Ada'))
  const subject = { identifier_type: 'UIN', identifier_value: '0012' }
  const under = signedConsent(await authority.sign({ subject, attributes: ['given_name'] }), { purpose: 'eligibility' })
  expect(await asking.searchOne({ ...ADA, ...under })).toEqual({ '@type': 'Person', name: { given_name: 'Ada' } })
  expect(await failure(asking.searchOne({ ...identifier('UIN', '0013'), ...under }))).toMatchObject({
    name: 'ItemRejected',
    code: 'rjct.search_criteria.invalid',
  })
})

describe('encrypted', () => {
  it.each(['RSA', 'P-256', 'X25519'] as const)('asks and is answered with %s', async (decrypts) => {
    const asking = await client({ decrypts }, ({ encryption }) => ({
      encryption: { keys: [{ ...encryption?.privateJwk, kid: 'enc-1' } as Jwk] },
    }))
    const answer = await asking.search(ADA)
    expect(answer).toMatchObject({ signed: true, encrypted: true })
    expect(itemsOrThrow(answer)[0]?.data?.reg_records).toEqual([person('0012', 'Ada')])
  })

  it('does not take an answer that it cannot open', async () => {
    const asking = await client({ decrypts: 'RSA' }, () => ({
      encryption: { keys: [{ ...keyPair('RSA').privateJwk, kid: 'enc-1' }] },
    }))
    expect(await failure(asking.search(ADA))).toMatchObject({
      name: 'UntrustedAnswer',
      code: 'err.encryption.invalid',
      reason: 'message: cannot be decrypted',
    })
  })
})

describe('refused', () => {
  it('without a signature, in the words of the registry', async () => {
    const asking = await client({}, ({ client_id, secret }) => ({
      signing: undefined as never,
      credentials: { client_id, client_secret: secret },
    }))
    const error = await failure(asking.search(ADA))
    expect(error).toBeInstanceOf(AckError)
    expect(error).toMatchObject({
      code: 'err.signature.missing',
      message: 'signature: the message has no signature',
      httpStatus: 401,
    })
  })

  it('with a wrong secret', async () => {
    const asking = await client({}, ({ client_id }) => ({ credentials: { client_id, client_secret: 'wrong' } }))
    expect(await failure(asking.search(ADA))).toMatchObject({ name: 'TokenRefused', code: 'invalid_client', httpStatus: 401 })
  })

  it("by us, where the answer is signed with keys that are not the registry's", async () => {
    const stranger = { ...keyPair('Ed25519').jwk, use: 'sig', kid: 'other' }
    const asking = await client({}, () => ({ peer: { keys: { keys: [stranger] } } }))
    expect(await failure(asking.search(ADA))).toMatchObject({
      name: 'UntrustedAnswer',
      code: 'err.signature.invalid',
      reason: "signature: no key of the sender has the signature's key id and algorithm: compare its key set with the signature",
    })
  })
})
