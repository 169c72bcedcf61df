/**
 * Finds the persons whom a grant does not show: protected persons of other categories than it names, and minors when it
 * excludes them.
 */
import { type JsonObject, type Kind, type RecordType, type TakesOut, withoutPersons } from '@rollcall/protocol'
import type { Grant } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { type Protection, protectedPersonRemovalRule, protectedPersonsOwningRecord } from '../model/protection.ts'
import type { Registry } from '../model/registry.ts'
import { adultPredicate, isMinor } from './minors.ts'

/** Returns the grant with the persons whom it hides on a day. @param day YYYY-MM-DD in the registry's time zone */
export function grantWithHiddenPersons(
  { emergency, ...grant }: Grant,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  day: string,
): Grant {
  const hiding = <Of extends GrantOrEmergency>(one: Of): Of => withHidingRulesForDay(one, registry, protection, day)
  return { ...hiding(grant), ...(emergency && { emergency: hiding(emergency) }) }
}

type GrantOrEmergency = Omit<Grant, 'id' | 'emergency'>

function withHidingRulesForDay<Of extends GrantOrEmergency>(
  grant: Of,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  day: string,
): Of {
  const { kind } = grant.identifiers
  const { categories } = grant.hidden
  const minors = grant.terms.minors === 'never'
  const takesOut = hiddenPersonRemovalRule(kind, registry, protection, { shownCategories: categories, hidesMinors: minors }, day)
  return {
    ...grant,
    rows: minors ? addAdultConditionsToRowConditions(grant, registry, day) : grant.rows,
    hidden: { categories, protection, takesOut },
  }
}

/**
 * Returns a function for `withoutPersons`, which decides to remove hidden persons from records of other persons; null when nobody
 * is hidden, because minors are shown and nobody is protected.
 * @param options.shownCategories the categories whose protected persons are shown
 * @param day YYYY-MM-DD in the registry's time zone
 */
export function hiddenPersonRemovalRule(
  kind: Kind,
  registry: Pick<Registry, 'majority_age'>,
  protection: Protection,
  { shownCategories, hidesMinors }: { readonly shownCategories: readonly string[]; readonly hidesMinors: boolean },
  day: string,
): TakesOut | null {
  const ofProtected = protection.byIdentifier.size === 0 ? null : protectedPersonRemovalRule(kind, protection, shownCategories)
  return hidesMinors ? (person) => ofProtected?.(person) ?? (isMinor(person, registry, day) ? '' : null) : ofProtected
}

function addAdultConditionsToRowConditions(
  { rows, identifiers: { kind } }: GrantOrEmergency,
  registry: Pick<Registry, 'majority_age'>,
  day: string,
): Grant['rows'] {
  const scoped = new Map(rows)
  for (const recordType of kind.record_types) {
    const adult = adultPredicate(recordType, registry, day)
    if (adult === null) continue
    const row: Predicate | undefined = rows.get(recordType.name)
    scoped.set(recordType.name, row === undefined ? adult : { is: 'and', of: [row, adult] })
  }
  return scoped
}

type HidingTerms = Pick<Grant, 'hidden' | 'identifiers'>

/** True when the record belongs to a protected person whom the grant does not show. */
export function isHiddenRecord(
  { hidden: { protection, categories }, identifiers: { kind } }: HidingTerms,
  recordType: RecordType,
  document: JsonObject,
): boolean {
  const persons = protectedPersonsOwningRecord(kind, recordType, protection, document)
  return persons.some(({ category }) => !categories.includes(category))
}

/** The record without other persons whom the grant does not show. */
export function withoutOtherHiddenPersons(
  { hidden: { takesOut }, identifiers: { kind } }: HidingTerms,
  recordType: RecordType,
  document: JsonObject,
): JsonObject {
  return takesOut === null ? document : withoutPersons(kind, recordType, document, takesOut)
}
