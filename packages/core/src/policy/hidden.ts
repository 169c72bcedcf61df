/**
 * The persons whom a grant does not show: protected persons of categories that the grant does not name, and minors
 * where the grant excludes them.
 */
import { type JsonObject, type Kind, type RecordType, type TakesOut, withoutPersons } from '@rollcall/protocol'
import type { Grant } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { type Protection, protectedAs, publicRecord, takesOutProtected } from '../model/protection.ts'
import type { Registry } from '../model/registry.ts'
import { adultIn, isMinor } from './minors.ts'

/**
 * The grant as it applies on a day, with the persons who are protected now.
 * @param day YYYY-MM-DD in the time zone of the registry
 */
export function withHidden(
  { emergency, ...grant }: Grant,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  day: string,
): Grant {
  const hiding = <Of extends PartOfGrant>(one: Of): Of => hidingPersons(one, registry, protection, day)
  return { ...hiding(grant), ...(emergency && { emergency: hiding(emergency) }) }
}

type PartOfGrant = Omit<Grant, 'id' | 'emergency'>

function hidingPersons<Of extends PartOfGrant>(
  grant: Of,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  day: string,
): Of {
  const { kind } = grant.identifiers
  const { categories } = grant.hidden
  const minors = grant.terms.minors === 'never'
  const takesOut = takesOutHidden(kind, registry, protection, { categories, minors }, day)
  return {
    ...grant,
    rows: minors ? adultRows(grant, registry, day) : grant.rows,
    hidden: { categories, protection, takesOut },
  }
}

/**
 * Removes hidden persons from records of other persons; null: nobody is hidden.
 * @param hides.categories the categories of protected persons who are shown
 * @param hides.minors whether minors are hidden
 * @param day YYYY-MM-DD in the time zone of the registry
 */
export function takesOutHidden(
  kind: Kind,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  { categories, minors }: { readonly categories: readonly string[]; readonly minors: boolean },
  day: string,
): TakesOut | null {
  const ofProtected = protection.byIdentifier.size === 0 ? null : takesOutProtected(kind, protection, categories)
  return minors ? (person) => ofProtected?.(person) ?? (isMinor(person, registry, day) ? '' : null) : ofProtected
}

function adultRows(
  { rows, identifiers: { kind } }: PartOfGrant,
  registry: Pick<Registry, 'majority_age'>,
  day: string,
): Grant['rows'] {
  const scoped = new Map(rows)
  for (const recordType of kind.record_types) {
    const adult = adultIn(recordType, registry, day)
    if (adult === null) continue
    const row: Predicate | undefined = rows.get(recordType.name)
    scoped.set(recordType.name, row === undefined ? adult : { is: 'and', of: [row, adult] })
  }
  return scoped
}

type Hiding = Pick<Grant, 'hidden' | 'identifiers'>

/** Whether the record belongs to a protected person whom the grant does not show. */
export function isHiddenRecord(
  { hidden: { protection, categories }, identifiers: { kind } }: Hiding,
  recordType: RecordType,
  document: JsonObject,
): boolean {
  const persons = protectedAs(kind, recordType, protection, document)
  return persons.some(({ category }) => !categories.includes(category))
}

/** The record without other persons whom the grant does not show. */
export function withoutHidden(
  { hidden: { takesOut }, identifiers: { kind } }: Hiding,
  recordType: RecordType,
  document: JsonObject,
): JsonObject {
  return takesOut === null ? document : withoutPersons(kind, recordType, document, takesOut)
}

/**
 * The record without any protected person in it. Conditions are tested on this form, in the database and in memory,
 * whatever the grant shows.
 */
export const publicDocument = (
  { hidden: { protection }, identifiers: { kind } }: Hiding,
  recordType: RecordType,
  document: JsonObject,
): JsonObject => publicRecord(kind, recordType, protection, document).document
