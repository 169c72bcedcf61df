/**
 * A registry adapter like those in the field, over real HTTP: it verifies our JWS and opens our EncryptedMessage, signs with JWS
 * (RS256), publishes its keys at an address of its own, and writes the header of an answer from that of the request.
 */
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Jwk, SignatureProfile } from '@rollcall/protocol'
import { type KeyPair, keyPair } from '../../core/test/key-pairs.ts'
import { signature, type Unsigned } from '../../delivery/test/stranger/signing.ts'
import { decrypt, type Encrypted, encrypt } from '../../server/test/stranger/encryption.ts'

export const JWS: SignatureProfile = {
  layout: 'jws',
  canonical_form: 'rfc8785',
  digest_prefix: '',
  algorithms: ['RS256', 'EdDSA'],
}

/** Our keys at the adapter: how we sign, and the key that it encrypts for. */
export interface Us {
  readonly sign: Jwk
  readonly decrypt: Jwk
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of another system, whose shapes the tests are about
type Body = any

export interface Adapter {
  readonly base_url: string
  /** Where its keys are. */
  readonly keys: string
  readonly signing: KeyPair
  /** Our requests, opened, whose signature it found good. */
  readonly verified: Body[]
  /** Changes the answer, given the opened request. */
  answer: (answer: Unsigned, request: Body) => Unsigned
  /** Signs as the adapter does. */
  signed(envelope: Unsigned): string
  close(): Promise<void>
}

const ENCRYPTION = { kid: 'adapter-enc', alg: 'RSA-OAEP-256', use: 'enc' }

export async function adapter(us: Us): Promise<Adapter> {
  const [signing, encryption] = [keyPair('RSA'), keyPair('RSA')]
  const signer = { kid: 'adapter-1', algorithm: 'RS256', privateJwk: signing.privateJwk } as const
  const verified: Body[] = []
  const jwks = {
    keys: [
      { ...signing.jwk, kid: 'adapter-1', alg: 'RS256', use: 'sig' },
      { ...encryption.jwk, ...ENCRYPTION },
    ],
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    response.setHeader('Content-Type', 'application/json')
    response.end(request.url === '/auth/keys' ? JSON.stringify(jwks) : answered(text))
  })
  const answered = (text: string): string => {
    const body: Body = JSON.parse(text)
    if (!isOurs(body.signature, us.sign)) {
      return JSON.stringify({ message: { ack_status: 'ERR', error: { code: 'err.signature.invalid' } } })
    }
    const isEncrypted = body.header.is_msg_encrypted === true
    const message: Body = isEncrypted ? JSON.parse(decrypt(body.message as Encrypted, encryption.privateJwk)) : body.message
    verified.push({ ...body, message })
    const { is_msg_encrypted: _left_out, ...header } = body.header
    const found = {
      transaction_id: message.transaction_id,
      correlation_id: 'c-1',
      search_response: message.search_request.map(({ reference_id }: Body) => ({
        reference_id,
        timestamp: new Date().toISOString(),
        status: 'succ',
        data: { reg_records: [{ a: 1 }] },
        locale: 'en',
      })),
    }
    const answer = made.answer({ header: { ...header, status: 'succ' }, message: found }, body)
    const { kty, n, e } = us.decrypt
    const key = { kty, n, e, kid: 'ours', alg: 'RSA-OAEP-256' } as Parameters<typeof encrypt>[1]
    return made.signed(isEncrypted ? { ...answer, message: encrypt(answer.message, key) } : answer)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const made: Adapter = {
    base_url: `${url}/adapter/v1.0.0`,
    keys: `${url}/auth/keys`,
    signing,
    verified,
    answer: (answer) => answer,
    signed: (envelope) =>
      JSON.stringify({
        signature: signature(envelope, signer, { ...JWS, algorithms: ['RS256'] }, { jws: { typ: 'JWT' } }),
        ...envelope,
      }),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return made
}

/** The JWS is good; what it holds is compared by whoever asks. */
function isOurs(jws: string, { kty, crv, x, n, e }: Jwk): boolean {
  const [start = '', payload = '', end = ''] = jws.split('.')
  const { alg } = JSON.parse(Buffer.from(start, 'base64url').toString())
  const members = Object.entries({ kty, crv, x, n, e }).filter(([, value]) => value !== undefined)
  const key = createPublicKey({ key: Object.fromEntries(members), format: 'jwk' })
  const digest = alg === 'EdDSA' ? null : 'sha256'
  return verify(digest, Buffer.from(`${start}.${payload}`), key, Buffer.from(end, 'base64url'))
}
