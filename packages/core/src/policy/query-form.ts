/** Which queries and filters a grant allows, by their form and by what they ask of identifiers. */
import { ItemRejection, isSortedIdentifier, type RecordType } from '@rollcall/protocol'
import { ALL, type Grant, type QueryForm } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import { asksForMembers } from './minors.ts'
import { isAlwaysShown } from './shown-attributes.ts'

interface Asked {
  /** With what may be asked about. */
  readonly recordType: RecordType
  readonly form: QueryForm
  readonly predicate: Predicate
}

/** What a grant says of queries. */
type Asking = Pick<Grant, 'queryForms' | 'terms'>

interface AskedInOrder extends Asked {
  readonly sort: readonly { readonly attribute: string }[]
}

/**
 * Records that an identifier finds are not sorted by an attribute: their order would say something of it. An order by
 * identifiers says something of those that nobody named, so it takes a grant that may ask about everything. An order compares
 * the values of all records that are found, which no question does, so these must be values that the grant shows.
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid
 */
export function checkForm(grant: Asking & Pick<Grant, 'visible'>, asked: AskedInOrder): void {
  const { recordType, sort } = asked
  if (grant.terms.ask !== ALL && sort.some(({ attribute }) => isSortedIdentifier(recordType, attribute))) {
    throw new ItemRejection('rjct.sort.invalid', `search_criteria.sort: ${VALUES_ONLY}: not in their order`)
  }
  const unseen = sort.find(({ attribute }) => !isAlwaysShown(grant, recordType, attribute))
  if (unseen !== undefined) {
    const rule = `this participant may sort by what it may see only, which ${unseen.attribute} is not`
    throw new ItemRejection('rjct.sort.invalid', `search_criteria.sort: ${rule}`)
  }
  const form = asked.form === 'identifier' && asked.sort.length > 0 ? 'expression' : asked.form
  const refused = refusedQuery(grant, { ...asked, form })
  if (refused === null) return
  throw new ItemRejection('rjct.search_criteria.invalid', `search_criteria.query: ${refused}`)
}

const VALUES_ONLY = 'this participant may ask for identifiers by their values only'

/** @returns the rule that refuses; null: none does */
export function refusedQuery(grant: Asking, { recordType, form, predicate }: Asked): string | null {
  const { queryForms, terms } = grant
  if (!queryForms.has(form)) return `this participant may ask by ${[...queryForms].join(', ')} only`
  // Such a question finds nearly every record, though it names no attribute.
  if (terms.ask !== ALL && isAboutUnnamed(predicate)) {
    return `${VALUES_ONLY}: not for others than these, nor whether there is one`
  }
  if (asksForMembers(grant, recordType, predicate)) {
    return `this participant may ask for a ${recordType.name} by ${recordType.primary_identifier} only: it finds no minors`
  }
  return null
}

/** Whether it asks about identifiers that it does not name: whether there is one of a type, or one that is another. */
function isAboutUnnamed(predicate: Predicate, negated = false): boolean {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return predicate.of.some((one) => isAboutUnnamed(one, negated))
    case 'not':
      return isAboutUnnamed(predicate.of, !negated)
    case 'identifier':
      return negated
    default:
      return predicate.is === 'identifier_type'
  }
}

/**
 * Whether every record that fulfils it must bear an identifier that it names, or fulfil a condition on an attribute.
 * What does not is as good as no filter.
 */
export function isNarrow(predicate: Predicate, negated = false): boolean {
  switch (predicate.is) {
    case 'and':
    case 'or': {
      const narrow = (one: Predicate): boolean => isNarrow(one, negated)
      return (predicate.is === 'and') === negated ? predicate.of.every(narrow) : predicate.of.some(narrow)
    }
    case 'not':
      return isNarrow(predicate.of, !negated)
    case 'identifier':
      return !negated
    default:
      return predicate.is !== 'identifier_type'
  }
}
