import { generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { readOpenId } from './openid-settings.ts'

const GOOD = {
  ROLLCALL_OIDC_ISSUER: 'https://login.example.org/realms/ministry',
  ROLLCALL_OIDC_CLIENT_ID: 'rollcall',
  ROLLCALL_OIDC_CLIENT_SECRET: 'secret',
  ROLLCALL_OIDC_ROLES: 'desk=operate',
  ROLLCALL_CONSOLE_URL: 'https://console.example.org/',
}

it('without an issuer, operators sign in with tokens alone', () => {
  expect(readOpenId({})).toBe(null)
})

it('has its defaults, and a role for each value of the claim', () => {
  expect(readOpenId({ ...GOOD, ROLLCALL_OIDC_ROLES: 'desk=operate, desk=publish ,a=b=own' })).toEqual({
    issuer: GOOD.ROLLCALL_OIDC_ISSUER,
    client_id: 'rollcall',
    credential: { secret: 'secret' },
    roles: new Map([
      ['desk', ['operate', 'publish']],
      ['a=b', ['own']],
    ]),
    role_claim: 'roles',
    name_claim: 'sub',
    registry_claim: null,
    scope: 'openid',
    title: 'OpenID Connect',
    redirect_uri: 'https://console.example.org/admin/v1/session/openid/callback',
  })
})

const KEY =
  'ROLLCALL_OIDC_CLIENT_KEY must be a private key without a password, in PEM or as a JWK: RSA of 2048 bits or more, EC (P-256, P-384, P-521) or Ed25519'
const pem = (key: { privateKey: { export(options: object): string | Buffer } }, more: object = {}): string =>
  key.privateKey.export({ type: 'pkcs8', format: 'pem', ...more }).toString()
const edwards = generateKeyPairSync('ed25519')

it.each([
  ['Ed25519', pem(edwards), undefined],
  ['ECDSA', pem(generateKeyPairSync('ec', { namedCurve: 'P-256' })), undefined],
  ['RSASSA-PKCS1-v1_5', pem(generateKeyPairSync('rsa', { modulusLength: 2_048 })), undefined],
  ['Ed25519', JSON.stringify({ ...edwards.privateKey.export({ format: 'jwk' }), kid: 'c-1' }), 'c-1'],
])('a private key in place of the secret: %s', (name, ROLLCALL_OIDC_CLIENT_KEY, kid) => {
  const settings = readOpenId({ ...GOOD, ROLLCALL_OIDC_CLIENT_SECRET: '', ROLLCALL_OIDC_CLIENT_KEY })
  expect(settings?.credential).toMatchObject({
    key: { type: 'private', extractable: false, usages: ['sign'], algorithm: { name } },
    ...(kid && { kid }),
  })
})

it.each([
  ['no key', 'secret-word'],
  ['a broken JWK', '{"kty":"OKP","d":"secret-word"}'],
  ['a public key', edwards.publicKey.export({ type: 'spki', format: 'pem' }).toString()],
  ['a key with a password', pem(edwards, { cipher: 'aes-256-cbc', passphrase: 'secret-word' })],
  ['a key that signs nothing', pem(generateKeyPairSync('x25519'))],
  ['a curve of no algorithm', pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))],
  ['a short key', pem(generateKeyPairSync('rsa', { modulusLength: 1_024 }))],
])('%s is refused, and not shown', (_name, ROLLCALL_OIDC_CLIENT_KEY) => {
  const env = { ...GOOD, ROLLCALL_OIDC_CLIENT_SECRET: '', ROLLCALL_OIDC_CLIENT_KEY }
  expect(() => readOpenId(env)).toThrow(new Error(KEY))
})

const ROLES =
  'ROLLCALL_OIDC_ROLES must be pairs such as registry-admins=own,support=read; the roles are read, publish, consent, operate, audit, own'
const ISSUER = 'ROLLCALL_OIDC_ISSUER must be an https address without query and credentials'
const TENANT = 'ROLLCALL_OIDC_ISSUER must name one tenant: at this address people of every tenant can sign in'
const ENTRA = 'https://login.microsoftonline.com'

it('the address of one tenant of Microsoft Entra is an issuer', () => {
  const issuer = `${ENTRA}/6f3a1c52-0b7d-4e0e-9a52-6a1c0d5e7f10/v2.0`
  expect(readOpenId({ ...GOOD, ROLLCALL_OIDC_ISSUER: issuer })).toMatchObject({ issuer })
})

it.each([
  [{ ROLLCALL_OIDC_ISSUER: '' }, 'ROLLCALL_OIDC_CLIENT_ID needs ROLLCALL_OIDC_ISSUER beside it'],
  [{ ROLLCALL_OIDC_CLIENT_ID: '' }, 'ROLLCALL_OIDC_ISSUER needs ROLLCALL_OIDC_CLIENT_ID beside it'],
  [
    { ROLLCALL_OIDC_CLIENT_SECRET: '' },
    'ROLLCALL_OIDC_ISSUER needs ROLLCALL_OIDC_CLIENT_SECRET or ROLLCALL_OIDC_CLIENT_KEY beside it',
  ],
  [{ ROLLCALL_OIDC_CLIENT_KEY: 'x' }, 'ROLLCALL_OIDC_CLIENT_SECRET and ROLLCALL_OIDC_CLIENT_KEY: set one of them'],
  [{ ROLLCALL_CONSOLE_URL: '' }, 'ROLLCALL_OIDC_ISSUER needs ROLLCALL_CONSOLE_URL beside it'],
  [{ ROLLCALL_OIDC_ROLES: 'desk=root' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: 'desk' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: '=own' }, ROLES],
  [{ ROLLCALL_OIDC_ROLES: 'desk=read,' }, ROLES],
  [{ ROLLCALL_OIDC_ISSUER: 'http://login.example.org' }, ISSUER],
  [{ ROLLCALL_OIDC_ISSUER: 'login.example.org' }, ISSUER],
  [{ ROLLCALL_OIDC_ISSUER: 'https://login.example.org?x=1' }, ISSUER],
  [{ ROLLCALL_OIDC_ISSUER: `${ENTRA}/common/v2.0` }, TENANT],
  [{ ROLLCALL_OIDC_ISSUER: `${ENTRA}/Organizations/v2.0/.well-known/openid-configuration` }, TENANT],
  [{ ROLLCALL_OIDC_ISSUER: `${ENTRA}/consumers` }, TENANT],
])('%j is refused', (bad, message) => {
  expect(() => readOpenId({ ...GOOD, ...bad })).toThrow(message)
})
