/** Encrypts and opens as somebody else's software does, from docs/encryption.md with node:crypto alone. */
import {
  type CipherGCMTypes,
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'

export interface Encrypted {
  readonly header: Readonly<Record<string, unknown>>
  readonly encrypted_key: string
  readonly iv: string
  readonly ciphertext: string
  readonly tag: string
}

export interface ReceiverKey extends JsonWebKey {
  readonly kid: string
  readonly alg: string
}

const CIPHERS: Readonly<Record<string, { readonly cipher: CipherGCMTypes; readonly bytes: number }>> = {
  A256GCM: { cipher: 'aes-256-gcm', bytes: 32 },
  A128GCM: { cipher: 'aes-128-gcm', bytes: 16 },
}
const OAEP = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const
/** The initial value of the key wrap (RFC 3394, 2.2.3.1). */
const WRAP_IV = Buffer.alloc(8, 0xa6)

const url = (bytes: Buffer): string => bytes.toString('base64url')
const fromUrl = (text: unknown): Buffer => Buffer.from(String(text), 'base64url')

/** The key that wraps the content key in ECDH-ES+A256KW (RFC 7518, 4.6.2): one round of the concatenation KDF. */
function agreedKey(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const alg = Buffer.from('ECDH-ES+A256KW')
  const uint32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  const parts = [uint32(1), diffieHellman({ privateKey, publicKey }), uint32(alg.length), alg]
  return createHash('sha256')
    .update(Buffer.concat([...parts, uint32(0), uint32(0), uint32(256)]))
    .digest()
}

/** Encrypts a text, or an object as JSON, for the owner of a published key. */
export function encrypt(
  content: object | string,
  key: ReceiverKey,
  { enc = 'A256GCM', header = {} }: { enc?: string; header?: object } = {},
): Encrypted {
  const { cipher, bytes } = CIPHERS[enc] ?? { cipher: 'aes-256-gcm', bytes: 32 }
  const contentKey = randomBytes(bytes)
  const iv = randomBytes(12)
  const made = createCipheriv(cipher, contentKey, iv)
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const ciphertext = Buffer.concat([made.update(text), made.final()])
  const publicKey = createPublicKey({ key, format: 'jwk' })
  const { encrypted_key, extra } = key.kty === 'RSA' ? forRsa(publicKey, contentKey) : byAgreement(publicKey, contentKey)
  return {
    header: { alg: key.alg, enc, kid: key.kid, ...extra, ...header },
    encrypted_key: url(encrypted_key),
    iv: url(iv),
    ciphertext: url(ciphertext),
    tag: url(made.getAuthTag()),
  }
}

interface Wrapped {
  readonly encrypted_key: Buffer
  readonly extra: object
}

const forRsa = (key: KeyObject, contentKey: Buffer): Wrapped => ({
  encrypted_key: publicEncrypt({ key, ...OAEP }, contentKey),
  extra: {},
})

function byAgreement(key: KeyObject, contentKey: Buffer): Wrapped {
  const own =
    key.asymmetricKeyType === 'x25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const wrap = createCipheriv('id-aes256-wrap', agreedKey(own.privateKey, key), WRAP_IV)
  const encrypted_key = Buffer.concat([wrap.update(contentKey), wrap.final()])
  return { encrypted_key, extra: { epk: own.publicKey.export({ format: 'jwk' }) } }
}

/** Decrypts a text. @throws the text was not encrypted for this key, or was changed */
export function decrypt({ header, ...sent }: Encrypted, privateJwk: JsonWebKey): string {
  const key = createPrivateKey({ key: privateJwk, format: 'jwk' })
  const contentKey = header.alg === 'RSA-OAEP-256' ? privateDecrypt({ key, ...OAEP }, fromUrl(sent.encrypted_key)) : agreed()
  function agreed(): Buffer {
    const publicKey = createPublicKey({ key: header.epk as JsonWebKey, format: 'jwk' })
    const unwrap = createDecipheriv('id-aes256-wrap', agreedKey(key, publicKey), WRAP_IV)
    return Buffer.concat([unwrap.update(fromUrl(sent.encrypted_key)), unwrap.final()])
  }
  const { cipher } = CIPHERS[String(header.enc)] ?? { cipher: 'aes-256-gcm' as const }
  const opened = createDecipheriv(cipher, contentKey, fromUrl(sent.iv), { authTagLength: 16 })
  opened.setAuthTag(fromUrl(sent.tag))
  return Buffer.concat([opened.update(fromUrl(sent.ciphertext)), opened.final()]).toString()
}
