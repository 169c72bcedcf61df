/** Whether two entries share all that a shape has: then the second one is not written as canonical JSON to find that out. */
import type { AccountedMessage, StoredAccountEntry } from '@rollcall/core/model/account'

/** Members whose values are compared as they are; `shown` is one object for equal ones (`account-of.ts`). */
const SAME = [
  'kind',
  'participant',
  'operator',
  'registry',
  'operation',
  'grant',
  'basis',
  'purpose',
  'emergency',
  'records',
  'shown',
  'repeats',
  'count',
  'since',
  'address',
  'note',
] as const satisfies readonly (keyof StoredAccountEntry)[]

/** Whether entries differ in the values of marks alone. A value that is null in one of them only makes them different. */
export function areAlike(one: StoredAccountEntry, other: StoredAccountEntry): boolean {
  for (const name of SAME) if (one[name] !== other[name]) return false
  return (
    isSameList(one.asked.record_types, other.asked.record_types) &&
    isSameList(one.asked.forms, other.asked.forms) &&
    isSameList(one.asked.attributes, other.asked.attributes) &&
    isSameCounts(one.outcomes, other.outcomes) &&
    one.consent?.form === other.consent?.form &&
    one.consent?.authority === other.consent?.authority &&
    isSameMessage(one.request, other.request) &&
    isSameMessage(one.reply, other.reply)
  )
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index])

function isSameCounts(one: StoredAccountEntry['outcomes'], other: StoredAccountEntry['outcomes']): boolean {
  const codes = Object.keys(one)
  return codes.length === Object.keys(other).length && codes.every((code) => one[code] === other[code])
}

const isSameMessage = (one: AccountedMessage | null, other: AccountedMessage | null): boolean =>
  one === null || other === null ? one === other : one.kid === other.kid
