/** Checks the form and the identifiers of a query or filter against a grant. */
import { ItemRejection, isSortedIdentifier, type RecordType } from '@rollcall/protocol'
import { ALL_NAMES, type Grant, type QueryForm } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { mayFindRecordByItsPersons } from './minors.ts'
import { isAlwaysShownByGrant } from './shown-attributes.ts'

/** A query whose form and identifiers are checked against a grant. */
interface QueryToCheck {
  /** The record type, reduced to what may be asked about. */
  readonly recordType: RecordType
  readonly form: QueryForm
  readonly predicate: Predicate
}

/** The parts of a grant that say which queries are allowed. */
type QueryLimitsOfGrant = Pick<Grant, 'queryForms' | 'terms'>

interface SearchToCheck extends QueryToCheck {
  readonly sort: readonly { readonly attribute: string }[]
}

/**
 * Checks the form and the sort of a query. A sort by an attribute shows the order of its values, so only attributes that the
 * grant always shows are allowed. A sort by an identifier type shows the order of identifiers that the query does not name, so
 * the grant must have `ask: all`. A sorted query for an identifier counts as an expression.
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid
 */
export function checkSearchAllowed(grant: QueryLimitsOfGrant & Pick<Grant, 'visible'>, asked: SearchToCheck): void {
  const { recordType, sort } = asked
  if (grant.terms.ask !== ALL_NAMES && sort.some(({ attribute }) => isSortedIdentifier(recordType, attribute))) {
    throw new ItemRejection('rjct.sort.invalid', `search_criteria.sort: ${IDENTIFIER_VALUES_ONLY_REASON}: not in their order`)
  }
  const unseen = sort.find(({ attribute }) => !isAlwaysShownByGrant(grant, recordType, attribute))
  if (unseen !== undefined) {
    const rule = `this participant may sort by what it may see only, which ${unseen.attribute} is not`
    throw new ItemRejection('rjct.sort.invalid', `search_criteria.sort: ${rule}`)
  }
  const form = asked.form === 'identifier' && asked.sort.length > 0 ? 'expression' : asked.form
  const refused = findQueryRefusal(grant, { ...asked, form })
  if (refused === null) return
  throw new ItemRejection('rjct.search_criteria.invalid', `search_criteria.query: ${refused}`)
}

const IDENTIFIER_VALUES_ONLY_REASON = 'this participant may ask for identifiers by their values only'

/** The rule of the grant that refuses the query, in words; null when the query is allowed. */
export function findQueryRefusal(grant: QueryLimitsOfGrant, { recordType, form, predicate }: QueryToCheck): string | null {
  const { queryForms, terms } = grant
  if (!queryForms.has(form)) return `this participant may ask by ${[...queryForms].join(', ')} only`
  // A query for records with any identifier of a type, or without certain identifiers, finds nearly every record.
  if (terms.ask !== ALL_NAMES && isAboutUnnamedIdentifiers(predicate)) {
    return `${IDENTIFIER_VALUES_ONLY_REASON}: not for others than these, nor whether there is one`
  }
  if (terms.minors === 'never' && mayFindRecordByItsPersons(recordType, predicate)) {
    return `this participant may ask for a ${recordType.name} by ${recordType.primary_identifier} only: it finds no minors`
  }
  return null
}

/** True when the query asks for records with any identifier of a type, or for records without certain identifiers. */
function isAboutUnnamedIdentifiers(predicate: Predicate, negated = false): boolean {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return predicate.of.some((one) => isAboutUnnamedIdentifiers(one, negated))
    case 'not':
      return isAboutUnnamedIdentifiers(predicate.of, !negated)
    case 'identifier':
      return negated
    default:
      return predicate.is === 'identifier_type'
  }
}

/**
 * True when every record that the query finds has an identifier that the query names, or fulfils a condition on an attribute
 * (also a negated one). A subscription with any other filter is treated like one without a filter.
 */
export function isAcceptedAsFilter(predicate: Predicate, negated = false): boolean {
  switch (predicate.is) {
    case 'and':
    case 'or': {
      const narrow = (one: Predicate): boolean => isAcceptedAsFilter(one, negated)
      return (predicate.is === 'and') === negated ? predicate.of.every(narrow) : predicate.of.some(narrow)
    }
    case 'not':
      return isAcceptedAsFilter(predicate.of, !negated)
    case 'identifier':
      return !negated
    default:
      return predicate.is !== 'identifier_type'
  }
}
