/**
 * Checks the form of an EncryptedMessage (spec "EncryptedMessage"; RFC 7516, 7.2.2; D20) before a key is used, and
 * whether the header says correctly that the message is encrypted.
 */
import { base64url, type FlattenedJWE } from 'jose'
import { EncryptedMessage } from '../../envelope.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../json.ts'
import { validator } from '../../validate.ts'
import { base64urlByteCount } from '../base64.ts'
import { findEncryptionJwkType, isKid } from '../jwk.ts'
import {
  type ContentEncryption,
  findContentEncryption,
  findKeyEncryption,
  IV_BYTES,
  type KeyEncryption,
  TAG_BYTES,
} from './algorithms.ts'

/** An EncryptedMessage whose form is valid. */
export interface EncryptedMessageParts {
  readonly kid: string
  readonly algorithm: KeyEncryption
  readonly content: ContentEncryption
  readonly encryptedKeyBytes: number
  /** The message for the library, with each parameter in only one of the headers. */
  readonly jwe: FlattenedJWE
}

const ENCRYPTED_MESSAGE_MEMBERS = ['header', 'ciphertext', 'encrypted_key', 'tag', 'iv']
const ENCRYPTION_HEADER_MEMBERS = ['alg', 'enc', 'kid']

/**
 * Reads an EncryptedMessage: it must have its members and no others but `protected`, in strict base64url, with the
 * sizes of the algorithms. Null for everything else.
 * @param maxCiphertextBytes the size after base64url is decoded
 */
export function readEncryptedMessage(value: unknown, maxCiphertextBytes: number): EncryptedMessageParts | null {
  if (!isJsonObject(value) || !hasExactMembers(value, ENCRYPTED_MESSAGE_MEMBERS, ['protected'])) return null
  const { header, ciphertext, encrypted_key, tag, iv } = value
  if (typeof ciphertext !== 'string' || Math.floor(ciphertext.length * 0.75) > maxCiphertextBytes) return null
  if (!base64urlByteCount(ciphertext)) return null
  if (base64urlByteCount(iv) !== IV_BYTES || base64urlByteCount(tag) !== TAG_BYTES) return null
  const encryptedKeyBytes = base64urlByteCount(encrypted_key)
  if (encryptedKeyBytes === null || !isJsonObject(header)) return null

  const guarded = Object.hasOwn(value, 'protected') ? protectedHeader(value.protected) : {}
  if (guarded === null || !hasSameTextInBothHeaders(header, guarded)) return null
  const joined: JsonObject = { ...header, ...guarded }
  const { alg, enc, kid } = joined
  const algorithm = findKeyEncryption(alg)
  const content = findContentEncryption(enc)
  if (algorithm === undefined || content === undefined || !isKid(kid)) return null
  // alg, enc and kid must be in `header`. `epk` may be in `header` or `protected`, because libraries differ.
  if (!hasExactMembers(header, ENCRYPTION_HEADER_MEMBERS, algorithm.extra)) return null
  if (!hasExactMembers(joined, [...ENCRYPTION_HEADER_MEMBERS, ...algorithm.extra])) return null
  if (!algorithm.extra.every((member) => isEphemeralKey(joined[member], algorithm))) return null
  return { kid, algorithm, content, encryptedKeyBytes, jwe: toFlattenedJwe(value, header, guarded) }
}

/** True when an object has all the required members, and no others but optional ones. */
function hasExactMembers(object: JsonObject, required: readonly string[], optional: readonly string[] = []): boolean {
  return (
    required.every((member) => Object.hasOwn(object, member)) &&
    Object.keys(object).every((member) => required.includes(member) || optional.includes(member))
  )
}

/**
 * True when each parameter that is in both headers has the same text in both.
 * @param guarded the decoded `protected`
 */
function hasSameTextInBothHeaders(header: JsonObject, guarded: JsonObject): boolean {
  return Object.keys(guarded).every(
    (member) => !Object.hasOwn(header, member) || (typeof guarded[member] === 'string' && guarded[member] === header[member]),
  )
}

/** True for the ephemeral public key of a key agreement (RFC 7518, 4.6.1.1), without further members. */
function isEphemeralKey(value: unknown, algorithm: KeyEncryption): boolean {
  if (!isJsonObject(value)) return false
  const shape = findEncryptionJwkType(value)
  return shape !== undefined && algorithm.kty.includes(shape.kty) && hasExactMembers(value, ['kty', 'crv', ...shape.members])
}

/**
 * Makes the form for the library. RFC 7516, 7.2.1 forbids a parameter in two headers. The specification's `header` always has
 * alg, enc and kid, so a parameter that `protected` has too is left out of `header`.
 */
function toFlattenedJwe(value: JsonObject, header: JsonObject, guarded: JsonObject): FlattenedJWE {
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

/** The parameters in `protected`: a JSON object without duplicate names, in base64url; null for anything else. */
function protectedHeader(encoded: unknown): JsonObject | null {
  if (!base64urlByteCount(encoded)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(base64url.decode(encoded as string))
    const parameters = parseJson(text)
    return isJsonObject(parameters) ? parameters : null
  } catch {
    return null
  }
}

const encryptedMessageValidator = validator(EncryptedMessage)

/** Members that only an encrypted message has. */
const ENCRYPTED_MESSAGE_ONLY_MEMBERS = ['ciphertext', 'encrypted_key', 'tag', 'iv']

/**
 * Describes the disagreement of a message and its header; null when they agree.
 * @param encrypted true when the header says that the message is encrypted
 */
export function findEncryptionMismatch(encrypted: boolean, message: JsonObject): string | null {
  if (encrypted === encryptedMessageValidator.accepts(message)) return null
  if (encrypted && ENCRYPTED_MESSAGE_ONLY_MEMBERS.some((member) => Object.hasOwn(message, member))) {
    return encryptedMessageValidator.problem(message, 'message')
  }
  return 'header.is_msg_encrypted: must say whether message is an EncryptedMessage'
}

/**
 * True when an answer or a callback is encrypted, by `is_msg_encrypted` in its message header, or, if that is missing, by the
 * form of the message. A wrong `is_msg_encrypted` does no harm: a message that is not encrypted for our key cannot be decrypted,
 * and where messages must be encrypted, an unencrypted message is refused.
 */
export function isResultEncrypted(
  { is_msg_encrypted: said }: { readonly is_msg_encrypted?: unknown },
  message: JsonObject,
): boolean {
  return said === undefined ? encryptedMessageValidator.accepts(message) : said === true
}
