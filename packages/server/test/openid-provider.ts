/** A provider of OpenID Connect on loopback: it signs in whoever comes, with the claims that a test gives. */
import { createHash, type KeyObject, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, jwtVerify, SignJWT, UnsecuredJWT } from 'jose'

export const CLIENT = { id: 'rollcall-console', secret: 'a-secret-of-the-client' }

/** The faults of an ID token. */
export interface Bent {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly signed?: 'by another key' | 'not at all'
}

export interface TestProvider {
  readonly issuer: string
  /** Signs somebody in, as a browser that was sent to this address. @returns the query with which it goes back */
  authorize(address: string, bent?: Bent): string
  /** How it fails: with HTTP 503, or by closing the connection. */
  outage: 'status' | 'connection' | null
  close(): Promise<void>
}

/**
 * Starts a provider.
 * @param clientKey the client's public key, with the kid `c-1`; absent: the client has a secret
 * @param metadata members of the discovery document in place of the usual ones
 */
export async function testProvider(clientKey?: KeyObject, metadata: object = {}): Promise<TestProvider> {
  const [signing, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')]
  const jwk = { ...(await exportJWK(signing.publicKey)), kid: 'p-1', alg: 'RS256', use: 'sig' }
  const codes = new Map<string, { readonly asked: URLSearchParams; readonly bent: Bent }>()

  async function idToken({ asked, bent: { claims = {}, signed } }: { asked: URLSearchParams; bent: Bent }) {
    const now = Math.floor(Date.now() / 1_000)
    const all = { iss: issuer, aud: CLIENT.id, sub: 'amina', iat: now, exp: now + 60, nonce: asked.get('nonce'), ...claims }
    if (signed === 'not at all') return new UnsecuredJWT(all).encode()
    const key = signed === 'by another key' ? other : signing
    return new SignJWT(all).setProtectedHeader({ alg: 'RS256', kid: 'p-1' }).sign(key.privateKey)
  }

  async function isClient(form: URLSearchParams): Promise<boolean> {
    if (clientKey === undefined) return form.get('client_secret') === CLIENT.secret
    if (form.has('client_secret')) return false
    if (form.get('client_assertion_type') !== 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer') return false
    const verified = await jwtVerify(form.get('client_assertion') ?? '', clientKey, {
      issuer: CLIENT.id,
      subject: CLIENT.id,
      audience: issuer,
      requiredClaims: ['exp', 'jti'],
      maxTokenAge: 120,
    }).catch(() => null)
    return verified?.protectedHeader.kid === 'c-1'
  }

  async function token(form: URLSearchParams): Promise<object | null> {
    const code = form.get('code') ?? ''
    const known = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const good =
      known !== undefined &&
      form.get('client_id') === CLIENT.id &&
      (await isClient(form)) &&
      form.get('redirect_uri') === known.asked.get('redirect_uri') &&
      challenge === known.asked.get('code_challenge')
    return good ? { access_token: 'x', token_type: 'Bearer', id_token: await idToken(known) } : null
  }

  const server = createServer(async (request, response) => {
    const answers: Readonly<Record<string, () => Promise<object | null> | object>> = {
      '/.well-known/openid-configuration': () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        code_challenge_methods_supported: ['S256'],
        ...metadata,
      }),
      '/jwks': () => ({ keys: [jwk] }),
      '/token': async () => token(new URLSearchParams(await text(request))),
    }
    if (own.outage === 'status') response.writeHead(503).end()
    if (own.outage === 'connection') request.socket.destroy()
    if (own.outage !== null) return
    const answer = await answers[request.url ?? '']?.()
    response.writeHead(answer ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: 'invalid_grant' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const own: TestProvider = {
    issuer,
    outage: null,
    authorize(address, bent = {}) {
      const asked = new URL(address).searchParams
      const code = randomUUID()
      codes.set(code, { asked, bent })
      return `?code=${code}&state=${asked.get('state')}`
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return own
}
