/** A registry that verifies the signature over a header that it has parsed and written again. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Jwk } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import { sortedEscaped } from '../../delivery/test/stranger/canonical.ts'
import { type ClientOptions, callbacksAt, identifier, RegistryClient } from '../src/index.ts'
import { failure } from './world.ts'

const pair = keyPair('Ed25519')

/** The members that are published for the header of a request. */
const PUBLISHED = [
  ...['version', 'message_id', 'message_ts', 'action', 'sender_id', 'sender_uri', 'receiver_id'],
  ...['total_count', 'is_msg_encrypted', 'meta'],
]

/** The header as a model with these members writes it. */
function writtenAgain(header: Readonly<Record<string, unknown>>): object {
  const seconds = String(header.message_ts).replace(/Z$/, '')
  const [second, fraction] = seconds.split('.')
  const message_ts = fraction === undefined ? `${second}Z` : `${second}.${fraction.padEnd(6, '0')}Z`
  return { ...Object.fromEntries(PUBLISHED.map((name) => [name, header[name] ?? null])), message_ts }
}

function verifies(header: object, { message, signature }: { message: object; signature: string }): boolean {
  const of = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(signature)?.[1] ?? ''
  const digest = createHash('sha256').update(sortedEscaped({ header, message })).digest('base64')
  const text = `(created): ${of('created')}\n(expires): ${of('expires')}\ndigest: ${digest}`
  const key = createPublicKey({ key: pair.jwk, format: 'jwk' })
  return verify(null, Buffer.from(text), key, Buffer.from(of(', signature'), 'base64'))
}

/** The request that the client sends for a search on a path of each mode. */
async function sent(options: Partial<ClientOptions>) {
  const bodies: string[] = []
  const asking = new RegistryClient({
    base_url: 'http://registry.invalid/civil/v1.0.0',
    sender_id: 'sp.example',
    signing: {
      key: { ...pair.privateJwk, kid: 'k-1' } as Jwk,
      profile: { layout: 'parameters', canonical_form: 'sorted-escaped', digest_prefix: '', algorithms: ['EdDSA'] },
    },
    retry: { attempts: 1 },
    fetch: async (_url, init) => {
      bodies.push(String(init?.body))
      return new Response('{}', { status: 400 })
    },
    ...options,
  })
  await failure(asking.search(identifier('UIN', '0012')))
  await failure(asking.searchAsync(identifier('UIN', '0012')))
  expect(bodies).toHaveLength(2)
  return bodies.map((body) => JSON.parse(body))
}

describe('to a registry that verifies a header written again', () => {
  it.each<[string, Partial<ClientOptions>]>([
    ['with no option more', {}],
    ['with every address', { receiver_id: 'civil.example', sender_uri: callbacksAt('https://sp.example') }],
  ])('a reserialised message verifies, %s', async (_name, options) => {
    for (const body of await sent({ ...options, outgoing: 'reserialised' })) {
      expect(Object.keys(body.header).sort()).toEqual([...PUBLISHED].sort())
      expect(verifies(writtenAgain(body.header), body)).toBe(true)
    }
  })

  it('a usual one does not, though it does as it was sent', async () => {
    for (const body of await sent({})) {
      expect(verifies(writtenAgain(body.header), body)).toBe(false)
      expect(verifies(body.header, body)).toBe(true)
    }
  })

  it('another word is refused', () => {
    const options = { base_url: 'http://registry.invalid', sender_id: 'sp', outgoing: 'parsed' as 'usual' }
    expect(() => new RegistryClient(options)).toThrow(new TypeError('outgoing must be one of usual, reserialised'))
  })
})
