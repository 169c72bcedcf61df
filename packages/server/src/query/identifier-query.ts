/** The identifier form of a query: type and value, in every documented spelling (spec "Query forms" 2, 3.1, D21). */
import {
  IDENTIFIER_MAX_LENGTH,
  type IdentifierType,
  ItemRejection,
  identifierValue,
  isJsonObject,
  type JsonValue,
  type Kind,
  resolveIdentifierType,
} from '@rollcall/protocol'
import type { Identifier } from '../store/records.ts'

const QUERY_TYPES = ['idtype-value', 'expression', 'predicate', 'graphql']
/** An older word for idtype-value (3.1). */
const IDENTIFIER_WORDS = ['idtype-value', 'idtype']

/**
 * Reads a query that names a record by an identifier.
 * @throws ItemRejection rjct.search_criteria.invalid for every other query, with what would be understood
 */
export function readIdentifierQuery(kind: Kind, query_type: unknown, query: unknown): Identifier {
  const word = typeof query_type === 'string' ? query_type.toLowerCase() : ''
  if (![...QUERY_TYPES, ...IDENTIFIER_WORDS].includes(word)) {
    throw invalid(`search_criteria.query_type: must be one of ${QUERY_TYPES.join(', ')}`)
  }
  const pair = readPair(query)
  const type = typeof pair.type === 'string' ? resolveIdentifierType(kind, pair.type) : undefined
  if (type === undefined) {
    const known = kind.identifier_types.map(({ name }) => name).join(', ')
    throw invalid(`search_criteria.query.type: must be one of ${known}`)
  }
  return { type: type.name, value: readValue(type, pair.value) }
}

interface Pair {
  readonly type: unknown
  readonly value: unknown
}

/**
 * Spellings of an identifier query, each with exactly these members; first of all the specification's.
 * A member more than these is a condition that would go unnoticed, so it is no spelling of this form.
 */
const SPELLINGS: readonly { members: readonly string[]; read(query: Members): Pair | null }[] = [
  {
    members: ['type', 'value'],
    read: ({ type, value }) => (isJsonObject(value) ? readNested(type, value) : { type, value }),
  },
  {
    members: ['identifier_type', 'identifier_value'],
    read: ({ identifier_type, identifier_value }) => ({ type: identifier_type, value: identifier_value }),
  },
  {
    members: ['field', 'operator', 'value'],
    read: ({ field, operator, value }) => (isEquality(operator) ? { type: field, value } : null),
  },
]

type Members = { readonly [member: string]: unknown }

function readPair(query: unknown): Pair {
  if (isJsonObject(query)) {
    const members = Object.keys(query)
    const spelling = SPELLINGS.find(
      (candidate) =>
        candidate.members.length === members.length &&
        candidate.members.every((name) => members.includes(name)),
    )
    const pair = spelling?.read(query) ?? null
    if (pair !== null) return pair
  }
  throw invalid('search_criteria.query: must be {"type": an identifier type, "value": its value}')
}

/** { type: "idtype-value", value: { id_type, id_value } } (3.1). */
function readNested(type: unknown, value: Members): Pair | null {
  if (typeof type !== 'string' || !IDENTIFIER_WORDS.includes(type.toLowerCase())) return null
  if (Object.keys(value).length !== 2) return null
  return { type: value.id_type, value: value.id_value }
}

const isEquality = (operator: unknown): boolean =>
  typeof operator === 'string' && ['eq', '$eq', '='].includes(operator.toLowerCase())

function readValue(type: IdentifierType, value: unknown): string {
  // Numbers are read by their digits: those beyond 2^53 arrive as bigint, so that none was ever rounded.
  const normalised = identifierValue(type, value as JsonValue | undefined)
  if (normalised !== null) return normalised
  throw invalid(
    `search_criteria.query.value: must be a string of 1 to ${IDENTIFIER_MAX_LENGTH} characters or a whole number`,
  )
}

const invalid = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
