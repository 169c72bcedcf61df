/** Key pairs of participants, as their software would make and export them. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { algorithmOfJwk, type Jwk, type KeyUse, type PublicKey, readPublicKey } from '@rollcall/protocol'

export interface KeyPair {
  readonly jwk: Jwk
  readonly privateJwk: Jwk
  readonly pem: string
  readonly privatePem: string
}

const MAKERS = {
  Ed25519: () => generateKeyPairSync('ed25519'),
  X25519: () => generateKeyPairSync('x25519'),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
} as const

export function keyPair(type: keyof typeof MAKERS): KeyPair {
  const { publicKey, privateKey } = MAKERS[type]()
  const jwk = (key: KeyObject): Jwk => key.export({ format: 'jwk' }) as Jwk
  return {
    jwk: jwk(publicKey),
    privateJwk: jwk(privateKey),
    pem: String(publicKey.export({ format: 'pem', type: 'spki' })),
    privatePem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  }
}

/** A new public key, read as the server reads it. */
export function publicKey(
  type: keyof typeof MAKERS,
  { kid, use, sender_id = 'a.example' }: { kid?: string; use?: KeyUse; sender_id?: string } = {},
): Promise<PublicKey> {
  const { jwk } = keyPair(type)
  const meant = use ?? (algorithmOfJwk(jwk) === null ? 'enc' : 'sig')
  return readPublicKey(jwk, { sender_id, use: meant, ...(kid !== undefined && { kid }) })
}
