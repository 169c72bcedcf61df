/** What the vectors are made of: keys, profiles, and envelopes that are signed as their text stands. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importSigningKey, type Jwk } from '../../packages/protocol/src/trust/jwk.ts'
import { ALGORITHMS, type AlgorithmName } from '../../packages/protocol/src/trust/signature/algorithms.ts'
import { receivedParts } from '../../packages/protocol/src/trust/signature/canonical-forms.ts'
import { DEFAULT_SIGNATURE_PROFILE, type SignatureProfile } from '../../packages/protocol/src/trust/signature/layout.ts'
import { LAYOUTS } from '../../packages/protocol/src/trust/signature/layouts.ts'
import { SourcedEnvelope } from '../../packages/protocol/src/trust/source.ts'

/** A key pair in keys.json. */
export interface VectorKey {
  readonly id: string
  readonly sender_id: string
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly public_jwk: Jwk
  readonly private_jwk: Jwk
}

/** One vector: whether a receiver with these keys and rules takes this body. */
export interface Vector {
  readonly clause: string
  readonly name: string
  readonly profile: SignatureProfile
  readonly namespaces: readonly string[]
  readonly now: number
  readonly callback: boolean
  readonly body: string
  readonly expected: 'valid' | 'invalid' | 'missing'
  /** Which rule fails, in our words. */
  readonly reason?: string
  /** The text that the signature is made of, to compare with when a valid vector fails. */
  readonly signed_text?: string
}

export const keys: readonly VectorKey[] = JSON.parse(readFileSync(join(import.meta.dirname, 'keys.json'), 'utf8'))

export const CREATED = 1767225600
export const HEADER =
  '{"version":"1.0.0","message_id":"m-1","message_ts":"2026-01-01T00:00:00Z","action":"search",' +
  '"sender_id":"sp-system","receiver_id":"civil","total_count":1,"is_msg_encrypted":false}'
export const MESSAGE =
  '{"transaction_id":"t-1","search_request":[{"reference_id":"r-1","timestamp":"2026-01-01T00:00:00Z",' +
  '"search_criteria":{"query_type":"idtype-value","query":{"type":"UIN","value":"1000 0001"}}}]}'

const profile = (over: Partial<SignatureProfile>): SignatureProfile => ({ ...DEFAULT_SIGNATURE_PROFILE, ...over })
export const PROFILES = {
  default: DEFAULT_SIGNATURE_PROFILE,
  every: profile({ algorithms: ['EdDSA', 'ES256', 'RS256'] }),
  sorted: profile({ canonical_form: 'sorted-escaped' }),
  unescaped: profile({ canonical_form: 'sorted-unescaped' }),
  received: profile({ canonical_form: 'as-received' }),
  sha: profile({ digest_prefix: 'SHA-256=' }),
  blake: profile({ digest_prefix: 'BLAKE-512=' }),
  jws: profile({ layout: 'jws', algorithms: ['EdDSA', 'RS256'] }),
  jwsReceived: profile({ layout: 'jws', canonical_form: 'as-received', algorithms: ['RS256'] }),
  detached: profile({ layout: 'jws-detached', canonical_form: 'sorted-escaped', algorithms: ['EdDSA', 'ES256'] }),
  raw: profile({ layout: 'raw-rsa', canonical_form: 'as-received', algorithms: ['RS256'] }),
} satisfies Record<string, SignatureProfile>

export interface Case {
  readonly header?: string
  readonly message?: string
  readonly profile?: SignatureProfile
  /** Signed so, although the profile says otherwise. */
  readonly signed_as?: SignatureProfile
  readonly key?: string
  readonly created?: number
  readonly expires?: number
  readonly now?: number
  readonly callback?: boolean
  /** Replaced after signing. */
  readonly sent?: { readonly header?: string; readonly message?: string }
  /** What becomes of the signature after signing. */
  readonly edit?: (signature: string) => unknown
  /** The body, made by hand of the signature. */
  readonly body?: (signature: string) => string
  /** The rule that fails; nothing for a valid vector. */
  readonly invalid?: string
  readonly missing?: string
}

/** Signs an envelope as its text stands. */
export async function vector(clause: string, name: string, of: Case): Promise<Vector> {
  const { header = HEADER, message = MESSAGE, created = CREATED, profile = PROFILES.default } = of
  const { expires = created + 300, now = CREATED + 100, callback = false, sent = {} } = of
  const signedAs = of.signed_as ?? profile
  const key = keyNamed(of.key ?? 'system-ed25519')
  const privateKey = await importSigningKey(key.private_jwk, key.algorithm)
  const envelope = new SourcedEnvelope(`{"header":${header},"message":${message}}`)
  let signedText = ''
  const signature = await LAYOUTS[signedAs.layout].write(
    receivedParts(envelope, signedAs.canonical_form),
    {
      profile: signedAs,
      sender_id: key.sender_id,
      kid: key.kid,
      algorithm: key.algorithm,
      namespace: 'registry',
      created,
      expires,
    },
    async (content) => {
      signedText = new TextDecoder().decode(content)
      return new Uint8Array(await crypto.subtle.sign(ALGORITHMS[key.algorithm].webCrypto, privateKey, content))
    },
  )
  const value = of.edit === undefined ? signature : of.edit(signature)
  const member = value === undefined ? '' : `"signature":${JSON.stringify(value)},`
  const body = of.body?.(signature) ?? `{${member}"header":${sent.header ?? header},"message":${sent.message ?? message}}`
  const reason = of.invalid ?? of.missing
  return {
    clause,
    name,
    profile,
    namespaces: ['registry', 'g2'],
    now,
    callback,
    body,
    expected: of.invalid !== undefined ? 'invalid' : of.missing !== undefined ? 'missing' : 'valid',
    ...(reason === undefined ? { signed_text: signedText } : { reason }),
  }
}

export function keyNamed(id: string): VectorKey {
  const key = keys.find((key) => key.id === id)
  if (key === undefined) throw new Error(`keys.json has no key ${id}`)
  return key
}

/** Replaces what has to be there. */
export function replaced(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to)
  if (result === text) throw new Error('there is nothing to replace')
  return result
}
