/** Reads the private key with which we prove to a provider of OpenID Connect who we are (`private_key_jwt`). */
import { createPrivateKey, type JsonWebKey, type KeyObject, type webcrypto } from 'node:crypto'

/** Our private key for a provider of OpenID Connect, imported for use. */
export interface OpenIdClientKey {
  readonly key: webcrypto.CryptoKey
  /** The name by which the provider finds the public key; absent when the text of the key has none. */
  readonly kid?: string
}

type ImportAlgorithm = Parameters<KeyObject['toCryptoKey']>[0]

const CURVE_BY_OPENSSL_NAME: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }

/** The least length of an RSA key, in bits of its modulus. */
const LEAST_RSA_BITS = 2_048

/** The algorithm for each type of key; null when the curve or length of the key is not supported. */
const ALGORITHM_BY_KEY_TYPE: Readonly<Record<string, (key: KeyObject) => ImportAlgorithm | null>> = {
  rsa: ({ asymmetricKeyDetails: { modulusLength = 0 } = {} }) =>
    modulusLength < LEAST_RSA_BITS ? null : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ec: ({ asymmetricKeyDetails: { namedCurve = '' } = {} }) => {
    const { [namedCurve]: curve } = CURVE_BY_OPENSSL_NAME
    return curve === undefined ? null : { name: 'ECDSA', namedCurve: curve }
  },
  ed25519: () => ({ name: 'Ed25519' }),
}

/**
 * Reads a private key: PEM, or a JWK that may have a `kid`.
 * @returns null: the text is no private key, or one of a type, curve or length that is not supported
 */
export function readClientKey(text: string): OpenIdClientKey | null {
  try {
    const jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey & { kid?: unknown }) : null
    const key = jwk === null ? createPrivateKey(text) : createPrivateKey({ key: jwk, format: 'jwk' })
    const algorithm = ALGORITHM_BY_KEY_TYPE[key.asymmetricKeyType ?? '']?.(key) ?? null
    if (algorithm === null) return null
    const kid = typeof jwk?.kid === 'string' ? { kid: jwk.kid } : {}
    return { key: key.toCryptoKey(algorithm, false, ['sign']), ...kid }
  } catch {
    return null
  }
}
