/** Texts that two readers would read in two ways, under a good signature: what is acted on is what was signed, or nothing. */
import { describe, expect, it } from 'vitest'
import { bodyText, type Profile, SPEC, signature, type Unsigned } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, type Peer, searchBy, sendAs, signedBody } from '../sealing.ts'
import { adversary } from './world.ts'

const AS_RECEIVED: Profile = { ...SPEC, canonical_form: 'as-received' }
const SORTED: Profile = { ...SPEC, canonical_form: 'sorted-escaped' }

const { server, peer: newPeer, refused } = await adversary({ limits: { body_bytes: 300_000 } })
const ada = await newPeer('ada.example')
const verbatim = await newPeer('verbatim.example', { profile: AS_RECEIVED })
const sorted = await newPeer('sorted.example', { profile: SORTED })

async function expectBad(by: Peer, body: string, text: RegExp): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  expect(answer.body.message.error?.message).toMatch(text)
  expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
}

async function expectUnsigned(by: Peer, body: string, message: string): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  expectFault(answer, 401, 'err.signature.invalid', `signature: ${message}`)
}

const MISMATCH = 'the signature does not belong to this header and message'

describe('a member twice', () => {
  it.each([
    ['header', '"header":', '"header": {}, "header":'],
    ['message', '"message":', '"message": {"transaction_id": "x"}, "message":'],
    ['signature', '"signature":', '"signature": "unsigned", "signature":'],
    ['header, spelt with an escape', '"header":', '"\\u0068eader": {}, "header":'],
    ['sender_id', '"sender_id":', '"sender_id": "eve.example", "sender_id":'],
    ['query', '"query":', '"query": {}, "query":'],
  ])('%s', async (_name, once, twice) => {
    for (const peer of [ada, verbatim, sorted]) {
      await expectBad(peer, signedBody(peer, searchBy(peer)).replace(once, twice), /twice|duplicate|repeated/)
    }
  })
})

describe('numbers', () => {
  it('a number that cannot be kept as it is written is refused, however it is signed', async () => {
    const text = /^header\.meta\.n: the number cannot be kept as it is written; write it as a string$/
    for (const peer of [ada, verbatim, sorted]) {
      const body = signedBody(peer, searchBy(peer, { header: { meta: { n: 7 } } }))
      for (const n of ['9007199254740993', '9007199254740993.0', '0.12345678901234567890', '1e-400', '1e400']) {
        await expectBad(peer, body.replace('"n": 7', `"n": ${n}`), text)
      }
    }
  })

  it('an integer beyond 2^53 that a double holds is signed in every form', async () => {
    for (const peer of [ada, verbatim, sorted]) {
      const body = signedBody(peer, searchBy(peer, { header: { meta: { n: 9007199254740992, m: 1e20 } } }))
      await expectSealed(server, await sendAs(server, peer, body))
    }
  })

  it('another spelling of the same number is the same value, and another text', async () => {
    const changes = { header: { meta: { n: 7 } } }
    await expectSealed(server, await sendAs(server, ada, signedBody(ada, searchBy(ada, changes)).replace('"n": 7', '"n": 7.0')))
    for (const peer of [verbatim, sorted]) {
      const body = signedBody(peer, searchBy(peer, changes)).replace('"n": 7', '"n": 7.0')
      await expectUnsigned(peer, body, MISMATCH)
    }
  })
})

describe('texts', () => {
  it('composed and decomposed letters, or other white space, are different texts', async () => {
    const changes = { header: { meta: { name: 'é x' } } }
    for (const other of ['e\u0301 x', 'é\u00a0x', 'é  x', 'é x\u200b']) {
      for (const peer of [ada, verbatim, sorted]) {
        await expectUnsigned(peer, signedBody(peer, searchBy(peer, changes)).replace('é x', other), MISMATCH)
      }
    }
  })

  it('an escape is the same value; as received it is another text', async () => {
    const respelt = (peer: Peer): string => signedBody(peer, searchBy(peer)).replace('"tx-1"', '"\\u0074x-1"')
    await expectSealed(server, await sendAs(server, ada, respelt(ada)))
    await expectSealed(server, await sendAs(server, sorted, respelt(sorted)), 'civil.example', SORTED)
    await expectUnsigned(verbatim, respelt(verbatim), MISMATCH)
  })

  it.each([
    ['a NUL', '"tx\\u0000"'],
    ['half of a pair', '"tx\\ud800"'],
  ])('%s', async (_name, text) => {
    await expectBad(ada, signedBody(ada, searchBy(ada)).replace('"tx-1"', text), /^message\.transaction_id: /)
  })
})

describe('names that reach beyond data', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is signed like any other', async (name) => {
    const withName = (peer: Peer, value: string): string => {
      const { header, message } = searchBy(peer)
      const meta = Object.fromEntries([[name, { is_msg_encrypted: true, sender_id: value }]])
      return signedBody(peer, { header: { ...header, meta }, message })
    }
    for (const peer of [ada, sorted, verbatim]) {
      const body = withName(peer, 'one')
      await expectSealed(server, await sendAs(server, peer, body), 'civil.example', peer.profile)
      await expectUnsigned(peer, withName(peer, 'one').replace('"one"', '"two"'), MISMATCH)
    }
  })

  it('__proto__ of the envelope gives no signature and no header', async () => {
    const sent: Unsigned = searchBy(ada)
    const value = JSON.stringify(signature(sent, ada.signer))
    const text = `{"__proto__": {"signature": ${value}}, ${bodyText(sent).slice(1)}`
    const answer = await sendAs(server, ada, text)
    refused.push(answer)
    expectFault(answer, 401, 'err.signature.missing', 'signature: the message has no signature')
    await expectBad(ada, `{"__proto__": ${bodyText(sent)}}`, /^header: must be an object$/)
  })
})

describe('sizes', () => {
  it('signatures that are as long as a body may be are refused', async () => {
    const long = 'A'.repeat(200_000)
    const list = 'the signature must be a list of name="value" with commas between them'
    const cases: readonly (readonly [string, string])[] = [
      [long, list],
      ['namespace="'.repeat(20_000), list],
      [`namespace="${long}"`, 'the signature has no kidId'],
      [', '.repeat(100_000), list],
      [`${' '.repeat(200_000)}`, list],
      [`namespace="registry",${' '.repeat(200_000)}`, list],
      [`namespace="registry", kidId="${'|'.repeat(100_000)}"`, 'the signature has no algorithm'],
    ]
    for (const [value, text] of cases) await expectUnsigned(ada, bodyText(searchBy(ada), value), text)
  })

  it('a valid signature with too many spaces between its parameters is refused', async () => {
    const sent = searchBy(ada)
    const padded = (length: number): string => {
      const value = signature(sent, ada.signer)
      return bodyText(sent, value.replace(', ', `,${' '.repeat(length - value.length + 1)}`))
    }
    await expectUnsigned(ada, padded(8_193), 'the signature must have at most 8192 characters, without the payload of a JWS')
    await expectSealed(server, await sendAs(server, ada, padded(8_192)))
  })

  it('as many levels as are allowed are signed, one more is refused before', async () => {
    const nested = (levels: number): string => {
      const meta = JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
      return signedBody(ada, searchBy(ada, { header: { meta } }))
    }
    await expectSealed(server, await sendAs(server, ada, nested(61)))
    await expectBad(ada, nested(62), /64 levels/)
  })
})
