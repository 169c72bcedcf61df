/** Which texts PostgreSQL can hold, and which may be a sender_id. */
import { StoreRefusal } from './refusal.ts'

/**
 * True when PostgreSQL can hold the text unchanged: it refuses NUL, and a lone surrogate would become another
 * character. No stored text equals another one, so a look-up may answer without a query.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u
const SENDER_ID_LIMIT = 255

/**
 * The rules for a `sender_id`, a participant's or a registry's own (spec "Header"; without `|` and `"`, of
 * which the kidId of a signature is made).
 * @param member how the refusal names it
 * @throws StoreRefusal
 */
export function checkSenderId(sender_id: string, member = 'sender_id'): void {
  const problem = senderIdProblem(sender_id)
  if (problem !== null) throw new StoreRefusal(`${member} ${problem}`)
}

function senderIdProblem(sender_id: string): string | null {
  if (sender_id === '') return 'is empty'
  // Code points, as PostgreSQL counts characters.
  if ([...sender_id].length > SENDER_ID_LIMIT) return `is longer than ${SENDER_ID_LIMIT} characters`
  if (/[|"]/.test(sender_id)) return 'contains | or "'
  if (!PRINTABLE.test(sender_id)) return 'contains a character that cannot be printed'
  if (sender_id.trim() !== sender_id) return 'begins or ends with a space'
  return null
}
