/** Every profile that a participant can have, used as it should be and misused. */
import { createHmac, createPublicKey } from 'node:crypto'
import { makeEvidence } from '@rollcall/admin/audit/evidence'
import { verifyEvidence } from '@rollcall/admin/audit/evidence-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { bodyText, type Changes, isSigned, type Profile, SPEC, signature } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, newSigner, type Peer, publishedKeys, searchBy, sendAs, signedBody } from '../sealing.ts'
import { adversary } from './world.ts'

const FORMS = ['rfc8785', 'sorted-escaped', 'sorted-unescaped', 'as-received'] as const
const PREFIXES = ['', 'SHA-256=', 'BLAKE-512='] as const
const EVERY = ['EdDSA', 'ES256', 'RS256'] as const

/** All combinations of a layout, a form and a prefix that can be registered. */
const PROFILES: readonly Profile[] = FORMS.flatMap((canonical_form) => [
  ...PREFIXES.map((digest_prefix) => ({ layout: 'parameters' as const, canonical_form, digest_prefix, algorithms: EVERY })),
  ...(['jws', 'jws-detached'] as const).map((layout) => ({
    layout,
    canonical_form,
    digest_prefix: '' as const,
    algorithms: EVERY,
  })),
  { layout: 'raw-rsa', canonical_form, digest_prefix: '', algorithms: ['RS256'] },
])

const nameOf = ({ layout, canonical_form, digest_prefix }: Profile): string =>
  [layout, canonical_form, digest_prefix.replace('=', '')].filter(Boolean).join(' ').toLowerCase()

const { server, peer: newPeer, refused } = await adversary({ limits: { checkpoint_interval: 0 } })
const join = (sender_id: string, profile: Profile, settings = {}): Promise<Peer> => newPeer(sender_id, { profile, settings })

/** Letters, names and numbers in which the forms differ. */
const ODD = { é: 1e-7, '\u{1f600}': [3, -0.5, 1e21], '\ufb00': 'Ünïcødé \u007f \u2028', '': null }

describe('each profile verifies what its participant signs, and we answer in it', () => {
  it.each(PROFILES.map((profile) => [nameOf(profile), profile] as const))('%s', async (name, profile) => {
    const peer = await join(`${name.replaceAll(' ', '-')}.example`, profile)
    const signers = [peer.signer]
    if (profile.algorithms.includes('ES256')) signers.push(await newSigner(server, peer.sender_id, 'es-1', 'ES256'))
    // RSA keys take long to make.
    if (name === 'parameters rfc8785' || name.endsWith('jws rfc8785')) {
      signers.push(await newSigner(server, peer.sender_id, 'rs-1', 'RS256'))
    }
    for (const signer of signers) {
      const sent = searchBy(peer, { header: { meta: ODD } })
      const answer = await sendAs(server, peer, signedBody({ ...peer, signer }, sent))
      await expectSealed(server, answer, 'civil.example', profile)
      expect(answer.body.message.search_response[0].data.reg_records).toHaveLength(1)
    }
  })
})

describe('a participant whose software knows one algorithm alone', () => {
  it.each([
    ['parameters', 'ES256'],
    ['parameters', 'RS256'],
    ['jws', 'ES256'],
    ['jws-detached', 'RS256'],
  ] as const)('%s %s is answered in its own layout and algorithm', async (layout, algorithm) => {
    const canonical_form = 'sorted-escaped'
    const profile: Profile = { layout, canonical_form, digest_prefix: '', algorithms: [algorithm] }
    const sender_id = `${layout}-${algorithm.toLowerCase()}.example`
    const peer = await join(sender_id, profile)
    const only = { ...peer, signer: await newSigner(server, sender_id, 'only', algorithm) }
    const answer = await sendAs(server, only, signedBody(only, searchBy(peer)))
    await expectSealed(server, answer, 'civil.example', profile)
  })
})

async function expectRefused(by: Peer, body: string, message: string): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  expectFault(answer, 401, 'err.signature.invalid', `signature: ${message}`)
}

const MISMATCH = 'the signature does not belong to this header and message'

/** The text, and what its parts say that are Base64 URL. */
const withDecoded = (text: string): string =>
  [text, ...(text.match(/[\w-]{16,}/g) ?? []).map((part) => Buffer.from(part, 'base64url').toString())].join('\n')

describe('no profile is guessed', () => {
  it('a layout, form or prefix other than the registered one is refused', async () => {
    const peer = await join('fixed.example', SPEC)
    const others: readonly (readonly [Partial<Profile>, string])[] = [
      [{ canonical_form: 'sorted-escaped' }, MISMATCH],
      [{ canonical_form: 'as-received' }, MISMATCH],
      [{ digest_prefix: 'SHA-256=' }, MISMATCH],
      [{ digest_prefix: 'BLAKE-512=' }, MISMATCH],
      [{ layout: 'jws' }, 'the signature must be a list of name="value" with commas between them'],
      [{ layout: 'raw-rsa' }, 'the signature must be a list of name="value" with commas between them'],
    ]
    for (const [change, text] of others) {
      const profile = { ...SPEC, ...change }
      await expectRefused(peer, signedBody({ ...peer, profile }, searchBy(peer, { header: { meta: ODD } })), text)
    }
  })

  it('as received: a body that was written anew is refused', async () => {
    const peer = await join('verbatim.example', { ...SPEC, canonical_form: 'as-received' })
    const body = signedBody(peer, searchBy(peer))
    await expectRefused(peer, JSON.stringify(JSON.parse(body)), MISMATCH)
    await expectSealed(server, await sendAs(server, peer, body), 'civil.example', peer.profile)
  })
})

describe.each(['jws', 'jws-detached'] as const)('%s', (layout) => {
  const profile: Profile = { layout, canonical_form: 'rfc8785', digest_prefix: '', algorithms: EVERY }
  let peer: Peer
  let rsa: Peer

  beforeAll(async () => {
    peer = await join(`${layout}.example`, profile)
    rsa = { ...peer, signer: await newSigner(server, peer.sender_id, 'rs-1', 'RS256') }
  })

  const sealed = (changes: Changes, by = peer): string => signedBody(by, searchBy(peer), changes)

  it.each([
    ['jwk', { kty: 'OKP' }],
    ['jku', 'https://keys.example/jwks.json'],
    ['x5u', 'https://keys.example/cert'],
    ['x5c', ['AAAA']],
    ['crit', ['exp']],
    ['b64', false],
    ['exp', 1],
  ])('%s in the header', async (member, value) => {
    await expectRefused(
      peer,
      sealed({ jws: { [member]: value } }),
      'the JWS header may have alg, kid, typ and cty and nothing else',
    )
  })

  it.each(['none', 'None', 'NONE', 'HS256', 'HS512', 'PS256', 'ES384', 'eddsa'])('alg %s', async (alg) => {
    await expectRefused(peer, sealed({ jws: { alg } }), 'alg must be an algorithm that is registered for the sender')
  })

  it('alg none without a signature', async () => {
    const body = sealed({ jws: { alg: 'none' }, signBytes: () => Buffer.alloc(0) })
    await expectRefused(peer, body, 'alg must be an algorithm that is registered for the sender')
    const empty = sealed({ signBytes: () => Buffer.alloc(0) })
    await expectRefused(peer, empty, 'the signature must be canonical base64url')
  })

  it('a MAC with the public key as its secret', async () => {
    const key = createPublicKey({ key: rsa.signer.privateJwk, format: 'jwk' })
    const pem = key.export({ format: 'pem', type: 'spki' })
    const signBytes = (content: Buffer): Buffer => createHmac('sha256', pem).update(content).digest()
    await expectRefused(
      peer,
      sealed({ jws: { alg: 'HS256' }, signBytes }, rsa),
      'alg must be an algorithm that is registered for the sender',
    )
    await expectRefused(peer, sealed({ jws: { alg: 'RS256' }, signBytes }, rsa), MISMATCH)
  })

  it('an alg that is not that of the key', async () => {
    const text =
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one"
    await expectRefused(peer, sealed({ jws: { alg: 'ES256' } }), text)
    await expectRefused(peer, sealed({ jws: { alg: 'EdDSA' } }, rsa), text)
  })

  it.each([
    ['no text', { kid: 1 }, 'the members of the JWS header must be texts'],
    [
      'unknown',
      { kid: 'sig-9' },
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one",
    ],
    [
      'the kidId of another',
      { kid: 'ada.example|sig-1|ed25519' },
      "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one",
    ],
  ])('a kid that is %s', async (_name, jws, text) => {
    await expectRefused(peer, sealed({ jws }), text)
  })

  it('without a kid the live keys of the sender are tried, and no others', async () => {
    const sent = sealed({ jws: { kid: undefined } })
    await expectSealed(server, await sendAs(server, peer, sent), 'civil.example', profile)
    const stranger = await join(`${layout}-stranger.example`, profile)
    await expectRefused(peer, sealed({ jws: { kid: undefined } }, stranger), MISMATCH)
  })

  it.each([
    ['two parts', (text: string) => text.split('.').slice(1).join('.'), 'the signature must be a JWS in compact form'],
    ['four parts', (text: string) => `${text}.AAAA`, 'the signature must be a JWS in compact form'],
    ['only points', () => '.'.repeat(50_000), 'the signature must be a JWS in compact form'],
    ['padding', (text: string) => `${text}==`, 'the signature must be canonical base64url'],
    ['another alphabet', (text: string) => `${text.slice(0, -4)}++//`, 'the signature must be canonical base64url'],
    [
      'a header that is no JSON',
      (text: string) => text.replace(/^[^.]*/, 'AAAA'),
      'the JWS header must be a JSON object in canonical base64url',
    ],
    ['the layout of the specification', () => 'namespace="registry"', 'the signature must be a JWS in compact form'],
  ])('%s', async (_name, change, text) => {
    const sent = searchBy(peer)
    await expectRefused(peer, bodyText(sent, change(signature(sent, peer.signer, profile))), text)
  })

  it('a payload that is not where the layout has it, or is that of another message', async () => {
    const [sent, other] = [searchBy(peer), searchBy(peer, { message: { transaction_id: 'tx-2' } })]
    const [start, payload, end] = signature(sent, peer.signer, { ...profile, layout: 'jws' }).split('.')
    const [otherStart, otherPayload, otherEnd] = signature(other, peer.signer, { ...profile, layout: 'jws' }).split('.')
    const texts =
      layout === 'jws'
        ? {
            other: 'the payload is not the header and message of the envelope',
            none: 'the payload is not the header and message of the envelope',
          }
        : { other: 'the payload must be left out', none: MISMATCH }
    await expectRefused(peer, bodyText(sent, `${otherStart}.${otherPayload}.${otherEnd}`), texts.other)
    const moved = layout === 'jws' ? `${start}.${otherPayload}.${end}` : `${start}.${payload}.${end}`
    await expectRefused(peer, bodyText(sent, moved), texts.other)
    const wanted = layout === 'jws' ? `${start}.${Buffer.from('{}').toString('base64url')}.${end}` : `${otherStart}..${otherEnd}`
    await expectRefused(peer, bodyText(sent, wanted), texts.none)
  })

  it('a header that is too long', async () => {
    const text = 'the signature must have at most 8192 characters, without the payload of a JWS'
    await expectRefused(peer, sealed({ jws: { typ: 'x'.repeat(9_000) } }), text)
  })

  it('the audit log has the signatures without header and message, and evidence proves them', async () => {
    const body = sealed({})
    const answer = await sendAs(server, peer, body)
    await expectSealed(server, answer, 'civil.example', profile)
    const { message_id } = answer.body.header
    const deps = acting({ db: server.database.db, vault: server.context.vault })
    // It is refused until a checkpoint signs the entry.
    const evidence = await vi.waitFor(() => makeEvidence(deps, { message_id }), { timeout: 60_000, interval: 10 })
    const { accounts } = await verifyEvidence({}, { evidence: JSON.parse(JSON.stringify(evidence)) })
    expect(accounts).toHaveLength(1)

    const [sent, written] = [JSON.parse(body).signature, answer.body.signature].map((value) => String(value).split('.'))
    expect(accounts[0]?.request?.signature).toBe(`${sent?.[0]}..${sent?.[2]}`)
    expect(accounts[0]?.reply?.signature).toBe(`${written?.[0]}..${written?.[2]}`)
    const reply = JSON.stringify({ ...answer.body, signature: accounts[0]?.reply?.signature })
    expect(isSigned(reply, 'civil.example', await publishedKeys(server), { ...profile, layout: 'jws-detached' })).toBe(true)

    const personal = /Okoro|B-5521|"0012"/
    expect(personal.test(withDecoded(answer.body.signature))).toBe(layout === 'jws')
    const entries = evidence.accounts.flatMap((account) => account.entries.map(({ entry }) => entry))
    expect(withDecoded(entries.join('\n'))).not.toMatch(personal)
  })

  describe('a signature without times is held to message_ts', () => {
    const at = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString()
    const dated = (message_ts: string, by = peer): string => signedBody(by, searchBy(by, { header: { message_ts } }))

    it.each([
      ['over a day old', -86_405, 'message_ts is too old for a signature without expiry'],
      ['over five minutes ahead', 310, 'message_ts is in the future'],
    ])('%s', async (_name, seconds, text) => expectRefused(peer, dated(at(seconds)), text))

    it.each([-86_380, 290])('taken: %d seconds from now', async (seconds) => {
      await expectSealed(server, await sendAs(server, peer, dated(at(seconds))), 'civil.example', profile)
    })

    it('only where signatures are required', async () => {
      const settings = { signature_policy: 'if-present', allow_unsigned: true }
      const lax = await join(`${layout}-lax.example`, profile, settings)
      await expectSealed(server, await sendAs(server, lax, dated(at(-900_000), lax)), 'civil.example', profile)
    })
  })
})
