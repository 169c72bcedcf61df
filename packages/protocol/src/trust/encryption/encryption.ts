/**
 * Encrypts and decrypts an EncryptedMessage (spec "EncryptedMessage" and "Authentication" 3; public-standard 1.5, D20). The
 * message is a JWE. Its encryption protects the content against changes, but not the parameters in `header`. Only the signature
 * of the envelope binds the message to sender, receiver and message_id: verify the signature before you decrypt.
 */
import { type CryptoKey, type FlattenedJWE, flattenedDecrypt, GeneralEncrypt, type JWEHeaderParameters } from 'jose'
import type { EncryptedMessage } from '../../envelope.ts'
import { isJsonObject, type JsonBounds, type JsonObject, parseJson } from '../../json.ts'
import { utf8Bytes } from '../base64.ts'
import { canonicalJson } from '../canonical-json.ts'
import { CONTENT_ENCRYPTIONS, type ContentEncryption, findKeyEncryption, KEY_ENCRYPTIONS } from './algorithms.ts'
import { type EncryptedMessageParts, readEncryptedMessage } from './form.ts'
import { type EncryptionKey, publicEncryptionKey } from './keys.ts'

/**
 * The message cannot be decrypted (err.encryption.invalid). The text is the same for all reasons, so that a peer learns nothing
 * by trying; `step` says which check failed; it must not reach a peer.
 */
export class EncryptionProblem extends Error {
  /** `form`: the form is wrong; `key`: no key of ours fits; `open`: decryption failed; `content`: the plaintext is no message. */
  readonly step: 'form' | 'key' | 'open' | 'content'

  constructor(step: EncryptionProblem['step']) {
    super('the encrypted message cannot be decrypted')
    this.name = 'EncryptionProblem'
    this.step = step
  }
}

/** A message to encrypt, and the key of its receiver. */
export interface MessageToEncrypt {
  /** The message: a string that is JSON already, or a value that is written as canonical JSON. */
  readonly message: unknown
  /** The receiver's public JWK, with `kid` and `alg`; or a result of `publicEncryptionKey`. */
  readonly key: EncryptionKey | Readonly<Record<string, unknown>>
  readonly enc?: ContentEncryption['enc']
}

/**
 * Encrypts a message for one receiver.
 *
 * @throws {KeyRefused} the key is invalid or unsafe; the message must then not be sent unencrypted
 */
export async function encryptMessage(encryption: MessageToEncrypt): Promise<EncryptedMessage> {
  const { message, enc = 'A256GCM' } = encryption
  const { kid, alg, key } = isImportedKey(encryption.key) ? encryption.key : await publicEncryptionKey(encryption.key)
  const text = typeof message === 'string' ? message : canonicalJson(message)
  return encryptPlaintext(utf8Bytes(text), { alg, enc, kid }, key)
}

/** True for an imported key, false for a JWK, which has no member `key`. */
function isImportedKey(key: MessageToEncrypt['key']): key is EncryptionKey {
  return 'key' in key && key.key instanceof CryptoKey
}

/** The `header` of the message. The library adds `epk` where the algorithm needs it. */
interface EncryptionHeader extends JWEHeaderParameters {
  readonly alg: EncryptionKey['alg']
  readonly enc: ContentEncryption['enc']
  readonly kid: string
}

async function encryptPlaintext(plaintext: Uint8Array, header: EncryptionHeader, key: CryptoKey): Promise<EncryptedMessage> {
  const jwe = new GeneralEncrypt(plaintext)
  jwe.addRecipient(key).setUnprotectedHeader(header)
  if (findKeyEncryption(header.alg)?.extra.length) {
    // With one recipient, the library would put `epk` into `protected`, which the specification does not allow. So a second
    // recipient with a random key is added. The library's result for this recipient is not used.
    const nobody = crypto.getRandomValues(new Uint8Array(32))
    jwe.addRecipient(nobody).setUnprotectedHeader({ alg: 'A256KW', enc: header.enc })
  }
  const { recipients, ciphertext, tag = '', iv = '' } = await jwe.encrypt()
  const [{ encrypted_key = '', header: full = {} } = {}] = recipients
  return { header: { ...header, ...full }, encrypted_key, iv, ciphertext, tag }
}

/**
 * Returns our private key with this `kid`; null when we have none. It throws when our keys cannot be read: then the message is
 * not at fault, and `decryptMessage` passes the error on.
 */
export type ResolveKey = (kid: string) => CryptoKey | null | Promise<CryptoKey | null>

/** The limits of an encrypted message, and how its content is read. */
export interface DecryptionLimits {
  /** The largest size of the ciphertext in bytes, after base64url is decoded. */
  readonly maxCiphertextBytes: number
  /** The limits with which `parseJson` reads the decrypted text. */
  readonly bounds?: JsonBounds
  /**
   * `read` parses decrypted texts of at least `from` characters, in place of `parseJson`. It returns null when the text is not a
   * message.
   */
  readonly large?: { readonly from: number; readonly read: (text: string) => Promise<JsonObject | null> }
}

export interface DecryptedMessage {
  /** The decrypted JSON text. */
  readonly text: string
  readonly message: JsonObject
}

/** The library may use only our algorithms, and no compression. `readEncryptedMessage` has checked the message for both. */
const DECRYPTION_OPTIONS = {
  keyManagementAlgorithms: KEY_ENCRYPTIONS.map(({ alg }) => alg),
  contentEncryptionAlgorithms: CONTENT_ENCRYPTIONS.map(({ enc }) => enc),
  maxDecompressedLength: 0,
}

/**
 * Decrypts an EncryptedMessage. Verify its signature before.
 *
 * @throws {EncryptionProblem} for everything that is wrong with the message; besides, what `resolveKey` and `large` throw
 */
export async function decryptMessage(
  value: unknown,
  resolveKey: ResolveKey,
  { maxCiphertextBytes, bounds, large }: DecryptionLimits,
): Promise<DecryptedMessage> {
  const form = readEncryptedMessage(value, maxCiphertextBytes)
  if (form === null) throw new EncryptionProblem('form')
  const key = await resolveKey(form.kid)
  if (key === null || !hasExactEncryptedKeySize(form, key)) throw new EncryptionProblem('key')
  const text = requireUtf8Text(await decryptContent(form.jwe, key))
  const isLarge = large !== undefined && text.length >= large.from
  const message = isLarge ? await large.read(text) : parseDecryptedMessage(text, bounds)
  if (message === null) throw new EncryptionProblem('content')
  return { text, message }
}

/**
 * True when `encrypted_key` has exactly the size that our key demands. RSA also decrypts an `encrypted_key` whose leading zero
 * bytes were removed: the same message would then have a second fingerprint.
 */
function hasExactEncryptedKeySize({ algorithm, content, encryptedKeyBytes }: EncryptedMessageParts, key: CryptoKey): boolean {
  return algorithm.encryptedKeyBytes(key, content.keyBytes) === encryptedKeyBytes
}

/**
 * Decrypts the content. When the content key cannot be decrypted, the library goes on with a random one (RFC 7516,
 * 11.5), so that a wrong encrypted key and a wrong tag fail at the same point after the same work.
 */
async function decryptContent(jwe: FlattenedJWE, key: CryptoKey): Promise<Uint8Array> {
  try {
    return (await flattenedDecrypt(jwe, key, DECRYPTION_OPTIONS)).plaintext
  } catch {
    // The library's error is not kept as the cause: its messages about keys and plaintexts must not be logged.
    throw new EncryptionProblem('open')
  }
}

function requireUtf8Text(plaintext: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext)
  } catch {
    throw new EncryptionProblem('content')
  }
}

/** Parses a decrypted message; null when it is not a JSON object within the limits. */
function parseDecryptedMessage(text: string, bounds?: JsonBounds): JsonObject | null {
  try {
    const message = parseJson(text, bounds)
    return isJsonObject(message) ? message : null
  } catch {
    return null
  }
}

/**
 * The fingerprint of a ciphertext, by which a copy with another sender or message_id is refused: SHA-256 (32 bytes) of
 * `encrypted_key`, a dot and `tag` as written. Use the fingerprint only for messages that were decrypted: in these, the two
 * members can be written in only one way.
 */
export async function ciphertextFingerprint(message: Pick<EncryptedMessage, 'encrypted_key' | 'tag'>): Promise<Uint8Array> {
  const bytes = utf8Bytes(`${message.encrypted_key}.${message.tag}`)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}
