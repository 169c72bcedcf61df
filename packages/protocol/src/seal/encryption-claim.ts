/** Whether a message is an EncryptedMessage, and whether its header says so (spec "Header", "EncryptedMessage"). */
import { EncryptedMessage } from '../envelope.ts'
import type { JsonObject } from '../json.ts'
import { validator } from '../validate.ts'

const encryptedMessages = validator(EncryptedMessage)

/** Members that no other message has. */
const OWN = ['ciphertext', 'encrypted_key', 'tag', 'iv']

/**
 * What is wrong when a message is not what its header says; null when it is.
 * @param encrypted as the header says
 */
export function encryptionProblem(encrypted: boolean, message: JsonObject): string | null {
  if (encrypted === encryptedMessages.accepts(message)) return null
  if (encrypted && OWN.some((member) => Object.hasOwn(message, member))) {
    return encryptedMessages.problem(message, 'message')
  }
  return 'header.is_msg_encrypted: must say whether message is an EncryptedMessage'
}

/**
 * Whether a result is encrypted: as its header says; where that says nothing, what the message is (3.1). Nothing is
 * opened more easily for it: what is encrypted for us opens with our key or not at all, and a message that must be
 * encrypted is refused in clear whatever its header says.
 */
export function isResultEncrypted(
  { is_msg_encrypted: said }: { readonly is_msg_encrypted?: unknown },
  message: JsonObject,
): boolean {
  return said === undefined ? encryptedMessages.accepts(message) : said === true
}
