/** Signatures as compact JWS (RFC 7515), with header and message as the payload, or with the payload left out (1.4 B and C). */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../json.ts'
import { fromBase64Url, toBase64Url, utf8Bytes } from '../base64.ts'
import { canonicalJson } from '../canonical-json.ts'
import { ALGORITHMS, findAllowedAlgorithm } from './algorithms.ts'
import { type CanonicalParts, headerAndMessageText } from './canonical-forms.ts'
import type { Layout, SignatureProfile } from './layout.ts'
import { invalid } from './problem.ts'

/** The middle part of a JWS: how it is written and checked. */
interface JwsPayloadFormat {
  write(payload: string): string
  /** Checks the middle part, and returns the payload that is signed, in base64url. */
  read(middle: string, parts: CanonicalParts, canonical: (text: string) => string): string
}

const embeddedPayload: JwsPayloadFormat = {
  write: (payload) => payload,
  read(middle, parts, canonical) {
    const text = decodeBase64UrlText(middle)
    if (text === null) throw invalid('the payload must be UTF-8 in canonical base64url')
    // The payload must be header and message in canonical form, or another spelling of the same: then its canonical form is
    // compared.
    const expected = headerAndMessageText(parts)
    if (text !== expected && canonical(text) !== expected) {
      throw invalid('the payload is not the header and message of the envelope')
    }
    return middle
  },
}

const detachedPayload: JwsPayloadFormat = {
  write: () => '',
  read(middle, parts) {
    if (middle !== '') throw invalid('the payload must be left out')
    return toBase64Url(utf8Bytes(headerAndMessageText(parts)))
  },
}

function jwsLayout(middle: JwsPayloadFormat): Layout {
  return {
    algorithms: ['EdDSA', 'ES256', 'RS256'],
    expires: false,
    digest: false,

    read(text, { profile }) {
      const [start, payload, end, ...more] = text.split('.', 4)
      if (start === undefined || payload === undefined || end === undefined || more.length > 0) {
        throw invalid('the signature must be a JWS in compact form')
      }
      const header = protectedHeader(start)
      const algorithm = findAllowedAlgorithm(header.alg, 'jws', profile.algorithms)
      if (algorithm === null) throw invalid('alg must be an algorithm that is registered for the sender')
      const value = fromBase64Url(end)
      if (value === null || value.length === 0) throw invalid('the signature must be canonical base64url')
      return {
        sender_id: null,
        kid: header.kid,
        algorithm,
        created: null,
        expires: null,
        canonical_form: profile.canonical_form,
        value,
        content: async (parts, canonical) => utf8Bytes(`${start}.${middle.read(payload, parts, canonical)}`),
      }
    },

    async write(parts, { kid, algorithm }, signed) {
      const start = toBase64Url(utf8Bytes(canonicalJson({ alg: ALGORITHMS[algorithm].spellings.jws[0], kid })))
      const payload = toBase64Url(utf8Bytes(headerAndMessageText(parts)))
      const value = await signed(utf8Bytes(`${start}.${payload}`))
      return `${start}.${middle.write(payload)}.${toBase64Url(value)}`
    },
  }
}

/** The layout of a compact JWS whose payload is header and message. */
export const jwsEmbedded = jwsLayout(embeddedPayload)

/** The layout of a compact JWS whose payload, header and message, is left out. */
export const jwsDetached = jwsLayout(detachedPayload)

/**
 * Returns a signature without the payload that a JWS may have: header and message. Whoever has the message can still verify it
 * (RFC 7515, appendix F).
 */
export const signatureWithoutPayload = (signature: string, { layout }: SignatureProfile): string =>
  layout === 'jws' ? `${signature.slice(0, signature.indexOf('.'))}.${signature.slice(signature.lastIndexOf('.'))}` : signature

/** The members that the header of a JWS may have. Others, such as `crit` and keys, are refused. */
const ALLOWED_JWS_MEMBERS = ['alg', 'kid', 'typ', 'cty']

function protectedHeader(text: string): { readonly alg: string; readonly kid: string | null } {
  const header = parseJsonObjectOrNull(decodeBase64UrlText(text))
  if (header === null) throw invalid('the JWS header must be a JSON object in canonical base64url')
  if (Object.keys(header).some((name) => !ALLOWED_JWS_MEMBERS.includes(name))) {
    throw invalid('the JWS header may have alg, kid, typ and cty and nothing else')
  }
  if (Object.values(header).some((value) => typeof value !== 'string' || value === '')) {
    throw invalid('the members of the JWS header must be texts')
  }
  const { alg, kid = null } = header as { alg?: string; kid?: string }
  if (alg === undefined) throw invalid('the JWS header has no alg')
  return { alg, kid }
}

function parseJsonObjectOrNull(text: string | null): JsonObject | null {
  if (text === null) return null
  let value: JsonValue
  try {
    value = parseJson(text, { maxDepth: 4 })
  } catch {
    return null
  }
  return isJsonObject(value) ? value : null
}

/** Keeps a byte order mark in the text, so that the JSON reader refuses it. */
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeBase64UrlText(base64Url: string): string | null {
  const bytes = fromBase64Url(base64Url)
  if (bytes === null) return null
  try {
    return utf8Decoder.decode(bytes)
  } catch {
    return null
  }
}
