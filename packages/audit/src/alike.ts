/** Compares two entries without writing them as canonical JSON, to find out whether they may have the same shape. */
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'

/** The members that are not compared by `===`: parts of them are compared, or they may differ in entries of one shape. */
type NotExactlyComparedMember =
  | 'asked'
  | 'outcomes'
  | 'consent'
  | 'request'
  | 'reply'
  | 'correlation_id'
  | 'transaction_id'
  | 'sealed'

/** Members that are compared by `===`. Entries under one grant often share the object `shown` (`audit-entry-of.ts`). */
const EXACTLY_COMPARED_MEMBERS = {
  kind: true,
  participant: true,
  operator: true,
  approved_by: true,
  registry: true,
  operation: true,
  grant: true,
  basis: true,
  purpose: true,
  emergency: true,
  records: true,
  shown: true,
  repeats: true,
  count: true,
  since: true,
  address: true,
  note: true,
} as const satisfies Readonly<Record<Exclude<keyof StoredAuditEntry, NotExactlyComparedMember>, true>>
const exactlyComparedNames = Object.keys(EXACTLY_COMPARED_MEMBERS) as readonly (keyof typeof EXACTLY_COMPARED_MEMBERS)[]

/**
 * True when two entries are equal in what entries of one shape must have in common. Their other values, such as the digests of
 * messages, are not compared here: `findValuesOutsideShape` checks that these have the form that the shape needs.
 */
export function mayHaveSameShape(one: StoredAuditEntry, other: StoredAuditEntry): boolean {
  for (const name of exactlyComparedNames) if (one[name] !== other[name]) return false
  return (
    isSameList(one.asked.record_types, other.asked.record_types) &&
    isSameList(one.asked.forms, other.asked.forms) &&
    isSameList(one.asked.attributes, other.asked.attributes) &&
    areSameOutcomeCounts(one.outcomes, other.outcomes) &&
    one.consent?.form === other.consent?.form &&
    one.consent?.authority === other.consent?.authority &&
    one.request?.kid === other.request?.kid &&
    one.reply?.kid === other.reply?.kid
  )
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value, index) => value === other[index])

function areSameOutcomeCounts(one: StoredAuditEntry['outcomes'], other: StoredAuditEntry['outcomes']): boolean {
  const codes = Object.keys(one)
  return codes.length === Object.keys(other).length && codes.every((code) => one[code] === other[code])
}
