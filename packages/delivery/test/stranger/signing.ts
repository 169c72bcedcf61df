/** Signs and verifies as somebody else's software does, from docs/signature.md. Nothing of ours is used here. */
import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto'
import { canonical, sortedEscaped, sortedUnescaped } from './canonical.ts'

export type Algorithm = 'EdDSA' | 'ES256' | 'RS256'

export interface Profile {
  readonly layout: 'parameters' | 'jws' | 'jws-detached' | 'raw-rsa'
  readonly canonical_form: 'rfc8785' | 'sorted-escaped' | 'sorted-unescaped' | 'as-received'
  readonly digest_prefix: '' | 'SHA-256=' | 'BLAKE-512='
  readonly algorithms: readonly Algorithm[]
}

export const SPEC: Profile = { layout: 'parameters', canonical_form: 'rfc8785', digest_prefix: '', algorithms: ['EdDSA'] }

export interface Signer {
  readonly kid: string
  readonly algorithm: Algorithm
  readonly privateJwk: JsonWebKey
}

export interface Unsigned {
  readonly header: object
  readonly message: object
}

/** Writes a header or message for a body, with white space: who writes the parsed value anew gets another text. */
export const inBody = (value: object): string => JSON.stringify(value, null, 1)

const FORMS: Readonly<Record<Profile['canonical_form'], (value: object, text: (value: object) => string) => string>> = {
  rfc8785: (value) => canonical(value),
  'sorted-escaped': (value) => sortedEscaped(value),
  'sorted-unescaped': (value) => sortedUnescaped(value),
  'as-received': (value, text) => text(value),
}

const SPELT: Readonly<Record<Algorithm, string>> = { EdDSA: 'ed25519', ES256: 'ES256', RS256: 'RS256' }

/** The Base64 digest of a text after the prefix, which determines the hash function. */
function digestOf(text: string, prefix: Profile['digest_prefix']): string {
  const hash = prefix === 'BLAKE-512=' ? 'blake2b512' : 'sha256'
  return prefix + createHash(hash).update(text).digest('base64')
}

const seconds = (): number => Math.floor(Date.now() / 1_000)

export interface Changes {
  /** Wrong values of the parameter layout, signed as they are. */
  readonly parameters?: Readonly<Record<string, string | number>>
  /** Other members of the header of a JWS. */
  readonly jws?: object
  /** Makes the bytes of the signature instead of the key. */
  readonly signBytes?: (content: Buffer) => Buffer
}

/** The `signature` member for a body that `bodyText` writes. */
export function signature(envelope: Unsigned, signer: Signer, profile = SPEC, changes: Changes = {}): string {
  const form = FORMS[profile.canonical_form]
  const [header, message] = [envelope.header, envelope.message].map((part) => form(part, inBody)) as [string, string]
  const whole = `{"header":${header},"message":${message}}`
  const make = changes.signBytes ?? ((content: Buffer) => rawSignature(content, signer))
  if (profile.layout === 'raw-rsa') return make(Buffer.from(header + message)).toString('base64')
  if (profile.layout === 'parameters') return parameterList(envelope, whole, signer, profile, make, changes)
  const protectedPart = Buffer.from(JSON.stringify({ alg: signer.algorithm, kid: signer.kid, ...changes.jws })).toString(
    'base64url',
  )
  const payload = Buffer.from(whole).toString('base64url')
  const value = make(Buffer.from(`${protectedPart}.${payload}`)).toString('base64url')
  return `${protectedPart}.${profile.layout === 'jws' ? payload : ''}.${value}`
}

function parameterList(
  { header }: Unsigned,
  whole: string,
  { kid, algorithm }: Signer,
  { digest_prefix }: Profile,
  make: (content: Buffer) => Buffer,
  { parameters = {} }: Changes,
): string {
  const list: Record<string, string | number> = {
    namespace: 'registry',
    kidId: `${(header as { sender_id?: string }).sender_id}|${kid}|${SPELT[algorithm]}`,
    algorithm: SPELT[algorithm],
    created: seconds(),
    expires: seconds() + 300,
    headers: '(created) (expires) digest',
    ...parameters,
  }
  const digest = digestOf(whole, digest_prefix)
  const text = `(created): ${list.created}\n(expires): ${list.expires}\ndigest: ${digest}`
  list.signature ??= make(Buffer.from(text)).toString('base64')
  return Object.entries(list)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')
}

const EXPECTED = ['EdDSA', 'ES256', 'RS256'] as const

function isVerified(content: string, algorithm: Algorithm, jwk: JsonWebKey, value: Buffer): boolean {
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (algorithm === 'EdDSA') return verifyBytes(null, Buffer.from(content), key, value)
  const how = { key, dsaEncoding: 'ieee-p1363', padding: constants.RSA_PKCS1_PADDING } as const
  return verifyBytes('sha256', Buffer.from(content), how, value)
}

function rawSignature(content: Buffer, { algorithm, privateJwk }: Signer): Buffer {
  const key = createPrivateKey({ key: privateJwk, format: 'jwk' })
  if (algorithm === 'EdDSA') return signBytes(null, content, key)
  return signBytes('sha256', content, { key, dsaEncoding: 'ieee-p1363', padding: constants.RSA_PKCS1_PADDING })
}

/** The text of a body. Its header and message are the texts that a signature in the form `as-received` signs. */
export function bodyText({ header, message }: Unsigned, value?: unknown): string {
  const member = value === undefined ? '' : `"signature": ${JSON.stringify(value)}, `
  return `{${member}"header": ${inBody(header)}, "message": ${inBody(message)}}`
}

/** A reply of ours. */
export interface Sealed extends Unsigned {
  readonly signature: string
}

export interface PublishedKey extends JsonWebKey {
  readonly kid: string
  readonly use: string
  readonly alg: string
}

/**
 * True when a body was signed in this profile with one of the keys: with EdDSA, if the profile has it. Only in the
 * layout `parameters` does the signature name a sender, which must be `sender_id`.
 */
export function isSigned(text: string, sender_id: string, keys: readonly PublishedKey[], profile: Profile = SPEC): boolean {
  const body = JSON.parse(text) as Sealed
  // We send canonical JSON, so the text as received is the same.
  const form = FORMS[profile.canonical_form]
  const [header, message] = [body.header, body.message].map((part) => form(part, canonical)) as [string, string]
  const whole = `{"header":${header},"message":${message}}`
  const wanted = EXPECTED.find((name) => profile.algorithms.includes(name)) ?? 'EdDSA'
  const own = keys.filter(({ use, alg }) => use === 'sig' && alg === wanted)
  const checked = (kid: string | undefined, content: string, value: Buffer): boolean =>
    own.some((jwk) => jwk.kid === kid && isVerified(content, wanted, jwk, value))
  if (profile.layout === 'raw-rsa') {
    // This layout names no key.
    const value = Buffer.from(body.signature, 'base64')
    return own.some((jwk) => isVerified(`${header}${message}`, wanted, jwk, value))
  }
  if (profile.layout !== 'parameters') {
    const [start = '', middle = '', end = ''] = body.signature.split('.')
    const { kid, alg } = JSON.parse(Buffer.from(start, 'base64url').toString())
    if (alg !== wanted) return false
    const payload = Buffer.from(whole).toString('base64url')
    if (middle !== (profile.layout === 'jws' ? payload : '')) return false
    return checked(kid, `${start}.${payload}`, Buffer.from(end, 'base64url'))
  }
  const list = parametersOf(body.signature)
  const [sender, kid, algorithm] = (list.kidId ?? '').split('|')
  const now = seconds()
  const fresh = Number(list.created) <= now + 60 && Number(list.expires) >= now
  if (sender !== sender_id || algorithm !== SPELT[wanted] || list.algorithm !== algorithm || !fresh) return false
  const digest = digestOf(whole, profile.digest_prefix)
  const content = `(created): ${list.created}\n(expires): ${list.expires}\ndigest: ${digest}`
  return checked(kid, content, Buffer.from(list.signature ?? '', 'base64'))
}

/** The parameters of a signature of the specification's layout. */
export function parametersOf(value: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...value.matchAll(/([A-Za-z]+)="([^"]*)"/g)].map(([, name, text]) => [name, text]))
}
