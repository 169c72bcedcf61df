/** Any change of what was signed is refused; numbers are small because every case is an HTTP request. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canonical } from '../../../delivery/test/stranger/canonical.ts'
import { bodyText, type Profile, parametersOf, SPEC, signature } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, type Peer, sealingPeer, searchBy, sendAs, signedBody } from '../sealing.ts'
import type { Answer, TestServer } from '../server.ts'
import { expectNothingLeaked, world } from './world.ts'

const PROFILES: readonly Profile[] = [
  SPEC,
  { ...SPEC, canonical_form: 'sorted-escaped' },
  { ...SPEC, canonical_form: 'as-received', digest_prefix: 'BLAKE-512=' },
  { ...SPEC, layout: 'jws', canonical_form: 'rfc8785' },
  { ...SPEC, layout: 'jws-detached', canonical_form: 'as-received' },
]
const CASES = 25

let server: TestServer
const peers: Peer[] = []
const refused: Answer[] = []

beforeAll(async () => {
  server = await world()
  for (const [index, profile] of PROFILES.entries()) {
    peers.push(await sealingPeer(server, `peer-${index}.example`, { profile }))
  }
})

afterAll(async () => {
  expectNothingLeaked(server, peers, refused)
  await server.close()
})

const anyPeer = fc.nat(PROFILES.length - 1)
const at = (index: number): Peer => peers[index] as Peer

async function expectRefused(by: Peer, body: string): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  const { message } = answer.body.message?.error ?? {}
  expect(message, JSON.stringify(answer.body)).toMatch(/^signature: /)
  expectFault(answer, 401, 'err.signature.invalid', message)
}

/** The places of all values in a message: paths of members and indices. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
}

/** A copy in which the value at a place is another. */
function changed(value: unknown, [first, ...rest]: readonly string[], other: unknown): unknown {
  if (first === undefined) return other
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) }
  copy[first] = changed(copy[first], rest, other)
  return Array.isArray(value) ? Object.values(copy) : copy
}

const json = fc.jsonValue({ maxDepth: 2 })

it('any value of header or message that becomes another one', async () => {
  await fc.assert(
    fc.asyncProperty(anyPeer, fc.constantFrom('header', 'message'), fc.nat(), json, async (index, part, place, other) => {
      const peer = at(index)
      const sent = searchBy(peer, { header: { meta: { a: [1, { b: 'x' }] } } })
      // These decide who is asked for, or are judged before the signature; a test of its own changes them.
      const inner = part === 'header' ? { meta: sent.header.meta } : sent.message
      const places = placesIn(inner).filter((path) => path.length > 0)
      const path = places[place % places.length] ?? []
      const altered = changed(inner, path, other)
      fc.pre(canonical(altered) !== canonical(inner) && JSON.stringify(altered) !== JSON.stringify(inner))
      fc.pre(!JSON.stringify(altered).includes('\\u0000'))
      fc.pre(part === 'message' || path.length > 1)
      const body = { ...sent, [part]: part === 'header' ? { ...sent.header, ...(altered as object) } : altered }
      await expectRefused(peer, bodyText(body, signature(sent, peer.signer, peer.profile)))
    }),
    { numRuns: CASES * 3 },
  )
})

it('any member of the header that is left out or doubled under another name', async () => {
  for (const peer of peers) {
    const sent = searchBy(peer)
    const value = signature(sent, peer.signer, peer.profile)
    for (const member of ['version', 'total_count', 'is_msg_encrypted', 'meta']) {
      const header = Object.fromEntries(Object.entries(sent.header).filter(([name]) => name !== member))
      await expectRefused(peer, bodyText({ header, message: sent.message }, value))
    }
    await expectRefused(peer, bodyText({ ...sent, header: { ...sent.header, extra: null } }, value))
  }
})

it('any byte of the signature value that becomes another one', async () => {
  await fc.assert(
    fc.asyncProperty(anyPeer, fc.nat(63), fc.integer({ min: 1, max: 255 }), async (index, place, mask) => {
      const peer = at(index)
      const sent = searchBy(peer)
      const value = signature(sent, peer.signer, peer.profile)
      const parameters = peer.profile.layout === 'parameters'
      const own = parameters ? (parametersOf(value).signature ?? '') : (value.split('.')[2] ?? '')
      const bytes = Buffer.from(own, parameters ? 'base64' : 'base64url')
      bytes[place] = (bytes[place] ?? 0) ^ mask
      const altered = value.replace(own, bytes.toString(parameters ? 'base64' : 'base64url'))
      await expectRefused(peer, bodyText(sent, altered))
    }),
    { numRuns: CASES * 2 },
  )
})

it('any character of the signature that becomes another one', async () => {
  const letters = fc.constantFrom(...'AZaz09+/=-_.|"\\, \n\u0000é')
  await fc.assert(
    fc.asyncProperty(anyPeer, fc.nat(), letters, async (index, place, letter) => {
      const peer = at(index)
      const sent = searchBy(peer)
      const value = signature(sent, peer.signer, peer.profile)
      const where = place % value.length
      // White space between parameters and the namespace, one of several, are not signed.
      fc.pre(value[where] !== letter && letter !== '\u0000' && !/^(?:, | )$/.test(value.slice(where - 1, where + 1)))
      await expectRefused(peer, bodyText(sent, value.slice(0, where) + letter + value.slice(where + 1)))
    }),
    { numRuns: CASES * 3 },
  )
})

it('any message whatever that was signed as it should be is not refused for its signature', async () => {
  await fc.assert(
    fc.asyncProperty(anyPeer, fc.dictionary(fc.string({ unit: 'grapheme' }), json), async (index, meta) => {
      fc.pre(!JSON.stringify(meta).includes('\\u0000'))
      const peer = at(index)
      const sent = searchBy(peer, { header: { meta } })
      await expectSealed(server, await sendAs(server, peer, signedBody(peer, sent)), 'civil.example', peer.profile)
    }),
    { numRuns: CASES },
  )
})
