/** The private key with which we say who we are at a provider of OpenID Connect (`private_key_jwt`). */
import { createPrivateKey, type JsonWebKey, type KeyObject, type webcrypto } from 'node:crypto'

export interface ClientKey {
  readonly key: webcrypto.CryptoKey
  /** The name by which the provider finds the public key; absent: the provider has only one. */
  readonly kid?: string
}

type Algorithm = Parameters<KeyObject['toCryptoKey']>[0]

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' }

/** Bits of a modulus. */
const LEAST_RSA = 2_048

/** The algorithm for each type of key; null: its curve or length is not supported. */
const ALGORITHMS: Readonly<Record<string, (key: KeyObject) => Algorithm | null>> = {
  rsa: ({ asymmetricKeyDetails: { modulusLength = 0 } = {} }) =>
    modulusLength < LEAST_RSA ? null : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  ec: ({ asymmetricKeyDetails: { namedCurve = '' } = {} }) => {
    const { [namedCurve]: curve } = CURVES
    return curve === undefined ? null : { name: 'ECDSA', namedCurve: curve }
  },
  ed25519: () => ({ name: 'Ed25519' }),
}

/**
 * @param text PEM, or a JWK, which may have a `kid`
 * @returns null: it is no such key
 */
export function readClientKey(text: string): ClientKey | null {
  try {
    const jwk = text.trimStart().startsWith('{') ? (JSON.parse(text) as JsonWebKey & { kid?: unknown }) : null
    const key = jwk === null ? createPrivateKey(text) : createPrivateKey({ key: jwk, format: 'jwk' })
    const algorithm = ALGORITHMS[key.asymmetricKeyType ?? '']?.(key) ?? null
    if (algorithm === null) return null
    const kid = typeof jwk?.kid === 'string' ? { kid: jwk.kid } : {}
    return { key: key.toCryptoKey(algorithm, false, ['sign']), ...kid }
  } catch {
    return null
  }
}
