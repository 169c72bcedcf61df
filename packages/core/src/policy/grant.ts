/** Reads the terms of a grant for the kind of its registry. Requests are checked against the result. */
import {
  elementKeys,
  type Kind,
  namesOf,
  operationsOf,
  type RecordType,
  resolveEventType,
  resolveIdentifierType,
  resolveRecordType,
  searchKey,
} from '@rollcall/protocol'
import { ALL_NAMES, type Grant, type GrantedNames, type GrantTerms, isNameGranted, QUERY_FORMS } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { NOBODY_PROTECTED, PROTECTION_CATEGORIES } from '../model/protection.ts'
import { PROGRAMME_ATTRIBUTE } from '../query/person-criteria.ts'
import { QueryProblem } from '../query/query.ts'
import { readQuery } from '../query/read-query.ts'
import { reduceKindToAskableNames } from './asked-kind.ts'
import { readEmergencyGrant } from './emergency.ts'
import { GrantProblem } from './grant-problem.ts'
import { withoutPersonLists } from './minors.ts'
import { visibleMemberTrees } from './visible.ts'

/**
 * Reads the terms of a grant, so that requests can be checked against it. `grantWithHiddenPersons` adds who is hidden.
 * @param kind the kind of the registry, with the attributes that an operator added
 * @throws GrantProblem a member breaks a rule, or names something that the registry does not have
 */
export const readGrant = (kind: Kind, { id, terms }: Pick<Grant, 'id' | 'terms'>): Grant => ({ id, ...readTerms(kind, terms) })

/**
 * Reads a stored grant. It may be unreadable now, for example because an attribute that it names was removed.
 * @returns null when the grant cannot be read, and so grants nothing
 */
export function readStoredGrant(
  kind: Kind,
  stored: Pick<Grant, 'id' | 'terms'>,
  report: (problem: GrantProblem) => void = () => undefined,
): Grant | null {
  try {
    return readGrant(kind, stored)
  } catch (error) {
    if (!(error instanceof GrantProblem)) throw error
    report(error)
    return null
  }
}

/** Reads the terms of a grant. @throws GrantProblem as `readGrant` throws it */
export function readTerms(kind: Kind, terms: GrantTerms): Omit<Grant, 'id'> {
  const recordTypes = readGrantedNames(terms, 'record_types', ALL_NAMES, (name) => resolveRecordType(kind, name)?.name)
  const types = readGrantedNames(terms, 'identifier_types', ALL_NAMES, (name) => resolveIdentifierType(kind, name)?.name)
  const granted = kind.record_types.filter(({ name }) => isNameGranted(recordTypes, name))
  const eventTypes = readGrantedNames(terms, 'event_types', [], (name) => resolveEventType(kind, name)?.name)
  const operations = readGrantedNames(terms, 'operations', [], operationNameFinder(kind))
  checkBasis(terms, operations, granted)
  const { ask = [], see, minors } = terms
  const askable = { recordTypes: granted, identifierTypes: types, eventTypes }
  const kindFor = (names: GrantTerms['see']): Kind => {
    const narrowed = reduceKindToAskableNames(kind, { ...askable, ask: names })
    return minors === 'never' ? withoutPersonLists(narrowed) : narrowed
  }
  const grant: Omit<Grant, 'id' | 'emergency'> = {
    terms,
    kind: kindFor(ask),
    person_kind: kindFor(ask === ALL_NAMES ? ALL_NAMES : [...ask, ...programmeAttributesIn(granted)]),
    operations,
    recordTypes,
    queryForms: new Set(terms.query_forms === ALL_NAMES ? QUERY_FORMS : (terms.query_forms ?? ['identifier'])),
    eventTypes,
    programmes: readGrantedNames(terms, 'programmes', [], programmeKeyFinder(kind)),
    rows: readRowConditions(kind, granted, terms.rows),
    visible: see === ALL_NAMES ? null : visibleMemberTrees(kind, granted, see),
    identifiers: { kind, types },
    hidden: {
      categories: terms.protected === ALL_NAMES ? PROTECTION_CATEGORIES : (terms.protected ?? []),
      protection: NOBODY_PROTECTED,
      takesOut: null,
    },
  }
  return terms.emergency === undefined ? grant : { ...grant, emergency: readEmergencyGrant(grant, granted) }
}

type NameListMember = 'operations' | 'record_types' | 'identifier_types' | 'event_types' | 'programmes'

function readGrantedNames(
  terms: GrantTerms,
  member: NameListMember,
  otherwise: GrantTerms[NameListMember] & {},
  canonical: (name: string) => string | undefined,
): GrantedNames {
  const given = terms[member] ?? otherwise
  if (given === ALL_NAMES) return null
  const names = given.map((name) => {
    const found = canonical(name)
    if (found === undefined) throw new GrantProblem(member, `this registry has no ${name}`)
    return found
  })
  if (member === 'record_types' && names.length === 0) throw new GrantProblem(member, 'must name one at least')
  return new Set(names)
}

const operationNameFinder =
  (kind: Kind) =>
  (name: string): string | undefined =>
    operationsOf(kind).find((operation) => operation.name === name)?.name

/** Returns a list with `PROGRAMME_ATTRIBUTE`, by which a question names a programme; empty when no record type has it. */
const programmeAttributesIn = (recordTypes: readonly RecordType[]): readonly string[] => {
  const members = recordTypes.flatMap(({ compounds = [] }) => compounds.flatMap((one) => one.members))
  return members.some(({ name }) => name === PROGRAMME_ATTRIBUTE) ? [PROGRAMME_ATTRIBUTE] : []
}

/** Returns a function that gives the key of a programme, as in ledgers. No record needs to have the programme yet. */
const programmeKeyFinder =
  (kind: Kind) =>
  (name: string): string | undefined => {
    for (const recordType of kind.record_types) {
      const list = recordType.keyed_lists.find((one) => one.name === 'programme')
      const [key] = list === undefined ? [] : elementKeys(kind, recordType, list, list.paths[0] ?? '', name)
      if (key !== undefined) return key
    }
    return undefined
  }

/** The operations that a grant with a basis other than law may have. */
const CONSENT_OPERATIONS = [
  ...['search', 'txn-status', 'subscribe', 'unsubscribe'],
  ...['enrolled', 'enrolment-status', 'disabled', 'disability-details', 'disability-support'],
]

/**
 * Checks the members that depend on the basis. Under a consent, only the person who consents is shown, so the grant
 * must not show other persons.
 * @throws GrantProblem
 */
function checkBasis(
  { basis, purposes = [], consent, authorities, query_forms = [], see }: GrantTerms,
  operations: GrantedNames,
  recordTypes: readonly RecordType[],
): void {
  if (basis === 'law') {
    const other = Object.entries({ purposes: purposes[0], consent, authorities }).find(([, value]) => value)
    if (other !== undefined) throw new GrantProblem(other[0], 'is only for a basis other than law')
    return
  }
  if (purposes.length === 0) throw new GrantProblem('purposes', `must name one at least for basis ${basis}`)
  if (operations === null || [...operations].some((name) => !CONSENT_OPERATIONS.includes(name))) {
    throw new GrantProblem('operations', `must be of ${CONSENT_OPERATIONS.join(', ')} for basis ${basis}`)
  }
  if (query_forms === ALL_NAMES || query_forms.some((form) => form !== 'identifier')) {
    throw new GrantProblem('query_forms', `must be identifier alone for basis ${basis}`)
  }
  const shared = recordTypes.find(({ identifiers }) => identifiers.some(({ names }) => names === 'part'))
  if (shared !== undefined) {
    throw new GrantProblem(
      'record_types',
      `must not have ${shared.name} for basis ${basis}: the identifier of one person finds a record of several`,
    )
  }
  const relations = recordTypes.flatMap((recordType) => recordType.relations ?? [])
  const seen = see === ALL_NAMES ? [] : see.map(searchKey)
  const relation = relations.find(({ name }) => see === ALL_NAMES || seen.includes(searchKey(name)))
  if (relation !== undefined) {
    throw new GrantProblem('see', `must not show other persons (${relation.name}) for basis ${basis}; name attributes`)
  }
  if (see === ALL_NAMES) throw new GrantProblem('see', `must name attributes for basis ${basis}`)
}

/** The limits for the queries in a grant's conditions. */
const CONDITION_QUERY_LIMITS = { query_depth: 16, query_terms: 200, query_values: 1000 }

/** Reads the conditions that records must fulfil. @throws GrantProblem */
function readRowConditions(kind: Kind, granted: readonly RecordType[], rows: GrantTerms['rows']): ReadonlyMap<string, Predicate> {
  if (rows === undefined) return new Map()
  const read = new Map<string, Predicate>()
  for (const [name, query] of Object.entries(rows)) {
    const recordType = resolveRecordType(kind, name)
    if (recordType === undefined) throw new GrantProblem('rows', `this registry has no record type ${name}`)
    // A record type has several names. Only one of two queries for the type could apply, so two are refused.
    if (read.has(recordType.name)) throw new GrantProblem('rows', `has two queries for ${recordType.name}`)
    read.set(recordType.name, readRecordTypeCondition(kind, recordType, query))
  }
  const missing = granted.find((recordType) => !read.has(recordType.name))
  if (missing !== undefined) throw new GrantProblem('rows', `must have a query for ${missing.name}, which is granted too`)
  return read
}

function readRecordTypeCondition(kind: Kind, recordType: RecordType, query: unknown): Predicate {
  const path = `rows.${recordType.name}`
  try {
    const { predicate } = readQuery({ kind, recordType, limits: CONDITION_QUERY_LIMITS }, 'expression', query, path)
    const aged = recordType.attributes.find((row) => row.type === 'age' && usesAttribute(predicate, row.name))
    if (aged === undefined) return predicate
    throw new GrantProblem(path, `asks for ${namesOf(aged)[0]}, which changes from day to day; ask for ${aged.since}`)
  } catch (error) {
    if (error instanceof QueryProblem) throw new GrantProblem(error.path, error.rule)
    throw error
  }
}

function usesAttribute(predicate: Predicate, attribute: string): boolean {
  if (predicate.is === 'and' || predicate.is === 'or') return predicate.of.some((one) => usesAttribute(one, attribute))
  if (predicate.is === 'not' || predicate.is === 'some') return usesAttribute(predicate.of, attribute)
  return 'attribute' in predicate && predicate.attribute.name === attribute
}
