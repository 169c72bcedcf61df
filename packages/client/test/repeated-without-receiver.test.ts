/** Callbacks that repeat the header of a request without receiver_id: the request says which registry sends them. */
import type { Jwk } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import type { Signer } from '../../delivery/test/stranger/signing.ts'
import { type ClientOptions, itemsOrThrow, type Peer, type Receiver, type RegistryClient } from '../src/index.ts'
import { CIVIL, keeping, onSearch, receiver, SIGNER, sent, signed } from './callbacks.ts'
import { ack, type Respond } from './loopback.ts'
import { ADA, client } from './world.ts'

const REPEATING: Peer = { ...CIVIL, repeats_addresses: true }
const pair = keyPair('Ed25519')
const OTHER_SIGNER: Signer = { kid: 'k-2', algorithm: 'EdDSA', privateJwk: pair.privateJwk }
const OTHER: Peer = {
  sender_id: 'ibr.example',
  keys: { keys: [{ ...pair.jwk, kid: 'k-2', use: 'sig' } as Jwk] },
  repeats_addresses: true,
}

/** The client of the civil registry, which does not name it. */
const asking = (receiver: Receiver, respond: Respond, peer: ClientOptions['peer'] = {}): Promise<RegistryClient> =>
  client([respond], { receiver, receiver_id: undefined, peer: { keys: CIVIL.keys, ...peer } } as never)

/** The answer of an adapter: the header of the request, with a status. */
const repeated = (correlation_id = 'c-1', signer = SIGNER): string =>
  signed(
    onSearch({ header: { action: 'search', sender_id: 'sp.example', receiver_id: undefined }, message: { correlation_id } }),
    {},
    signer,
  )

const CALLED_SO =
  'header.receiver_id: is required, unless the correlation_id is that of a request to a registry whose signature is required and verifies'

it('is taken, and its sender is the registry that was asked', async () => {
  const { got, handlers } = keeping()
  const to = receiver({ peers: [REPEATING, OTHER], handlers })
  const civil = await asking(to, ack())
  const { correlation_id } = await civil.searchAsync(ADA)
  expect(await sent(to, repeated())).toMatchObject({ status: 200, body: { message: { correlation_id } } })
  expect(got).toMatchObject([{ signed: true, header: { sender_id: 'civil.example', receiver_id: 'sp.example' } }])
  const callback = await civil.awaitCallback(correlation_id)
  expect(callback.name === 'on-search' && itemsOrThrow(callback)).toHaveLength(1)
})

it('is taken before the ack', async () => {
  const to = receiver({ peers: [REPEATING] })
  const civil = await asking(to, async (asked, response) => {
    expect(await sent(to, repeated())).toMatchObject({ status: 200 })
    return ack()(asked, response)
  })
  const { correlation_id } = await civil.searchAsync(ADA, { transaction_id: 'tx-1' })
  expect(await civil.awaitCallback(correlation_id)).toMatchObject({ name: 'on-search' })
})

describe('is refused', () => {
  interface Refused {
    readonly peers?: readonly Peer[]
    readonly peer?: ClientOptions['peer']
    readonly body?: string
  }
  it.each<[string, Refused]>([
    ['with the correlation_id of no request', { body: repeated('c-2') }],
    ['with a correlation_id that is no text', { body: repeated({ valueOf: 1, toString: 1 } as never) }],
    ['signed by another registry than was asked', { body: repeated('c-1', OTHER_SIGNER) }],
    ['signed with a key of nobody', { body: repeated('c-1', { ...OTHER_SIGNER, kid: 'k-1' }) }],
    ['where the peer need not sign', { peers: [{ ...REPEATING, signature: 'if-present' }] }],
    ['where the peer does not sign', { peers: [{ ...REPEATING, signature: 'off' }] }],
    ['where the client asks for no signature', { peer: { signature: 'off' } }],
    ['where the client need not have one', { peer: { signature: 'if-present' } }],
    ['where the peer does not repeat addresses', { peers: [CIVIL, OTHER] }],
    ['where two peers have the key', { peers: [REPEATING, { ...REPEATING, sender_id: 'social.example' }] }],
  ])('%s', async (_name, { peers = [REPEATING, OTHER], peer, body = repeated() }) => {
    const { got, handlers } = keeping()
    const to = receiver({ peers, handlers })
    await (await asking(to, ack(), peer)).searchAsync(ADA)
    const { status, ack: told } = await sent(to, body)
    expect([status, told.error]).toEqual([403, { code: 'err.sender_id.invalid', message: CALLED_SO }])
    expect(got).toEqual([])
  })

  it('unsigned', async () => {
    const to = receiver({ peers: [REPEATING] })
    await (await asking(to, ack())).searchAsync(ADA)
    const { signature: _, ...unsigned } = JSON.parse(repeated())
    expect(await sent(to, JSON.stringify(unsigned))).toMatchObject({
      status: 403,
      ack: { error: { code: 'err.sender_id.invalid', message: CALLED_SO } },
    })
  })
})
