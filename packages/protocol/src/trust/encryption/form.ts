/**
 * Checks the form of an EncryptedMessage (spec "EncryptedMessage"; RFC 7516, 7.2.2; D20) before any key is used, and
 * whether the header says correctly that the message is encrypted.
 */
import { base64url, type FlattenedJWE } from 'jose'
import { EncryptedMessage } from '../../envelope.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../json.ts'
import { validator } from '../../validate.ts'
import { base64urlBytes } from '../base64.ts'
import { encryptionShape, isKid } from '../jwk.ts'
import {
  type ContentEncryption,
  contentEncryption,
  IV_BYTES,
  type KeyEncryption,
  keyEncryption,
  TAG_BYTES,
} from './algorithms.ts'

/** An EncryptedMessage of valid form. */
export interface EncryptedForm {
  readonly kid: string
  readonly algorithm: KeyEncryption
  readonly content: ContentEncryption
  readonly encryptedKeyBytes: number
  /** The message in the form for the library, with each parameter in one header only. */
  readonly jwe: FlattenedJWE
}

const MEMBERS = ['header', 'ciphertext', 'encrypted_key', 'tag', 'iv']
const HEADER_MEMBERS = ['alg', 'enc', 'kid']

/**
 * Reads the form of an EncryptedMessage: exactly its members, in strict base64url, with the sizes of the algorithms.
 * Null for everything else.
 * @param maxCiphertextBytes counted after base64url
 */
export function encryptedForm(value: unknown, maxCiphertextBytes: number): EncryptedForm | null {
  if (!isJsonObject(value) || !hasMembers(value, MEMBERS, ['protected'])) return null
  const { header, ciphertext, encrypted_key, tag, iv } = value
  if (typeof ciphertext !== 'string' || Math.floor(ciphertext.length * 0.75) > maxCiphertextBytes) return null
  if (!base64urlBytes(ciphertext)) return null
  if (base64urlBytes(iv) !== IV_BYTES || base64urlBytes(tag) !== TAG_BYTES) return null
  const encryptedKeyBytes = base64urlBytes(encrypted_key)
  if (encryptedKeyBytes === null || !isJsonObject(header)) return null

  const guarded = Object.hasOwn(value, 'protected') ? protectedHeader(value.protected) : {}
  if (guarded === null || !agree(header, guarded)) return null
  const joined: JsonObject = { ...header, ...guarded }
  const { alg, enc, kid } = joined
  const algorithm = keyEncryption(alg)
  const content = contentEncryption(enc)
  if (algorithm === undefined || content === undefined || !isKid(kid)) return null
  // The three parameters of the spec must be in `header`; libraries differ about the place of `epk`.
  if (!hasMembers(header, HEADER_MEMBERS, algorithm.extra)) return null
  if (!hasMembers(joined, [...HEADER_MEMBERS, ...algorithm.extra])) return null
  if (!algorithm.extra.every((member) => isEphemeralKey(joined[member], algorithm))) return null
  return { kid, algorithm, content, encryptedKeyBytes, jwe: asLibraryReads(value, header, guarded) }
}

/** Whether an object has all the members of one list, perhaps some of the other, and nothing else. */
function hasMembers(object: JsonObject, required: readonly string[], optional: readonly string[] = []): boolean {
  return (
    required.every((member) => Object.hasOwn(object, member)) &&
    Object.keys(object).every((member) => required.includes(member) || optional.includes(member))
  )
}

/** Whether a parameter in both headers is the same text in both. */
function agree(header: JsonObject, guarded: JsonObject): boolean {
  return Object.keys(guarded).every(
    (member) =>
      !Object.hasOwn(header, member) || (typeof guarded[member] === 'string' && guarded[member] === header[member]),
  )
}

/** The sender's key of an agreement (RFC 7518, 4.6.1.1): a public key with no more than it needs. */
function isEphemeralKey(value: unknown, algorithm: KeyEncryption): boolean {
  if (!isJsonObject(value)) return false
  const shape = encryptionShape(value)
  return shape !== undefined && algorithm.kty.includes(shape.kty) && hasMembers(value, ['kty', 'crv', ...shape.members])
}

/** RFC 7516, 7.2.1 allows no parameter in two headers, and the spec's `header` always has its three. */
function asLibraryReads(value: JsonObject, header: JsonObject, guarded: JsonObject): FlattenedJWE {
  const alone = Object.entries(header).filter(([member]) => !Object.hasOwn(guarded, member))
  const { ciphertext, encrypted_key, iv, tag, protected: encoded } = value
  return {
    header: Object.fromEntries(alone),
    ciphertext: String(ciphertext),
    encrypted_key: String(encrypted_key),
    iv: String(iv),
    tag: String(tag),
    ...(encoded !== undefined && { protected: String(encoded) }),
  }
}

/** The parameters of a `protected` member: an object of JSON without duplicate names, in base64url. */
function protectedHeader(encoded: unknown): JsonObject | null {
  if (!base64urlBytes(encoded)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(base64url.decode(encoded as string))
    const parameters = parseJson(text)
    return isJsonObject(parameters) ? parameters : null
  } catch {
    return null
  }
}

const encryptedMessages = validator(EncryptedMessage)

/** Members that no other message has. */
const OWN = ['ciphertext', 'encrypted_key', 'tag', 'iv']

/**
 * The problem when a message does not match its header; null: it matches.
 * @param encrypted whether the header says that it is encrypted
 */
export function encryptionProblem(encrypted: boolean, message: JsonObject): string | null {
  if (encrypted === encryptedMessages.accepts(message)) return null
  if (encrypted && OWN.some((member) => Object.hasOwn(message, member))) {
    return encryptedMessages.problem(message, 'message')
  }
  return 'header.is_msg_encrypted: must say whether message is an EncryptedMessage'
}

/**
 * Whether a result is encrypted: by its header, or, without such a member, by its form (3.1). This makes nothing easier
 * to decrypt: what is encrypted for us can be decrypted with our key or not at all, and a message that must be
 * encrypted is refused in clear whatever its header says.
 */
export function isResultEncrypted(
  { is_msg_encrypted: said }: { readonly is_msg_encrypted?: unknown },
  message: JsonObject,
): boolean {
  return said === undefined ? encryptedMessages.accepts(message) : said === true
}
