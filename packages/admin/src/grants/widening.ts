/** Compares two grants: whether one permits more. Terms that cannot be compared count as permitting more. */
import { ALL_NAMES, type GrantTerms } from '@rollcall/core/model/grant'
import { type StoredGrant, uncheckedGrantPeriod } from '@rollcall/participants/store/grants'
import { isSameJson } from '../approvals/diff-lines.ts'

type NameSet = 'all' | readonly string[] | undefined

/** True when every wanted name is permitted. @param unset the meaning of a member that is not given */
const areNamesWithin = (wanted: NameSet, current: NameSet, unset: 'all' | readonly string[]): boolean => {
  const [asked, permitted] = [wanted ?? unset, current ?? unset]
  if (permitted === ALL_NAMES) return true
  return asked !== ALL_NAMES && asked.every((name) => permitted.includes(name))
}

/** True when the wanted limit is not above the present one; undefined: there is no limit. */
const isAtMost = (wanted: number | undefined, current: number | undefined): boolean =>
  current === undefined || (wanted !== undefined && wanted <= current)

type GrantComparisons = {
  readonly [Member in keyof GrantTerms]-?: (wanted: GrantTerms, current: GrantTerms) => boolean
}

/** For each member of a grant: whether the wanted value permits no more than the present one. */
const GRANT_COMPARISONS: GrantComparisons = {
  operations: (wanted, current) => areNamesWithin(wanted.operations, current.operations, []),
  record_types: (wanted, current) => areNamesWithin(wanted.record_types, current.record_types, ALL_NAMES),
  query_forms: (wanted, current) => areNamesWithin(wanted.query_forms, current.query_forms, ['identifier']),
  identifier_types: (wanted, current) => areNamesWithin(wanted.identifier_types, current.identifier_types, ALL_NAMES),
  ask: (wanted, current) => areNamesWithin(wanted.ask, current.ask, []),
  see: (wanted, current) => areNamesWithin(wanted.see, current.see, []),
  rows: (wanted, current) =>
    Object.entries(current.rows ?? {}).every(([type, condition]) => isSameJson(wanted.rows?.[type], condition)),
  protected: (wanted, current) => areNamesWithin(wanted.protected, current.protected, []),
  minors: (wanted, current) => wanted.minors === 'never' || current.minors !== 'never',
  event_types: (wanted, current) => areNamesWithin(wanted.event_types, current.event_types, []),
  unfiltered: (wanted, current) => wanted.unfiltered !== true || current.unfiltered === true,
  programmes: (wanted, current) => areNamesWithin(wanted.programmes, current.programmes, []),
  // The basis law is the widest, because it needs no consent.
  basis: (wanted, current) => current.basis === 'law' || wanted.basis === current.basis,
  purposes: (wanted, current) => current.basis === 'law' || isNarrowerList(wanted.purposes, current.purposes),
  demands: (wanted, current) => (current.demands ?? []).every((name) => wanted.demands?.includes(name)),
  consent: (wanted, current) => current.consent !== 'signed' || wanted.consent === 'signed',
  authorities: (wanted, current) => current.basis === 'law' || isNarrowerList(wanted.authorities, current.authorities),
  counts: (wanted, current) => COUNT_WAYS.indexOf(wanted.counts ?? 'exact') >= COUNT_WAYS.indexOf(current.counts ?? 'exact'),
  page_size: (wanted, current) => isAtMost(wanted.page_size, current.page_size),
  items_per_day: (wanted, current) => isAtMost(wanted.items_per_day, current.items_per_day),
  records_per_day: (wanted, current) => isAtMost(wanted.records_per_day, current.records_per_day),
  items_per_minute: (wanted, current) => isAtMost(wanted.items_per_minute, current.items_per_minute),
  records_per_minute: (wanted, current) => isAtMost(wanted.records_per_minute, current.records_per_minute),
  emergency: ({ emergency: wanted }, { emergency: current }) =>
    wanted === undefined ||
    (current !== undefined &&
      areNamesWithin(wanted.see, current.see, []) &&
      isAtMost(wanted.items_per_day, current.items_per_day)),
  // Always true here: `isWiderGrant` compares the times.
  valid_from: () => true,
  valid_until: () => true,
  // Always true: `legal_reference` and `responsible` give reasons, and permit nothing.
  legal_reference: () => true,
  responsible: () => true,
}

/** The ways to count records, the most exact one first. */
const COUNT_WAYS: readonly NonNullable<GrantTerms['counts']>[] = ['exact', 'capped', 'rounded', 'none']

/**
 * True when `current` has all wanted names, or both lists are equal. False if only one list is absent: an absent list may mean
 * all names.
 */
const isNarrowerList = (wanted: readonly string[] | undefined, current: readonly string[] | undefined): boolean =>
  isSameJson(wanted, current) || (wanted !== undefined && current !== undefined && wanted.every((name) => current.includes(name)))

/** True when no stored grant alone permits all that the terms permit, for the whole time of the terms. */
export function isWiderGrant(wanted: GrantTerms, stored: readonly StoredGrant[], now: Date): boolean {
  const { valid_from: from, valid_until: until } = uncheckedGrantPeriod(wanted, now)
  return !stored.some(
    ({ terms, valid_from, valid_until }) =>
      valid_from <= from &&
      (valid_until === null || (until !== null && until <= valid_until)) &&
      Object.values(GRANT_COMPARISONS).every((noMore) => noMore(wanted, terms)),
  )
}

interface WantedGrant {
  readonly sender_id: string
  readonly namespace: string
  readonly terms: GrantTerms
  readonly beside?: boolean | undefined
}

interface GrantsNow {
  /** The grants of the participant in the registry. */
  readonly grants: readonly StoredGrant[]
  readonly now: Date
}

/**
 * Compares terms with the stored grants, for a second operator; null: the terms permit no more than a stored grant. Never null
 * for terms that are granted beside other grants.
 */
export function compareGrants({ sender_id, namespace, terms, beside = false }: WantedGrant, { grants, now }: GrantsNow) {
  if (!beside && !isWiderGrant(terms, grants, now)) return null
  const about = { sender_id, namespace, ...(beside && { beside }) }
  const [one, ...more] = grants.map((grant) => grant.terms)
  return one === undefined || more.length > 0 || beside
    ? { about, stored: { grants: one && [one, ...more] }, wanted: { grants: terms } }
    : { about, stored: one, wanted: withRemovedAsNull(terms, one) }
}

/** The terms, with null for each member that only `before` has: the diff shows it as removed. */
const withRemovedAsNull = (terms: GrantTerms, before: GrantTerms): object => ({
  ...terms,
  ...Object.fromEntries(
    Object.keys(before)
      .filter((name) => !Object.hasOwn(terms, name))
      .map((name) => [name, null]),
  ),
})
