import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { fetchedKeySet, givenKeySet, peerKeys } from './peer-keys.ts'

const { jwk, privateJwk } = keyPair('Ed25519')
const named = (kid: string, more: object = {}) => ({ ...jwk, kid, use: 'sig', ...more })

/** A key set that a test publishes, and a clock that it sets. */
function published(first: object | number | Error) {
  const state = { answer: first, asked: 0, now: 0 }
  const fetch = async (): Promise<Response> => {
    state.asked += 1
    const { answer } = state
    if (answer instanceof Error) {
      state.answer = { keys: [named('a')] }
      throw answer
    }
    return typeof answer === 'number' ? new Response('', { status: answer }) : Response.json(answer)
  }
  const http = { fetch, timeout: 30_000, maxAnswerBytes: 10_000 }
  return { state, set: fetchedKeySet(http, 'https://registry.example/jwks.json', () => state.now) }
}

const MINUTE = 60_000

describe('a published key set', () => {
  it('is fetched once for all, and again when it is ten minutes old', async () => {
    const { state, set } = published({ keys: [named('a')] })
    await Promise.all([set(), set(), set()])
    expect(state.asked).toBe(1)
    state.now = 9 * MINUTE
    await set()
    expect(state.asked).toBe(1)
    state.now = 11 * MINUTE
    state.answer = { keys: [named('b')] }
    expect((await set()).map(({ kid }) => kid)).toEqual(['b'])
  })

  it('is asked for again for a key that it does not have, at most every 30 seconds', async () => {
    const { state, set } = published({ keys: [named('a')] })
    const keys = peerKeys(set)
    expect(await keys.verifying('b', 'EdDSA')).toEqual([])
    expect(state.asked).toBe(1)
    state.now = 31_000
    state.answer = { keys: [named('a'), named('b')] }
    expect(await keys.verifying('b', 'EdDSA')).toHaveLength(1)
    expect(await keys.verifying('c', 'EdDSA')).toEqual([])
    expect(state.asked).toBe(2)
  })

  it('is asked for once a second while it cannot be fetched and there is none', async () => {
    const { state, set } = published(500)
    const message = 'the address of the key set answers with no set of public keys'
    for (const _ of [1, 2, 3]) await expect(set()).rejects.toThrow(message)
    expect(state.asked).toBe(1)
    state.now = 1_000
    state.answer = { keys: [named('a')] }
    expect(await set()).toHaveLength(1)
  })

  it('is asked for once more where the connection broke', async () => {
    const { state, set } = published(new TypeError('fetch failed'))
    expect(await set()).toHaveLength(1)
    expect(state.asked).toBe(2)
  })

  it('serves for a day while it cannot be fetched', async () => {
    const { state, set } = published({ keys: [named('a')] })
    await set()
    state.answer = 500
    state.now = 23 * 60 * MINUTE
    expect(await set()).toHaveLength(1)
    state.now = 25 * 60 * MINUTE
    await expect(set()).rejects.toThrow('the address of the key set answers with no set of public keys')
  })

  it('that shows a private key is not believed any more, nor what it was before', async () => {
    const { state, set } = published({ keys: [named('a')] })
    await set()
    state.answer = { keys: [named('a'), { ...privateJwk, kid: 'b' }] }
    state.now = 11 * MINUTE
    for (const _ of [1, 2]) {
      await expect(set()).rejects.toThrow('the address of the key set answers with no set of public keys')
    }
    state.answer = { keys: [named('a')] }
    state.now += 1_000
    expect(await set()).toHaveLength(1)
  })

  it.each([
    ['two keys of one name', { keys: [named('a'), { ...keyPair('Ed25519').jwk, kid: 'a' }] }],
    ['a private key', { keys: [named('a'), { ...privateJwk, kid: 'b' }] }],
    ['a symmetric key', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['too many keys', { keys: Array.from({ length: 21 }, (_, index) => named(String(index))) }],
    ['no list', { keys: 'none' }],
    ['no object', [1]],
  ])('with %s is none', async (_name, answer) => {
    const { set } = published(answer)
    await expect(set()).rejects.toThrow('the address of the key set answers with no set of public keys')
  })
})

describe('keys of a peer', () => {
  it('are those of the name, use and algorithm', async () => {
    const rsa = { ...keyPair('RSA').jwk, kid: 'r', use: 'enc', alg: 'RSA-OAEP-256' }
    const short = { ...keyPair('Ed25519').jwk, kid: 'peer.example|s|ed25519', use: 'sig' }
    const broken = named('broken', { x: 'AAAA' })
    const keys = peerKeys(givenKeySet({ keys: [broken, named('a'), named('e', { use: 'enc' }), rsa, short] }))
    const count = async (kid: string | null, algorithm: 'EdDSA' | 'RS256' = 'EdDSA') =>
      (await keys.verifying(kid, algorithm)).length
    expect(await Promise.all(['a', 's', 'e', 'broken', null].map((kid) => count(kid)))).toEqual([1, 1, 0, 0, 2])
    expect(await count('r', 'RS256')).toBe(0)
    expect((await keys.encryption())?.kid).toBe('r')
    expect(await peerKeys(givenKeySet({ keys: [] })).encryption()).toBeNull()
  })

  it('may be published under several names', async () => {
    const keys = peerKeys(givenKeySet({ keys: [named('a'), named('b')] }))
    const all = [
      ...(await keys.verifying('a', 'EdDSA')),
      ...(await keys.verifying('b', 'EdDSA')),
      ...(await keys.verifying(null, 'EdDSA')),
    ]
    expect(all).toHaveLength(3)
  })

  it('must not have two keys of one name where they are given', async () => {
    const keys = [named('a'), { ...keyPair('Ed25519').jwk, kid: 'a' }]
    await expect(givenKeySet({ keys })()).rejects.toThrow(
      new TypeError('a set of public keys must not have two keys of one name'),
    )
  })

  it('must be public where they are given', () => {
    expect(() => givenKeySet({ keys: [privateJwk] })).toThrow(
      new TypeError('a set of public keys must be {keys: [...]}, with no private key in it'),
    )
  })
})
