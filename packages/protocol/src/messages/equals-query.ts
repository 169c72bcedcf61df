/**
 * Reads the query of a question about one person (D10): an attribute name with an object that has eq, or
 * attribute_name, operator and attribute_value. A query that is not understood is refused.
 */
import { RequestFault } from '../faults.ts'
import { isJsonObject } from '../json.ts'
import { integerText } from '../numbers.ts'

/** For each attribute that the query of a question may have, the accepted names, the canonical name first. */
export type AskedAttributes<Asked extends string> = Readonly<Record<Asked, readonly [string, ...string[]]>>

/** The attributes of an enrolment question. The specification writes `program` where records have `programme` (N9). */
export const ENROLLED_ATTRIBUTES = {
  person: ['person_identifier'],
  programme: [
    'programme_identifier.programme.programme_identifier',
    'programme_identifier.program.programme_identifier',
    'programme_identifier.programme_identifier',
    'programme_identifier',
  ],
} as const satisfies AskedAttributes<string>

const EQUALS_OPERATORS: ReadonlySet<string> = new Set(['eq', '$eq', 'EQ'])
const COMPARISON_MEMBERS = ['attribute_name', 'operator', 'attribute_value'] as const

/**
 * The values in a query, as texts, by attribute.
 * @param place the path of the query, such as `message.enrolled_criteria.query`
 * @throws RequestFault err.request.bad, with a member and a rule
 */
export function readEqualsQuery<Asked extends string>(
  query: unknown,
  place: string,
  attributes: AskedAttributes<Asked>,
): Readonly<Partial<Record<Asked, string>>> {
  if (!isJsonObject(query)) throw badQueryFault(place, 'must be an object')
  const found: Partial<Record<Asked, string>> = {}
  for (const [name, value] of readComparisons(query, place)) {
    const asked = (Object.keys(attributes) as Asked[]).find((key) => attributes[key].includes(name))
    if (asked === undefined) {
      const known = Object.values<readonly string[]>(attributes).map(([one]) => one)
      throw badQueryFault(place, `each attribute must be one of ${known.join(', ')}`)
    }
    if (found[asked] !== undefined) throw badQueryFault(place, `must compare ${attributes[asked][0]} only once`)
    found[asked] = requireText(value, `${place}: the value of ${attributes[asked][0]}`)
  }
  return found
}

/** The attribute names and values in the query, from either published form of a query. */
function readComparisons(query: Readonly<Record<string, unknown>>, place: string): readonly (readonly [string, unknown])[] {
  if (Object.hasOwn(query, 'attribute_name')) {
    const { attribute_name, operator, attribute_value, ...others } = query
    if (Object.keys(others).length > 0) {
      throw badQueryFault(place, `may have ${COMPARISON_MEMBERS.join(', ')} and no other member`)
    }
    if (typeof attribute_name !== 'string') throw badQueryFault(place, 'attribute_name must be a string')
    if (!isEqualsOperator(operator)) throw badQueryFault(place, 'operator must be eq')
    return [[attribute_name, attribute_value]]
  }
  return Object.entries(query).map(([name, comparison]) => {
    const members = isJsonObject(comparison) ? Object.entries(comparison) : []
    const [member] = members
    if (member === undefined || members.length > 1 || !isEqualsOperator(member[0])) {
      throw badQueryFault(place, 'each attribute must be an object with the one member eq')
    }
    return [name, member[1]]
  })
}

const isEqualsOperator = (operator: unknown): boolean => typeof operator === 'string' && EQUALS_OPERATORS.has(operator)

/** The value as text. A whole number is accepted, because some senders write an identifier as a number. */
function requireText(value: unknown, place: string): string {
  const text = typeof value === 'string' ? value.trim() : integerText(value)
  if (text === null || text === '') throw badQueryFault(place, 'must be a text that is not empty')
  return text
}

const badQueryFault = (place: string, rule: string): RequestFault => new RequestFault('err.request.bad', `${place}: ${rule}`)
