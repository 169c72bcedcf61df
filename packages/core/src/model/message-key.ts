/** The key under which the store finds a message_id. */
import { sha256Hex } from './digests.ts'

const MAX_KEY_CHARACTERS = 255

/** The message_id; for one longer than 255 characters, `sha256:` and its digest. */
export function messageKey(message_id: string): string {
  return message_id.length <= MAX_KEY_CHARACTERS ? message_id : `sha256:${sha256Hex(message_id)}`
}
