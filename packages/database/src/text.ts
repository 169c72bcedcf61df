/** Checks texts: which ones PostgreSQL can store, and which may be a sender_id. */
import { StoreRefusal } from './refusal.ts'

/**
 * True when PostgreSQL stores the text unchanged. PostgreSQL refuses the character NUL, and a lone surrogate is replaced. No
 * stored value equals a text with such a character, so a look-up of this text may answer without a query.
 */
export function isTextStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const PRINTABLE_PATTERN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u
const MAX_SENDER_ID_LENGTH = 255

/**
 * Checks the rules for the `sender_id` of a participant or a registry (spec "Header"). `|` and `"` are refused because a
 * signature header has the member `kidId="sender_id|kid|algorithm"`.
 * @param member the name for the message
 * @throws StoreRefusal
 */
export function checkSenderId(sender_id: string, member = 'sender_id'): void {
  const problem = senderIdProblem(sender_id)
  if (problem !== null) throw new StoreRefusal(`${member} ${problem}`)
}

function senderIdProblem(sender_id: string): string | null {
  if (sender_id === '') return 'is empty'
  // Count code points, as PostgreSQL counts characters.
  if ([...sender_id].length > MAX_SENDER_ID_LENGTH) return `is longer than ${MAX_SENDER_ID_LENGTH} characters`
  if (/[|"]/.test(sender_id)) return 'contains | or "'
  if (!PRINTABLE_PATTERN.test(sender_id)) return 'contains a character that cannot be printed'
  if (sender_id.trim() !== sender_id) return 'begins or ends with a space'
  return null
}
