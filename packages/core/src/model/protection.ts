/**
 * Protected persons of a registry. Their records, and their data in other records, are hidden from every grant that
 * does not name the category of the protection.
 */
import {
  isContact,
  type JsonObject,
  type JsonValue,
  type Kind,
  type OtherPerson,
  type RecordType,
  readIdentifiers,
  type TakesOut,
  UNLISTED,
  withoutPersons,
} from '@rollcall/protocol'
import type { Identifier } from './records.ts'

/** The reasons for which a person may be protected. A grant that names another category is refused. */
export const PROTECTION_CATEGORIES = ['adoption', 'shelter', 'witness_protection', 'sealed'] as const
export type ProtectionCategory = (typeof PROTECTION_CATEGORIES)[number]

export interface ProtectedPerson {
  readonly id: number
  readonly category: ProtectionCategory
}

/** The protected persons of a registry at one moment. */
export interface Protection {
  /** The number of the version: each change has a new one. */
  readonly version: number
  /** The protected persons, by the `protectionKey` of each identifier that they have or once had. */
  readonly byIdentifier: ReadonlyMap<string, readonly ProtectedPerson[]>
  /**
   * The protected persons, by the `protectionKey` of the identifiers that protect their records: the identifier that the operator
   * named, and the primary identifiers of the person's records and of records merged into them. A record is protected when it has
   * one of these identifiers as its own. The other identifiers in `byIdentifier` do not protect a record.
   */
  readonly byProtectingIdentifier: ReadonlyMap<string, readonly ProtectedPerson[]>
}

export const NOBODY_PROTECTED: Protection = { version: 0, byIdentifier: new Map(), byProtectingIdentifier: new Map() }

/** The key of an identifier in the maps of a `Protection`. */
export const protectionKey = ({ type, value }: Identifier): string => `${type}:${value}`

/**
 * The protected persons to whom these identifiers belong. Only the first of three groups in `identifiers` is looked up: listed
 * types except telephones and e-mail addresses; if there are none, unlisted types, although another person may have the same
 * value under another type; else telephones and e-mail addresses, although persons may share them.
 */
export function protectedPersonsNamed(
  { identifier_types }: Kind,
  { byIdentifier }: Protection,
  identifiers: readonly Identifier[],
): readonly ProtectedPerson[] {
  const contacts = new Set(identifier_types.filter(isContact).map(({ name }) => name))
  const proper = identifiers.filter(({ type }) => !contacts.has(type))
  const listed = proper.filter(({ type }) => type !== UNLISTED.name)
  const best = [listed, proper].find(({ length }) => length > 0) ?? identifiers
  return [...new Set(best.flatMap((one) => byIdentifier.get(protectionKey(one)) ?? []))]
}

/**
 * Returns a function for `withoutPersons`. The function decides to remove a protected person from records of other persons,
 * unless `seen` contains every category under which the person is protected.
 * @param seen the categories that a grant shows
 */
export const protectedPersonRemovalRule =
  (kind: Kind, protection: Protection, seen: readonly string[] = []): TakesOut =>
  ({ identifiers }: OtherPerson) => {
    const hidden = protectedPersonsNamed(kind, protection, identifiers).find(({ category }) => !seen.includes(category))
    return hidden === undefined ? null : `protected ${hidden.id}`
  }

/** A record without the protected persons who are part of it or named in it. */
export interface RecordWithoutProtectedPersons {
  /** The document; the same object when nobody was removed. */
  readonly document: JsonObject
  /** The ids of the persons who were removed. */
  readonly persons: readonly number[]
}

/**
 * The record without protected persons of any category. Search columns, identifier rows and filters use this form for all grants.
 */
export function withoutProtectedPersons(
  kind: Kind,
  recordType: RecordType,
  protection: Protection,
  document: JsonObject,
): RecordWithoutProtectedPersons {
  if (protection.byIdentifier.size === 0) return { document, persons: [] }
  const persons = new Set<number>()
  const left = withoutPersons(kind, recordType, document, ({ identifiers }) => {
    const found = protectedPersonsNamed(kind, protection, identifiers)
    for (const { id } of found) persons.add(id)
    return found[0] === undefined ? null : `protected ${found[0].id}`
  })
  return { document: left, persons: [...persons] }
}

/** The protected persons to whom the record itself belongs, by its own identifiers. */
export function protectedPersonsOwningRecord(
  kind: Kind,
  recordType: RecordType,
  { byProtectingIdentifier }: Protection,
  document: JsonValue,
): readonly ProtectedPerson[] {
  if (byProtectingIdentifier.size === 0) return []
  const own = readIdentifiers(kind, recordType, document).filter(({ names }) => names === 'record')
  const found = own.flatMap((one) => (one.type === UNLISTED.name ? [] : (byProtectingIdentifier.get(protectionKey(one)) ?? [])))
  return [...new Set(found)]
}
