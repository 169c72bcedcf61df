/** Reads the file in which a participant hands over public keys: PEM, a JWK, or a JWK set. */
import { createPublicKey } from 'node:crypto'
import { isJsonObject, JsonError, KeyRefused, type LooseJwk, parseJson } from '@rollcall/protocol'

/** The keys of a file as JWKs, not checked yet: `readPublicKey` checks each. @throws {KeyRefused} and no other error */
export function readPublicKeyFile(text: string): readonly LooseJwk[] {
  const trimmed = text.trim()
  if (trimmed.startsWith('-----BEGIN ')) return [readPemKey(trimmed)]
  const value = parseKeyFile(trimmed)
  const jwks = isJsonObject(value) && Array.isArray(value.keys) ? value.keys : [value]
  if (jwks.length === 0) throw new KeyRefused('the key set has no keys')
  return jwks.map((jwk) => {
    if (!isJsonObject(jwk)) throw new KeyRefused('each key of a JWK set must be an object')
    return jwk
  })
}

function parseKeyFile(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    throw new KeyRefused('the file must hold a public key in PEM, a JWK or a JWK set')
  }
}

/** The labels of PEM files that are not accepted, and the refusal of each, which names the operator's next step. */
const REFUSED_PEM_LABELS: readonly { label: RegExp; rule: string }[] = [
  {
    label: /PRIVATE KEY/,
    rule: 'this is a private key: its owner keeps it; register its public key (openssl pkey -in FILE -pubout)',
  },
  { label: /CERTIFICATE/, rule: 'this is a certificate: register the public key in it (openssl x509 -in FILE -noout -pubkey)' },
]

function readPemKey(text: string): LooseJwk {
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label = '']) => label)
  for (const { label, rule } of REFUSED_PEM_LABELS) {
    if (labels.some((found) => label.test(found))) throw new KeyRefused(rule)
  }
  if (labels.length > 1) throw new KeyRefused('the file holds more than one key; put each into a file of its own')
  try {
    return createPublicKey(text).export({ format: 'jwk' }) as LooseJwk
  } catch {
    throw new KeyRefused('this PEM holds no public key of a known type: RSA, EC (P-256), Ed25519 or X25519')
  }
}
