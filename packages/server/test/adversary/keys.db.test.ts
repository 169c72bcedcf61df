/** Signatures with keys that do not count, and names of algorithms that do not fit them. */
import { createHmac, createPublicKey } from 'node:crypto'
import { revokeParticipantKey } from '@rollcall/participants/store/participant-keys'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { type Algorithm, bodyText, type Profile, type Signer, SPEC, signature } from '../../../delivery/test/stranger/signing.ts'
import { expectFault } from '../expectations.ts'
import {
  expectSealed,
  newSigner,
  type Peer,
  publishedKeys,
  registered,
  registerKey,
  searchBy,
  sendAs,
  signedBody,
} from '../sealing.ts'
import { adversary } from './world.ts'

const ALL: Profile = { ...SPEC, algorithms: ['EdDSA', 'ES256', 'RS256'] }
const NO_KEY =
  "no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one"
const HOUR = 3_600_000

const { server, peer: newPeer, holders, refused } = await adversary()
const ada = await newPeer('ada.example', { profile: ALL })
const eve = await newPeer('eve.example')
const sender = 'ada.example'
const ago = (ms: number): Date => new Date(Date.now() - ms)
/** Keys of Ada by what is wrong with them; registered before she sends anything. */
const keys: Record<string, Signer> = {
  ES256: await newSigner(server, sender, 'es-1', 'ES256'),
  RS256: await newSigner(server, sender, 'rs-1', 'RS256'),
  revoked: await newSigner(server, sender, 'revoked'),
  expired: await newSigner(server, sender, 'expired', 'EdDSA', { valid_from: ago(2 * HOUR), valid_until: ago(HOUR) }),
  early: await newSigner(server, sender, 'early', 'EdDSA', { valid_from: ago(-HOUR) }),
}
await revokeParticipantKey(server.database.db, await registered(server, sender), 'revoked')
for (const [type, algorithm] of [
  ['P-256', 'ES256'],
  ['RSA', 'RS256'],
] as const) {
  const pair = keyPair(type)
  await registerKey(server, sender, pair, { use: 'enc', kid: `enc ${type}` })
  keys[`enc ${type}`] = { kid: `enc ${type}`, algorithm, privateJwk: pair.privateJwk }
}
holders.push(...Object.values(keys))

const by = (signer: Signer | undefined): Peer => ({ ...ada, signer: signer ?? ada.signer })

async function expectRefused(body: string, message: string, peer: Peer = ada): Promise<void> {
  const answer = await sendAs(server, peer, body)
  refused.push(answer)
  expectFault(answer, 401, 'err.signature.invalid', `signature: ${message}`)
}

describe('whose key it is', () => {
  it.each(['EdDSA', 'ES256', 'RS256'])('a live key of the sender verifies: %s', async (algorithm) => {
    const body = signedBody(by(keys[algorithm]), searchBy(ada))
    await expectSealed(server, await sendAs(server, ada, body), 'civil.example', ALL)
  })

  it.each(['revoked', 'expired', 'early', 'enc P-256', 'enc RSA'])('a key that is %s', async (name) => {
    await expectRefused(signedBody(by(keys[name]), searchBy(ada)), NO_KEY)
  })

  it('the key of another participant under its own name', async () => {
    const other = { ...eve.signer, kid: 'eve-key' }
    await expectRefused(signedBody(by(other), searchBy(ada)), NO_KEY)
  })

  it('the key of another participant under the name of mine', async () => {
    const text = 'the signature does not belong to this header and message'
    await expectRefused(signedBody(by({ ...eve.signer, kid: ada.signer.kid }), searchBy(ada)), text)
  })

  it('the key of another participant, named as that participant', async () => {
    const parameters = { kidId: 'eve.example|sig-1|ed25519' }
    const body = signedBody(by(eve.signer), searchBy(ada), { parameters })
    await expectRefused(body, 'kidId must name the sender_id of the header')
  })

  it.each(['EVE.EXAMPLE', 'eve.example ', 'ada.example.', 'аda.example'])(
    'a sender in kidId that looks like the right one: %s',
    async (sender) => {
      const body = signedBody(ada, searchBy(ada), { parameters: { kidId: `${sender}|sig-1|ed25519` } })
      await expectRefused(body, 'kidId must name the sender_id of the header')
    },
  )

  it('a message that another participant signed, sent with the token of this one', async () => {
    const answer = await sendAs(server, ada, signedBody(eve, searchBy(eve)))
    refused.push(answer)
    const text = 'header.sender_id: must be the participant that the access token was issued to'
    expectFault(answer, 403, 'err.sender_id.invalid', text)
  })

  it('a published key of ours is no key of a participant', async () => {
    const [own] = await publishedKeys(server)
    const parameters = { kidId: `ada.example|${own?.kid}|ed25519` }
    await expectRefused(signedBody(ada, searchBy(ada), { parameters }), NO_KEY)
  })

  it('a key that is revoked is refused within a second', async () => {
    const soon = await newSigner(server, 'eve.example', 'soon-revoked')
    const peer = { ...eve, signer: soon }
    server.clock.pass(1_000)
    expect((await sendAs(server, peer, signedBody(peer, searchBy(peer)))).status).toBe(200)
    await revokeParticipantKey(server.database.db, await registered(server, 'eve.example'), soon.kid)
    server.clock.pass(1_000)
    await expectRefused(signedBody(peer, searchBy(peer)), NO_KEY, peer)
  })
})

describe('the algorithm is that of kidId, of the profile and of the key', () => {
  const SPELT: Readonly<Record<Algorithm, string>> = { EdDSA: 'ed25519', ES256: 'ES256', RS256: 'RS256' }
  const PAIRS = (['EdDSA', 'ES256', 'RS256'] as const).flatMap((real) =>
    (['EdDSA', 'ES256', 'RS256'] as const).filter((said) => said !== real).map((said) => [real, said] as const),
  )

  it.each(PAIRS)('an %s key under the name %s', async (real, said) => {
    const signer = real === 'EdDSA' ? ada.signer : keys[real]
    const parameters = { kidId: `ada.example|${signer?.kid}|${SPELT[said]}`, algorithm: SPELT[said] }
    await expectRefused(signedBody(by(signer), searchBy(ada), { parameters }), NO_KEY)
  })

  it.each(['none', 'None', '', 'HS256', 'hs2019', 'ED25519', 'RS512', 'PS256', 'ed25519 '])(
    'algorithm "%s"',
    async (algorithm) => {
      const parameters = { kidId: `ada.example|sig-1|${algorithm}`, algorithm }
      const text =
        algorithm === ''
          ? 'kidId must be written sender_id|kid|algorithm'
          : 'algorithm must be one that is registered for the sender'
      await expectRefused(signedBody(ada, searchBy(ada), { parameters }), text)
    },
  )

  it('an algorithm that is spoken here and not in the profile of the sender', async () => {
    const pair = keyPair('P-256')
    await registerKey(server, 'eve.example', pair, { use: 'sig', kid: 'es-eve' })
    const signer = { kid: 'es-eve', algorithm: 'ES256', privateJwk: pair.privateJwk } as const
    const text = 'algorithm must be one that is registered for the sender'
    await expectRefused(signedBody({ ...eve, signer }, searchBy(eve)), text, eve)
  })

  it('a MAC with the public key as its secret', async () => {
    const { privateJwk } = keys.RS256 ?? ada.signer
    const pem = createPublicKey({ key: privateJwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
    const signBytes = (content: Buffer): Buffer => createHmac('sha256', pem).update(content).digest()
    for (const algorithm of ['HS256', 'RS256']) {
      const parameters = { kidId: `ada.example|rs-1|${algorithm}`, algorithm }
      const sent = searchBy(ada)
      const body = bodyText(sent, signature(sent, by(keys.RS256).signer, ALL, { parameters, signBytes }))
      const text =
        algorithm === 'HS256'
          ? 'algorithm must be one that is registered for the sender'
          : 'the signature does not belong to this header and message'
      await expectRefused(body, text)
    }
  })
})
