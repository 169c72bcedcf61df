/** Asking a registry whose answers repeat the header of the request. */
import type { Jwk } from '@rollcall/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import { signature, type Unsigned } from '../../delivery/test/stranger/signing.ts'
import {
  type ClientOptions,
  identifier,
  itemsOrThrow,
  type Peer,
  Receiver,
  RegistryClient,
  type RequestOptions,
} from '../src/index.ts'
import { type Adapter, adapter, JWS } from './adapter.ts'
import { keeping, sent } from './callbacks.ts'
import { failure, QUICK } from './world.ts'

const ADA = identifier('UIN', '0012')
const ours = { EdDSA: keyPair('Ed25519'), RS256: keyPair('RSA') }
const opening = keyPair('RSA')
let registry: Adapter
let unchanged: Adapter['answer']

/** The key we sign with is the adapter's to know. */
async function adapterFor(algorithm: keyof typeof ours): Promise<Adapter> {
  return adapter({ sign: ours[algorithm].privateJwk, decrypt: opening.privateJwk })
}

beforeAll(async () => {
  registry = await adapterFor('EdDSA')
  unchanged = registry.answer
})
afterEach(() => {
  registry.answer = unchanged
})
afterAll(() => registry.close())

function client(options: Partial<ClientOptions> = {}, at = registry, algorithm: keyof typeof ours = 'EdDSA') {
  return new RegistryClient({
    base_url: at.base_url,
    sender_id: 'sp.example',
    receiver_id: 'adapter.example',
    signing: { key: { ...ours[algorithm].privateJwk, kid: 'ours-1' } as Jwk, profile: profileOf(algorithm) },
    peer: { keys: at.keys, profile: JWS },
    retry: QUICK,
    ...options,
  })
}
const profileOf = (algorithm: keyof typeof ours) => ({ ...JWS, algorithms: [algorithm] })
const encryption = { keys: [{ ...opening.privateJwk, kid: 'ours' } as Jwk] }

/** The header of the adapter's answers, changed. */
const header = (changes: object) => (answer: Unsigned) => ({ ...answer, header: { ...answer.header, ...changes } })
const ask = (options: Partial<ClientOptions> = {}, request: RequestOptions = {}) => client(options).search(ADA, request)

describe('an answer that repeats the header of the request', () => {
  it.each(['EdDSA', 'RS256'] as const)('is taken, asked with a JWS of %s', async (algorithm) => {
    const other = await adapterFor(algorithm)
    try {
      const answer = await client({}, other, algorithm).search(ADA)
      expect(answer.signed).toBe(true)
      expect(answer.header).toMatchObject({ action: 'search', sender_id: 'adapter.example', receiver_id: 'sp.example' })
      expect(itemsOrThrow(answer)[0]).toMatchObject({ data: { reg_records: [{ a: 1 }] }, locale: 'en' })
      expect(other.verified).toHaveLength(1)
    } finally {
      await other.close()
    }
  })

  it('is taken with timestamps without a zone, which are UTC and named', async () => {
    const local = new Date().toISOString().replace('Z', '000')
    registry.answer = (answer) => {
      const [item] = (answer.message as { search_response: object[] }).search_response
      return {
        header: { ...answer.header, message_ts: local },
        message: { ...answer.message, search_response: [{ ...item, timestamp: local }] },
      }
    }
    const answer = await ask()
    expect(answer.header.message_ts).toBe(`${local}Z`)
    expect(itemsOrThrow(answer)[0]?.timestamp).toBe(`${local}Z`)
    expect(answer.assumed_utc).toEqual(['header.message_ts', 'message.search_response[0].timestamp'])
  })

  it('is taken encrypted, though its header does not say so', async () => {
    const answer = await ask({ encryption })
    expect(answer).toMatchObject({ signed: true, encrypted: true })
    expect(itemsOrThrow(answer)[0]?.data?.reg_records).toEqual([{ a: 1 }])
  })

  it('is taken where neither it nor the request names a receiver', async () => {
    const asking = new RegistryClient({
      base_url: registry.base_url,
      sender_id: 'sp.example',
      signing: { key: { ...ours.EdDSA.privateJwk, kid: 'ours-1' } as Jwk, profile: profileOf('EdDSA') },
      peer: { keys: registry.keys, profile: JWS },
    })
    const { header: shown, signed } = await asking.search(ADA)
    expect(signed).toBe(true)
    expect([shown.sender_id, shown.receiver_id]).toEqual([undefined, 'sp.example'])
    registry.answer = header({ receiver_id: 'adapter.example' })
    expect(await failure(asking.search(ADA))).toMatchObject({
      name: 'UntrustedAnswer',
      code: 'err.receiver_id.invalid',
      message:
        'the answer repeats our sender_id, and names a receiver that the request did not; see receiver_id in the options of the client',
      options: ['receiver_id'],
    })
  })
})

describe('is not believed', () => {
  const rows: [string, object, string, readonly string[]][] = [
    ['the answer to another system', { sender_id: 'other.example' }, 'the answer is for another system', ['sender_id']],
    [
      'the answer of another registry',
      { receiver_id: 'ibr.example' },
      'the answer repeats our sender_id, and names a receiver that the request did not',
      ['receiver_id'],
    ],
    [
      'an answer whose addresses are both ours',
      { sender_id: 'adapter.example', receiver_id: 'adapter.example' },
      'the answer is for another system',
      ['sender_id'],
    ],
  ]
  it.each(rows)('%s, signed by the registry', async (_name, changes, reason, options) => {
    registry.answer = header(changes)
    expect(await failure(ask())).toMatchObject({ name: 'UntrustedAnswer', code: 'err.receiver_id.invalid', reason, options })
  })

  it('the answer to another request of ours', async () => {
    registry.answer = (answer) => ({ ...answer, message: { ...answer.message, transaction_id: 'other' } })
    expect(await failure(ask())).toMatchObject({ name: 'UntrustedAnswer', reason: 'the answer belongs to another transaction' })
  })

  it('our own request, sent back', async () => {
    const sign = registry.signed
    registry.signed = () => JSON.stringify(registry.verified.at(-1))
    try {
      expect(await failure(ask())).toMatchObject({
        name: 'TransportError',
        reason: 'unreadable',
        message: 'header.status: is required',
      })
    } finally {
      registry.signed = sign
    }
  })

  it('our own signature under an answer', async () => {
    const sign = registry.signed
    const signer = { kid: 'ours-1', algorithm: 'EdDSA', privateJwk: ours.EdDSA.privateJwk } as const
    registry.signed = (envelope) =>
      JSON.stringify({ signature: signature(envelope, signer, { ...JWS, algorithms: ['EdDSA'] }), ...envelope })
    try {
      expect(await failure(ask())).toMatchObject({
        name: 'UntrustedAnswer',
        code: 'err.signature.invalid',
        reason:
          "signature: no key of the sender has the signature's key id and algorithm: compare its key set with the signature",
        options: ['peer.keys', 'peer.profile'],
      })
    } finally {
      registry.signed = sign
    }
  })

  it('an answer in clear where we asked encrypted, whatever its header leaves out', async () => {
    const asking = client({ encryption })
    const other = { ...encryption, keys: [{ ...keyPair('RSA').privateJwk, kid: 'ours' } as Jwk] }
    registry.answer = header({ is_msg_encrypted: false })
    expect(await failure(asking.search(ADA))).toMatchObject({
      code: 'err.encryption.invalid',
      reason: 'header.is_msg_encrypted: must say whether message is an EncryptedMessage',
    })
    registry.answer = unchanged
    expect(await failure(ask({ encryption: other }))).toMatchObject({
      code: 'err.encryption.invalid',
      reason: 'message: cannot be decrypted',
      options: ['encryption.keys'],
    })
    const sign = registry.signed
    registry.signed = (envelope) => {
      const { search_request: _search, ...message } = {
        ...registry.verified.at(-1).message,
        correlation_id: 'c',
        search_response: [],
      }
      return sign({ ...envelope, message })
    }
    try {
      expect(await failure(asking.search(ADA))).toMatchObject({
        code: 'err.encryption.invalid',
        reason: 'message: must be encrypted',
      })
    } finally {
      registry.signed = sign
    }
  })

  it('an answer that is signed otherwise than its profile says, with the options that help', async () => {
    expect(await failure(ask({ peer: { keys: registry.keys } }))).toMatchObject({
      code: 'err.signature.invalid',
      options: ['peer.keys', 'peer.profile'],
      message: expect.stringMatching(/^signature: .*; see peer\.keys, peer\.profile in the options of the client$/),
    })
  })
})

describe('a callback that repeats the header of the request', () => {
  const { got, handlers } = keeping()
  const receiverOf = (changes: Partial<Peer> = {}, peers: readonly Peer[] = []): Receiver =>
    new Receiver({
      receiver_id: 'sp.example',
      handlers,
      decryption_keys: encryption.keys,
      peers: [{ sender_id: 'adapter.example', keys: registry.keys, profile: JWS, repeats_addresses: true, ...changes }, ...peers],
    })
  let count = 0
  const body = (changes: object = {}, message: object = {}): string =>
    registry.signed({
      header: {
        message_id: `repeated-${count++}`,
        message_ts: new Date().toISOString(),
        action: 'search',
        sender_id: 'sp.example',
        receiver_id: 'adapter.example',
        status: 'succ',
        ...changes,
      },
      message: { transaction_id: 'tx-1', correlation_id: 'c-1', search_response: [], ...message },
    })

  it.each(['/on-search', '/elsewhere'])('is taken where the peer says so, at %s', async (path) => {
    const { status } = await sent(receiverOf(), body(), { path })
    expect(status).toBe(200)
    expect(got.at(-1)).toMatchObject({
      name: 'on-search',
      signed: true,
      header: { sender_id: 'adapter.example', receiver_id: 'sp.example' },
    })
  })

  it('is the callback of the registry, which sends it once', async () => {
    const receiving = receiverOf()
    const text = body()
    const before = got.length
    expect((await sent(receiving, text)).status).toBe(200)
    expect((await sent(receiving, text)).status).toBe(200)
    expect(got.length).toBe(before + 1)
  })

  const refused: [string, Partial<Peer>, object, string, string][] = [
    [
      'where the peer does not say so',
      { repeats_addresses: false },
      {},
      '403 err.sender_id.invalid',
      'header.sender_id: must be a registry that this receiver knows',
    ],
    [
      'from another system',
      {},
      { sender_id: 'other.example' },
      '403 err.sender_id.invalid',
      'header.sender_id: must be a registry that this receiver knows',
    ],
    [
      'to another registry',
      {},
      { receiver_id: 'ibr.example' },
      '403 err.sender_id.invalid',
      'header.sender_id: must be a registry that this receiver knows',
    ],
    [
      'to nobody',
      {},
      { receiver_id: undefined },
      '403 err.sender_id.invalid',
      'header.receiver_id: is required, unless the correlation_id is that of a request to a registry whose signature is required and verifies',
    ],
    [
      'signed with other keys',
      { keys: { keys: [{ ...keyPair('RSA').jwk, kid: 'adapter-1', use: 'sig' } as Jwk] } },
      {},
      '401 err.signature.invalid',
      'signature: the signature does not belong to this header and message',
    ],
    [
      'without status: our own request, sent back',
      {},
      { status: undefined },
      '400 err.request.bad',
      'header.status: is required',
    ],
  ]
  it.each(refused)('is refused %s', async (_name, peer, changes, code, message) => {
    const { status, ack } = await sent(receiverOf(peer), body(changes), { path: '/on-search' })
    expect([`${status} ${ack.error.code}`, ack.error.message]).toEqual([code, message])
  })

  it('of a registry that repeats says nothing of the others', async () => {
    const strict: Peer = { sender_id: 'ibr.example', keys: registry.keys, profile: JWS }
    const { status } = await sent(receiverOf({}, [strict]), body({ receiver_id: 'ibr.example' }))
    expect(status).toBe(403)
  })
})
