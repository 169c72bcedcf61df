/** Messages that are not signed, or not as they should be. */
import { describe, expect, it } from 'vitest'
import { bodyText, parametersOf, signature } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, type Peer, sealingPeer, searchBy, sendAs, signedBody } from '../sealing.ts'
import { adversary } from './world.ts'

const WEAK = { allow_unsigned: true } as const

const { server, peer, refused } = await adversary()
const ada = await peer('ada.example')
const lax = await peer('lax.example', { settings: { signature_policy: 'if-present', ...WEAK } })
const off = await peer('off.example', { settings: { signature_policy: 'off', ...WEAK } })

const now = (): number => Math.floor(Date.now() / 1_000)

async function expectRefused(by: Peer, body: string | object, message: string, kind = 'invalid'): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  expectFault(answer, 401, `err.signature.${kind}`, `signature: ${message}`)
}

const MISMATCH = 'the signature does not belong to this header and message'

describe('no signature', () => {
  const PLACEHOLDERS = ['', 'unsigned', 'unsigned-stub', 'unsigned-mock', 'mock-signature']

  it.each([undefined, null])('unsigned under required: %s', async (value) => {
    await expectRefused(ada, bodyText(searchBy(ada), value), 'the message has no signature', 'missing')
  })

  it.each(PLACEHOLDERS)('placeholder under required: "%s"', async (placeholder) => {
    const text = 'the message has a placeholder instead of a signature'
    await expectRefused(ada, bodyText(searchBy(ada), placeholder), text, 'missing')
  })

  it.each([undefined, null, ...PLACEHOLDERS])('if-present takes it: %s', async (value) => {
    await expectSealed(server, await sendAs(server, lax, bodyText(searchBy(lax), value)))
  })

  it.each(['Unsigned', ' unsigned', 'unsigned ', 'none', 'null', 'signature', '-'])(
    'if-present refuses a word that is not on the list: "%s"',
    async (word) => {
      const text = 'the signature must be a list of name="value" with commas between them'
      await expectRefused(lax, bodyText(searchBy(lax), word), text)
    },
  )

  it.each([0, false, {}, [], ['unsigned']])('if-present refuses what is no text: %j', async (value) => {
    await expectRefused(lax, bodyText(searchBy(lax), value), 'the signature must be a text')
  })

  it('if-present refuses a signature that does not verify, and one that has expired', async () => {
    const { header, message } = searchBy(lax)
    const value = signature({ header, message }, lax.signer)
    await expectRefused(lax, bodyText({ header: { ...header, meta: { x: 1 } }, message }, value), MISMATCH)
    const parameters = { created: now() - 400, expires: now() - 100 }
    await expectRefused(lax, signedBody(lax, searchBy(lax), { parameters }), 'the signature has expired')
  })

  it('off looks at no signature, and the answer is signed all the same', async () => {
    await expectSealed(server, await sendAs(server, off, bodyText(searchBy(off), 'nonsense')))
  })

  it('no policy but required is taken without the word of the operator', async () => {
    const settings = { signature_policy: 'off' } as const
    await expect(sealingPeer(server, 'careless.example', { settings })).rejects.toThrow(
      'signature_policy off takes unsigned messages, so it needs allow_unsigned: true',
    )
  })
})

describe('a signature of another message', () => {
  it.each([
    ['header.meta', { header: { meta: { a: 1 } } }],
    ['header.message_ts', { header: { message_ts: '2026-01-01T00:00:00.000Z' } }],
    ['header.total_count', { header: { total_count: 0 } }],
    ['header.receiver_id', { header: { receiver_id: 'civil.example' } }],
    ['header.action', { header: { action: 'subscribe' } }],
    ['a member more in the header', { header: { extra: null } }],
    ['message.transaction_id', { message: { transaction_id: 'tx-2' } }],
    ['the query', { criteria: { query: { type: 'UIN', value: 'secret-word' } } }],
    ['an item', { item: { reference_id: 'r-2' } }],
    ['a member more in the message', { message: { extra: [] } }],
  ])('%s', async (_name, changes) => {
    const sent = searchBy(ada)
    const { header, message } = searchBy(ada, changes)
    const { message_id, message_ts } = sent.header
    const altered = { header: { ...header, message_id, ...('header' in changes ? {} : { message_ts }) }, message }
    const items = (altered.message as { search_request: { timestamp: string }[] }).search_request
    expect(items).toHaveLength(1)
    await expectRefused(ada, bodyText(altered, signature(sent, ada.signer)), MISMATCH)
  })

  it('the header of one message before the body of another', async () => {
    const [one, other] = [searchBy(ada), searchBy(ada, { message: { transaction_id: 'tx-2' } })]
    const value = signature(one, ada.signer)
    await expectRefused(ada, bodyText({ header: one.header, message: other.message }, value), MISMATCH)
  })

  it('a member of the envelope that nobody signed is not acted on', async () => {
    const sent = searchBy(ada)
    const headers = { ...sent.header, version: '9.0.0' }
    const body = signedBody(ada, sent).replace('{', `{"headers": ${JSON.stringify(headers)}, `)
    await expectSealed(server, await sendAs(server, ada, body))
  })

  it('a header under a tolerated name is not what is signed', async () => {
    const body = signedBody(ada, searchBy(ada)).replace('"header":', '"headers":')
    await expectRefused(ada, body, 'the envelope has no header')
  })
})

describe('parameters that were changed after signing', () => {
  const good = () => {
    const sent = searchBy(ada)
    return { sent, value: signature(sent, ada.signer) }
  }

  it.each([
    ['created', (value: number) => value - 1, MISMATCH],
    ['expires', (value: number) => value + 1, MISMATCH],
  ])('%s by a second', async (name, change, text) => {
    const { sent, value } = good()
    const known = Number(parametersOf(value)[name])
    const altered = value.replace(`${name}="${known}"`, `${name}="${change(known)}"`)
    await expectRefused(ada, bodyText(sent, altered), text)
  })

  it.each([
    ['namespace', 'elsewhere', 'namespace must be one that the receiver accepts'],
    ['kidId', 'ada.example|sig-1|ES256', 'kidId and algorithm must name the same algorithm'],
    [
      'kidId',
      'ada.example|sig-9|ed25519',
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one",
    ],
    ['kidId', 'ada.example|sig-1', 'kidId must be written sender_id|kid|algorithm'],
    ['kidId', 'ada.example||ed25519', 'kidId must be written sender_id|kid|algorithm'],
    ['kidId', '|sig-1|ed25519', 'kidId must be written sender_id|kid|algorithm'],
    ['kidId', 'ada.example|sig-1|ed25519|', 'kidId must be written sender_id|kid|algorithm'],
    ['algorithm', 'ES256', 'kidId and algorithm must name the same algorithm'],
    ['headers', '(created) digest', 'headers must be "(created) (expires) digest"'],
    ['headers', '(created) (expires)', 'headers must be "(created) (expires) digest"'],
    ['headers', '(expires) (created) digest', 'headers must be "(created) (expires) digest"'],
    ['created', '01', 'created must be a Unix time in whole seconds'],
    ['created', '1.5', 'created must be a Unix time in whole seconds'],
    ['created', '-1', 'created must be a Unix time in whole seconds'],
    ['expires', '1e10', 'expires must be a Unix time in whole seconds'],
    ['expires', '999999999999', 'expires must be a Unix time in whole seconds'],
    ['signature', '', 'signature must be canonical base64'],
    ['signature', 'AAAA====', 'signature must be canonical base64'],
    ['signature', 'AAA', 'signature must be canonical base64'],
    ['signature', 'AAB=', 'signature must be canonical base64'],
    ['signature', 'AA-_', 'signature must be canonical base64'],
    ['signature', 'AA A', 'signature must be canonical base64'],
    ['signature', 'AAAA', MISMATCH],
  ])('%s="%s"', async (name, text, message) => {
    const { sent, value } = good()
    const altered = value.replace(new RegExp(`\\b${name}="[^"]*"`), `${name}="${text}"`)
    await expectRefused(ada, bodyText(sent, altered), message)
  })

  it.each(['namespace', 'kidId', 'algorithm', 'created', 'expires', 'headers', 'signature'])(
    '%s twice, with the same value, and left out',
    async (name) => {
      const { sent, value } = good()
      const [own = ''] = new RegExp(`\\b${name}="[^"]*"`).exec(value) ?? []
      await expectRefused(ada, bodyText(sent, `${value}, ${own}`), `${name} occurs twice in the signature`)
      const without = value
        .replace(own, '')
        .replace(/^, |, $/, '')
        .replace(', , ', ', ')
      await expectRefused(ada, bodyText(sent, without), `the signature has no ${name}`)
    },
  )

  it.each([
    ['an unknown parameter', (value: string) => `${value}, x="1"`, 'the signature has an unknown parameter'],
    ['another case', (value: string) => value.replace('kidId', 'kidid'), 'the signature has an unknown parameter'],
    ['a quote too many', (value: string) => `${value}"`, 'the signature must be a list of name="value" with commas between them'],
    [
      'no commas',
      (value: string) => value.replaceAll(', ', ' '),
      'the signature must be a list of name="value" with commas between them',
    ],
    [
      'an escaped quote',
      (value: string) => value.replace('"registry"', '"reg\\"istry"'),
      'the signature must be a list of name="value" with commas between them',
    ],
    ['a line after it', (value: string) => `${value}\n`, 'the signature must be a list of name="value" with commas between them'],
    [
      'a space before it',
      (value: string) => ` ${value}`,
      'the signature must be a list of name="value" with commas between them',
    ],
  ])('%s', async (_name, change, message) => {
    const { sent, value } = good()
    await expectRefused(ada, bodyText(sent, change(value)), message)
  })
})

describe("freshness of the specification's layout", () => {
  it.each([
    ['expired a while ago', -700, -62, 'the signature has expired'],
    ['from the future', 63, 200, 'created is in the future'],
    ['over an hour', 0, 3_601, 'created and expires must be at most one hour apart'],
    ['over an hour, most of it past', -3_590, 20, 'created and expires must be at most one hour apart'],
    ['expires when it was created', 0, 0, 'expires must be later than created'],
    ['expires before it was created', 10, 5, 'expires must be later than created'],
  ])('%s', async (_name, created, expires, message) => {
    const parameters = { created: now() + created, expires: now() + expires }
    await expectRefused(ada, signedBody(ada, searchBy(ada), { parameters }), message)
  })

  it.each([
    ['a minute ahead', 57, 300],
    ['expired within the last minute', -300, -57],
    ['an hour long', 0, 3_600],
  ])('taken: %s', async (_name, created, expires) => {
    const parameters = { created: now() + created, expires: now() + expires }
    await expectSealed(server, await sendAs(server, ada, signedBody(ada, searchBy(ada), { parameters })))
  })

  it('the time of the message does not matter where the signature has its own', async () => {
    const old = searchBy(ada, { header: { message_ts: '2020-01-01T00:00:00Z' } })
    await expectSealed(server, await sendAs(server, ada, signedBody(ada, old)))
  })
})
