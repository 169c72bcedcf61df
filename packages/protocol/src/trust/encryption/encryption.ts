/**
 * Encrypts and decrypts an EncryptedMessage (spec "EncryptedMessage" and "Authentication" 3; public-standard 1.5, D20):
 * a JWE whose parameters are unprotected in `header`, so only the content is authenticated. Signature and envelope bind
 * it to sender, receiver and message_id: verify before decrypting.
 */
import { type CryptoKey, type FlattenedJWE, flattenedDecrypt, GeneralEncrypt, type JWEHeaderParameters } from 'jose'
import type { EncryptedMessage } from '../../envelope.ts'
import { isJsonObject, type JsonBounds, type JsonObject, parseJson } from '../../json.ts'
import { utf8 } from '../base64.ts'
import { canonicalJson } from '../canonical-json.ts'
import { CONTENT_ENCRYPTIONS, type ContentEncryption, KEY_ENCRYPTIONS, keyEncryption } from './algorithms.ts'
import { type EncryptedForm, encryptedForm } from './form.ts'
import { type EncryptionKey, publicEncryptionKey } from './keys.ts'

/**
 * A message that cannot be decrypted (err.encryption.invalid). The text is the same for all reasons, so that a peer
 * learns nothing by trying; `step` is for our own log.
 */
export class EncryptionProblem extends Error {
  readonly step: 'form' | 'key' | 'open' | 'content'

  constructor(step: EncryptionProblem['step']) {
    super('the encrypted message cannot be decrypted')
    this.name = 'EncryptionProblem'
    this.step = step
  }
}

export interface Encryption {
  /** A string is used as JSON text; any other value is written as canonical JSON. */
  readonly message: unknown
  /** The receiver's public JWK, with `kid` and `alg`; or the result of `publicEncryptionKey`. */
  readonly key: EncryptionKey | Readonly<Record<string, unknown>>
  readonly enc?: ContentEncryption['enc']
}

/**
 * Encrypts a message for one receiver.
 *
 * @throws {KeyRefused} when the key is no key to encrypt with; then nothing may go out in clear instead
 */
export async function encryptMessage(encryption: Encryption): Promise<EncryptedMessage> {
  const { message, enc = 'A256GCM' } = encryption
  const { kid, alg, key } = isImported(encryption.key) ? encryption.key : await publicEncryptionKey(encryption.key)
  const text = typeof message === 'string' ? message : canonicalJson(message)
  return encrypted(utf8(text), { alg, enc, kid }, key)
}

/** A JWK has no member of that name. */
function isImported(key: Encryption['key']): key is EncryptionKey {
  return 'key' in key && key.key instanceof CryptoKey
}

/** The `header`; the library adds `epk` for algorithms that use it. */
interface Header extends JWEHeaderParameters {
  readonly alg: EncryptionKey['alg']
  readonly enc: ContentEncryption['enc']
  readonly kid: string
}

async function encrypted(plaintext: Uint8Array, header: Header, key: CryptoKey): Promise<EncryptedMessage> {
  const jwe = new GeneralEncrypt(plaintext)
  jwe.addRecipient(key).setUnprotectedHeader(header)
  if (keyEncryption(header.alg)?.extra.length) {
    // For a single recipient, the library puts its members into `protected`, which the spec's form does not have. So
    // there is a second recipient with a key that nobody has, and its part is dropped.
    const nobody = crypto.getRandomValues(new Uint8Array(32))
    jwe.addRecipient(nobody).setUnprotectedHeader({ alg: 'A256KW', enc: header.enc })
  }
  const { recipients, ciphertext, tag = '', iv = '' } = await jwe.encrypt()
  const [{ encrypted_key = '', header: full = {} } = {}] = recipients
  return { header: { ...header, ...full }, encrypted_key, iv, ciphertext, tag }
}

/** Returns our private key with this `kid`, or null. Its errors are not caused by the message. */
export type ResolveKey = (kid: string) => CryptoKey | null | Promise<CryptoKey | null>

export interface DecryptionLimits {
  /** Bytes of ciphertext, counted after base64url. */
  readonly maxCiphertextBytes: number
  /** The limits for `parseJson`. */
  readonly bounds?: JsonBounds
  /** A reader for texts of at least this many characters, in place of `parseJson`; null: it is no message. */
  readonly large?: { readonly from: number; readonly read: (text: string) => Promise<JsonObject | null> }
}

export interface DecryptedMessage {
  /** The decrypted JSON text. */
  readonly text: string
  readonly message: JsonObject
}

/** Closed lists for the library as well, though the form has been judged by the same rows. */
const ALLOWED = {
  keyManagementAlgorithms: KEY_ENCRYPTIONS.map(({ alg }) => alg),
  contentEncryptionAlgorithms: CONTENT_ENCRYPTIONS.map(({ enc }) => enc),
  maxDecompressedLength: 0,
}

/**
 * Decrypts an EncryptedMessage, whose signature has been verified before.
 *
 * @throws {EncryptionProblem} whatever is wrong with it; beyond that only what `resolveKey` and `large` throw
 */
export async function decryptMessage(
  value: unknown,
  resolveKey: ResolveKey,
  { maxCiphertextBytes, bounds, large }: DecryptionLimits,
): Promise<DecryptedMessage> {
  const form = encryptedForm(value, maxCiphertextBytes)
  if (form === null) throw new EncryptionProblem('form')
  const key = await resolveKey(form.kid)
  if (key === null || !fits(form, key)) throw new EncryptionProblem('key')
  const text = decoded(await opened(form.jwe, key))
  const isLarge = large !== undefined && text.length >= large.from
  const message = isLarge ? await large.read(text) : readMessage(text, bounds)
  if (message === null) throw new EncryptionProblem('content')
  return { text, message }
}

/**
 * RSA would take an encrypted key without its leading zeros as well, and the same ciphertext would have a second
 * fingerprint.
 */
function fits({ algorithm, content, encryptedKeyBytes }: EncryptedForm, key: CryptoKey): boolean {
  return algorithm.encryptedKeyBytes(key, content.keyBytes) === encryptedKeyBytes
}

/**
 * If the content key cannot be decrypted, the library continues with a random one (RFC 7516, 11.5), so that a bad
 * encrypted key and a bad tag fail at the same place after the same work.
 */
async function opened(jwe: FlattenedJWE, key: CryptoKey): Promise<Uint8Array> {
  try {
    return (await flattenedDecrypt(jwe, key, ALLOWED)).plaintext
  } catch {
    // No cause: the library's messages about keys and plaintexts must not be logged.
    throw new EncryptionProblem('open')
  }
}

function decoded(plaintext: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plaintext)
  } catch {
    throw new EncryptionProblem('content')
  }
}

/** Parses a decrypted message. Null: it is no JSON object within the bounds. */
function readMessage(text: string, bounds?: JsonBounds): JsonObject | null {
  try {
    const message = parseJson(text, bounds)
    return isJsonObject(message) ? message : null
  } catch {
    return null
  }
}

/**
 * The fingerprint of a ciphertext, by which a copy under another sender or message_id is refused: 32 bytes, SHA-256 of
 * `encrypted_key`, a point and `tag` as spelt. Only for decrypted messages: their spelling is unique.
 */
export async function ciphertextFingerprint(
  message: Pick<EncryptedMessage, 'encrypted_key' | 'tag'>,
): Promise<Uint8Array> {
  const bytes = utf8(`${message.encrypted_key}.${message.tag}`)
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}
