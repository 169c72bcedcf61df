/**
 * Protected persons of a registry: their records, and what other records hold or name of them, are hidden from every grant
 * that does not name the category.
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

/** Why a person is protected. The list is closed: a grant that names another category is refused. */
export const PROTECTION_CATEGORIES = ['adoption', 'shelter', 'witness_protection', 'sealed'] as const
export type ProtectionCategory = (typeof PROTECTION_CATEGORIES)[number]

export interface ProtectedPerson {
  readonly id: number
  readonly category: ProtectionCategory
}

/** The protected persons of a registry at one moment. */
export interface Protection {
  /** Another one after each change. */
  readonly version: number
  /** By type and value (`protectionKey`), the persons who bear the identifier, or have byIdentifier it. */
  readonly byIdentifier: ReadonlyMap<string, readonly ProtectedPerson[]>
  /**
   * By the identifiers that protect a person: the one that the operator has named, and the primary identifiers of the
   * person's records, of those that were merged into others too. Whichever record bears one as its own is protected.
   */
  readonly byProtectingIdentifier: ReadonlyMap<string, readonly ProtectedPerson[]>
}

export const NOBODY_PROTECTED: Protection = { version: 0, byIdentifier: new Map(), byProtectingIdentifier: new Map() }

export const protectionKey = ({ type, value }: Identifier): string => `${type}:${value}`

/**
 * The protected persons whom these identifiers name. One of a type that the kind does not list, whose value somebody else may
 * have under another type, and a means of contact, which several people share, name somebody only where nothing better does.
 */
export function protectedBy(
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

/** Takes out the protected persons, but for those of the categories that may be seen. */
export const takesOutProtected =
  (kind: Kind, protection: Protection, seen: readonly string[] = []): TakesOut =>
  ({ identifiers }: OtherPerson) => {
    const hidden = protectedBy(kind, protection, identifiers).find(({ category }) => !seen.includes(category))
    return hidden === undefined ? null : `protected ${hidden.id}`
  }

/** A record without the protected persons that it holds or names. */
export interface PublicRecord {
  /** The same object where it names none. */
  readonly document: JsonObject
  /** Those who were taken out. */
  readonly persons: readonly number[]
}

/** As everybody finds the record: columns, identifiers and filters are read from it, whoever may see more. */
export function publicRecord(
  kind: Kind,
  recordType: RecordType,
  protection: Protection,
  document: JsonObject,
): PublicRecord {
  if (protection.byIdentifier.size === 0) return { document, persons: [] }
  const persons = new Set<number>()
  const left = withoutPersons(kind, recordType, document, ({ identifiers }) => {
    const found = protectedBy(kind, protection, identifiers)
    for (const { id } of found) persons.add(id)
    return found[0] === undefined ? null : `protected ${found[0].id}`
  })
  return { document: left, persons: [...persons] }
}

/** Whether a record is one of a protected person, by what it bears as its own. */
export function protectedAs(
  kind: Kind,
  recordType: RecordType,
  { byProtectingIdentifier }: Protection,
  document: JsonValue,
): readonly ProtectedPerson[] {
  if (byProtectingIdentifier.size === 0) return []
  const own = readIdentifiers(kind, recordType, document).filter(({ names }) => names === 'record')
  const found = own.flatMap((one) =>
    one.type === UNLISTED.name ? [] : (byProtectingIdentifier.get(protectionKey(one)) ?? []),
  )
  return [...new Set(found)]
}
