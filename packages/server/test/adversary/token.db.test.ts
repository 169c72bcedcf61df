/** Access tokens that are not what they seem, with messages that are signed as they should be. */
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto'
import { withTransaction } from '@rollcall/database/transaction'
import { findParticipant, setParticipantStatus } from '@rollcall/participants/store/participants'
import { removeParticipantRow } from '@rollcall/participants/store/removed-participants'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { expectFault } from '../expectations.ts'
import { expectSealed, publishedKey, searchBy, searchUrl, sendAs, signedBody } from '../sealing.ts'
import { post, searchRequest } from '../server.ts'
import { adversary } from './world.ts'

const NOT_VALID = 'Authorization: the access token is not valid here or has expired; ask for a new one'

const { server, peer, refused } = await adversary()
const ada = await peer('ada.example')
const eve = await peer('eve.example')

async function expectRefused(token: string, body = signedBody(ada, searchBy(ada))): Promise<void> {
  const answer = await post(searchUrl(server), body, { Authorization: `Bearer ${token}` })
  refused.push(answer)
  expectFault(answer, 401, 'err.request.unauthorized', NOT_VALID)
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const parts = (token: string) => {
  const [header = '', payload = '', value = ''] = token.split('.')
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
  return { header: read(header), payload: read(payload), value }
}

it('a signed message needs a token all the same', async () => {
  const answer = await post(searchUrl(server), signedBody(ada, searchBy(ada)))
  refused.push(answer)
  expectFault(answer, 401, 'err.request.unauthorized', 'Authorization: a bearer token is required')
})

it('the token of another participant does not speak for this one', async () => {
  const answer = await sendAs(server, eve, signedBody(ada, searchBy(ada)))
  refused.push(answer)
  const text = 'header.sender_id: must be the participant that the access token was issued to'
  expectFault(answer, 403, 'err.sender_id.invalid', text)
})

describe('a forged token', () => {
  it('for another participant, or without end, under a signature of ours', async () => {
    const { header, payload, value } = parts(eve.token)
    await expectRefused(`${part(header)}.${part({ ...payload, sub: ada.sender_id })}.${value}`)
    await expectRefused(`${part(header)}.${part({ ...payload, exp: 9_999_999_999 })}.${value}`)
  })

  it('with other unused bits in the last character of a part, before and after the genuine one was seen', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const respelt = (token: string): string => {
      const value = alphabet.indexOf(token.slice(-1))
      // 64 bytes of signature are 86 characters: the last four bits stand for nothing.
      return token.slice(0, -1) + alphabet[value ^ 1]
    }
    const fresh = await server.context.tokens.issue({ ...ada, environment: 'live' })
    for (const token of [fresh.access_token, ada.token]) {
      const [, , signature = ''] = token.split('.')
      expect(Buffer.from(respelt(signature), 'base64url')).toEqual(Buffer.from(signature, 'base64url'))
      await expectRefused(respelt(token))
      await expectRefused(`${token}=`)
    }
  })

  it('with alg none, with and without a signature', async () => {
    const { header, payload, value } = parts(ada.token)
    for (const alg of ['none', 'None']) {
      await expectRefused(`${part({ ...header, alg })}.${part(payload)}.`)
      await expectRefused(`${part({ ...header, alg })}.${part(payload)}.${value}`)
    }
  })

  it('with a MAC whose secret is a published key of ours', async () => {
    const { header, payload } = parts(ada.token)
    const jwk = await publishedKey(server, 'EdDSA')
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
    for (const kid of [header.kid, jwk.kid]) {
      const content = `${part({ ...header, alg: 'HS256', kid })}.${part(payload)}`
      await expectRefused(`${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`)
    }
  })

  it('with the key in its own header, or the address of one', async () => {
    const { header, payload } = parts(ada.token)
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const jwk = publicKey.export({ format: 'jwk' })
    for (const more of [{ jwk }, { jwk, kid: undefined }, { jku: 'https://keys.example/' }, { x5c: ['AAAA'] }]) {
      const content = `${part({ ...header, ...more })}.${part(payload)}`
      await expectRefused(`${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`)
    }
  })

  it('signed with the key that a participant signs its messages with', async () => {
    const { header, payload } = parts(ada.token)
    const content = `${part({ ...header, kid: ada.signer.kid })}.${part(payload)}`
    const key = { key: ada.signer.privateJwk as JsonWebKey, format: 'jwk' as const }
    await expectRefused(`${content}.${sign(null, Buffer.from(content), key).toString('base64url')}`)
  })

  it('a signature of a message of ours is no token', async () => {
    const answer = await sendAs(server, ada, signedBody(ada, searchBy(ada)))
    await expectSealed(server, answer)
    const value = /signature="([^"]+)"/.exec(answer.body.signature)?.[1] ?? ''
    const { header, payload } = parts(ada.token)
    await expectRefused(`${part(header)}.${part(payload)}.${Buffer.from(value, 'base64').toString('base64url')}`)
  })
})

it('a token does not outlive the removal of its participant, also when one of the same sender_id is added', async () => {
  const { db } = server.database
  const before = await server.participant('again.example')
  const search = async (token: string) => {
    const request = searchRequest('again.example', { type: 'UIN', value: '1' })
    return post(searchUrl(server), request, { Authorization: `Bearer ${token}` })
  }
  const expectEnded = async () => {
    server.clock.pass(1_000)
    const answer = await search(before.token)
    refused.push(answer)
    expectFault(answer, 401, 'err.request.unauthorized', NOT_VALID)
  }
  expect((await search(before.token)).status).toBe(200)
  const { id = 0 } = (await findParticipant(db, 'again.example')) ?? {}
  await withTransaction(db.pool, (client) => removeParticipantRow(client, id))
  await expectEnded()
  const after = await server.participant('again.example')
  await expectEnded()
  expect((await search(after.token)).status).toBe(200)
})

it('a token that does not say whose it was is refused', async () => {
  const { kid, privateKey } = await server.context.keys.tokens.signing()
  const { header, payload } = parts(ada.token)
  const signed = ({ client_id, ...others }: Record<string, unknown>, whole: boolean) =>
    new SignJWT(whole ? { client_id, ...others } : others).setProtectedHeader({ ...header, alg: 'EdDSA', kid }).sign(privateKey)
  await expectSealed(server, await sendAs(server, { ...ada, token: await signed(payload, true) }, signedBody(ada, searchBy(ada))))
  await expectRefused(await signed(payload, false))
})

it('a disabled participant is refused within a second, its signature or not', async () => {
  const body = (): string => signedBody(eve, searchBy(eve))
  await expectSealed(server, await sendAs(server, eve, body()))
  await setParticipantStatus(server.database.db, eve.sender_id, 'disabled')
  server.clock.pass(1_000)
  await expectRefused(eve.token, body())
  await setParticipantStatus(server.database.db, eve.sender_id, 'active')
  server.clock.pass(1_000)
  await expectSealed(server, await sendAs(server, eve, body()))
})
