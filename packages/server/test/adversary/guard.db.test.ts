/** No message makes the server open a connection, and nothing but an operator's word lets it reach a private address. */

import { setMessagePolicy } from '@rollcall/participants/store/participants'
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import type { Profile } from '../../../delivery/test/stranger/signing.ts'
import { keySetServer } from '../../../participants/test/key-set-server.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, type Peer, publishedKey, sealingPeer, searchBy, sendAs, signedBody } from '../sealing.ts'
import { encrypt } from '../stranger/encryption.ts'
import { adversary } from './world.ts'

const NO_KEY =
  "signature: no live key of the sender has the signature's key id and algorithm: register the key, or sign with a registered one"
const JWS: Profile = { layout: 'jws', canonical_form: 'rfc8785', digest_prefix: '', algorithms: ['EdDSA'] }

const { server, peer: newPeer, refused } = await adversary()
const bait = await keySetServer()
server.closing(bait)
const address = bait.owner(1).jwks_uri ?? ''
const ada = await newPeer('ada.example', { decrypts: 'RSA' })

async function expectRefused(by: Peer, body: string, message: string): Promise<void> {
  const answer = await sendAs(server, by, body)
  refused.push(answer)
  expectFault(answer, 401, 'err.signature.invalid', message)
}

describe('addresses that a message names', () => {
  it('sender_uri, meta, @context and ref_uri', async () => {
    const connected = await bait.connected()
    const named = { '@context': address, ref_uri: address, jwks_uri: address, jku: address }
    const header = { sender_uri: address, meta: named, ...named }
    const sent = searchBy(ada, { header, message: named, item: named })
    await expectSealed(server, await sendAs(server, ada, signedBody(ada, sent)))
    expect(await bait.connected()).toBe(connected)
  })

  it.each(['jku', 'x5u', 'jwk'])('%s in the header of a JWS', async (member) => {
    const peer = await sealingPeer(server, `${member}.example`, { profile: JWS })
    const text = 'signature: the JWS header may have alg, kid, typ and cty and nothing else'
    await expectRefused(peer, signedBody(peer, searchBy(peer), { jws: { [member]: address } }), text)
    expect(await bait.connected()).toBe(0)
  })

  it('a key name that is an address', async () => {
    const parameters = { kidId: `ada.example|${address}|ed25519` }
    await expectRefused(ada, signedBody(ada, searchBy(ada), { parameters }), NO_KEY)
    expect(await bait.connected()).toBe(0)
  })

  it('jku and x5u in the header of an encrypted message', async () => {
    const key = await publishedKey(server, 'RSA-OAEP-256')
    for (const member of ['jku', 'x5u', 'kid']) {
      const { header } = searchBy(ada, { header: { is_msg_encrypted: true } })
      const message = encrypt({ transaction_id: 'tx-1' }, key, { header: { [member]: address } })
      const answer = await sendAs(server, ada, signedBody(ada, { header, message }))
      refused.push(answer)
      expectFault(answer, 400, 'err.encryption.invalid', 'message: cannot be decrypted')
    }
    expect(await bait.connected()).toBe(0)
  })
})

describe('a registered jwks_uri', () => {
  it.each([
    ['loopback', () => address],
    ['loopback by name', () => address.replace('127.0.0.1', 'localhost')],
    ['loopback in one number', () => address.replace('127.0.0.1', '2130706433')],
    ['loopback mapped', () => address.replace('127.0.0.1', '[::ffff:127.0.0.1]')],
    ['every address', () => address.replace('127.0.0.1', '0.0.0.0')],
    ['the metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data'],
    ['with credentials', () => address.replace('http://', 'https://user:secret-word@')],
  ])('%s, which nobody allowed: no connection, no key', async (name, uri) => {
    const sender_id = `${name.replaceAll(' ', '-')}.example`
    const peer = await sealingPeer(server, sender_id, { settings: { jwks_uri: uri() } })
    const pair = keyPair('Ed25519')
    bait.publish({ keys: [{ ...pair.jwk, kid: 'published', use: 'sig' }] })
    const signer = { kid: 'published', algorithm: 'EdDSA', privateJwk: pair.privateJwk } as const
    await expectRefused(peer, signedBody({ ...peer, signer }, searchBy(peer)), NO_KEY)
    expect(await bait.connected()).toBe(0)
    // Its registered key counts as ever.
    await expectSealed(server, await sendAs(server, peer, signedBody(peer, searchBy(peer))))
  })

  it('that the operator allowed is fetched once, whatever is asked for', async () => {
    const { jwks_uri, outgoing } = bait.owner(1)
    const peer = await sealingPeer(server, 'allowed.example', { settings: { outgoing } })
    await setMessagePolicy(server.database.db, peer.sender_id, { jwks_uri: `${jwks_uri}?allowed` })
    const pair = keyPair('Ed25519')
    bait.publish({ keys: [{ ...pair.jwk, kid: 'published', use: 'sig' }] })
    const signer = { kid: 'published', algorithm: 'EdDSA', privateJwk: pair.privateJwk } as const
    await expectSealed(server, await sendAs(server, peer, signedBody({ ...peer, signer }, searchBy(peer))))
    for (const kid of ['a', 'b', 'c', 'd']) {
      await expectRefused(peer, signedBody({ ...peer, signer: { ...signer, kid } }, searchBy(peer)), NO_KEY)
    }
    expect(bait.asked).toBe(1)
  })

  it('may not publish the key of another participant', async () => {
    const { jwks_uri, outgoing } = bait.owner(1)
    const { d: _private, ...jwk } = ada.signer.privateJwk
    bait.publish({ keys: [{ ...jwk, kid: 'sig-1', use: 'sig' }] })
    const settings = { outgoing, jwks_uri: `${jwks_uri}?thief` }
    const thief = await sealingPeer(server, 'thief.example', { settings })
    const signer = { ...ada.signer, kid: 'stolen' }
    bait.publish({ keys: [{ ...jwk, kid: 'stolen', use: 'sig' }] })
    await expectRefused(thief, signedBody({ ...thief, signer }, searchBy(thief)), NO_KEY)
  })
})
