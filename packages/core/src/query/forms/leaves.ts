/** Makes a single condition from a subject, an operator and a value. */

import {
  type Attribute,
  type AttributeType,
  anyIdentifierType,
  IDENTIFIER_MAX_LENGTH,
  type IdentifierType,
  identifierValue,
  isOfForm,
  type JsonValue,
  readLiteral,
  resolveIdentifierType,
  type Searchable,
} from '@rollcall/protocol'
import type { Comparator, ElementList, Literal, Predicate } from '../../model/predicate.ts'
import type { Identifier } from '../../model/records.ts'
import { IdentifierProblem, QueryProblem } from '../query.ts'
import type { QueryReader } from './reader.ts'

/** The type of the subject of a condition: the type of an attribute, or `identifier`. Identifiers have no order. */
export type ConditionSubjectType = AttributeType | 'identifier'

/** The form of identifier values, in words for refusals, by the normaliser of their type. Used for types without patterns. */
const IDENTIFIER_FORM_HINTS: Readonly<Partial<Record<IdentifierType['normaliser'], string>>> = {
  phone: 'a telephone number',
  email: 'an e-mail address',
}

/** For each type of subject, the rule for its values, in words for refusals. */
const VALUE_RULE_BY_TYPE: Readonly<Record<ConditionSubjectType, string>> = {
  text: 'text of 1 to 512 characters',
  code: 'a code of 1 to 512 characters',
  date: 'a date such as 1985, 1985-06, 1985-06-12 or 12.06.1985',
  datetime: 'a date, or an instant such as 2024-06-30T12:00:00Z',
  number: 'a number that a double can hold as it is written',
  boolean: 'true or false',
  age: 'a whole number of years from 0 to 1000',
  identifier: `a string of 1 to ${IDENTIFIER_MAX_LENGTH} characters or a whole number`,
}

/** The subject of a condition, and the conditions that can be made about it. */
export interface ConditionSubject {
  /** The name of the subject, for refusals. */
  readonly name: string
  readonly type: ConditionSubjectType
  /** The list whose elements have the subject; undefined when the record has it. */
  readonly list: ElementList | undefined
  /** Makes a comparison. Call it only with comparators that the type allows. */
  readonly compare: (comparator: Comparator, value: JsonValue, path: string) => Predicate
  /** Makes a predicate that is true when the subject equals one of the values. */
  readonly among: (values: readonly ValueWithPath[]) => Predicate
  readonly exists: Predicate
}

/** A value in a query, with the path of the value for refusals. */
export interface ValueWithPath {
  readonly value: JsonValue
  readonly path: string
}

/** Everything that a query can name, except a compound as a whole: operators are about its members. */
export type SearchableLeaf = Exclude<Searchable, { is: 'compound' }>

/** The subject of a condition about this attribute, these identifiers, or identifier types. */
export function conditionSubjectOf(reader: QueryReader, about: SearchableLeaf): ConditionSubject {
  switch (about.is) {
    case 'attribute':
      return attributeConditionSubject(about.attribute, about.attribute.many ? about.attribute : undefined)
    case 'member':
      return attributeConditionSubject(about.attribute, about.compound)
    case 'identifier':
      return identifierConditionSubject(about.types)
    case 'identifier_type':
      return identifierTypeSubject(reader)
  }
}

function attributeConditionSubject(attribute: Attribute, list: ElementList | undefined): ConditionSubject {
  return {
    name: attribute.name,
    type: attribute.type,
    list,
    compare: (operator, value, path) => {
      const part = operator === 'starts_with' || operator === 'contains'
      const literal = readAttributeValue(attribute, { value, path }, part)
      if (operator === 'eq') checkNoWildcard(attribute, literal, path)
      return { is: 'compare', attribute, operator, value: literal }
    },
    among: (values) => {
      const literals = new Map(
        values.map((given) => {
          const literal = readAttributeValue(attribute, given)
          checkNoWildcard(attribute, literal, given.path)
          // The map removes equal values. Values of one attribute have one type, so different values have different texts.
          return [typeof literal === 'object' ? `${literal.from} ${literal.to}` : String(literal), literal]
        }),
      )
      return { is: 'in', attribute, values: [...literals.values()] }
    },
    exists: { is: 'exists', attribute },
  }
}

/**
 * Reads a value by the type of its attribute.
 * @param part true: the value is only a part of a text, for `starts_with` and `contains`
 * @throws QueryProblem the value is missing or has another type
 */
function readAttributeValue(attribute: Attribute, { value, path }: ValueWithPath, part = false): Literal {
  if (value === null || value === '') {
    throw new QueryProblem(path, 'must not be empty: what is missing is asked for with exists')
  }
  const literal = readLiteral(attribute, value, part)
  if (literal !== null && (typeof literal !== 'string' || isStorableText(literal))) return literal
  throw new QueryProblem(path, `must be ${VALUE_RULE_BY_TYPE[attribute.type]}`)
}

/** True when a record can have the text: no record has a NUL character or a lone surrogate. */
const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** A word with a star before or after it. Stored texts rarely have stars, so the search would find nothing. */
const WILDCARD_PATTERN = /^(?:\*[\p{L}\p{M}\p{N}]+\*?|[\p{L}\p{M}\p{N}]+\*)$/u

/** Refuses a star that is meant for other characters. @throws QueryProblem */
function checkNoWildcard({ type }: Attribute, literal: Literal, path: string): void {
  if (type !== 'text' || typeof literal !== 'string' || !WILDCARD_PATTERN.test(literal)) return
  throw new QueryProblem(path, 'must not have "*" for other characters: ask with $startsWith or $contains')
}

function identifierConditionSubject(types: readonly IdentifierType[]): ConditionSubject {
  const names = types.map(({ name }) => name)
  const hasIdentifier = (values: readonly ValueWithPath[]): Predicate => {
    const identifiers = new Map(
      values.flatMap((given) => readIdentifiers(types, given)).map((one) => [`${one.type} ${one.value}`, one]),
    )
    return { is: 'identifier', identifiers: [...identifiers.values()] }
  }
  return {
    name: names.length === 1 ? names.join() : 'identifiers',
    type: 'identifier',
    list: undefined,
    compare: (_, value, path) => hasIdentifier([{ value, path }]),
    among: hasIdentifier,
    exists: { is: 'identifier_type', types: names },
  }
}

/** Reads a value as an identifier of each type that allows it. @throws IdentifierProblem no type does */
export function readIdentifiers(types: readonly IdentifierType[], { value, path }: ValueWithPath): Identifier[] {
  const identifiers = types.flatMap((type) => {
    const normalised = identifierValue(type, value)
    return normalised === null || !isOfForm(type, normalised) ? [] : [{ type: type.name, value: normalised }]
  })
  if (identifiers.length > 0) return identifiers
  throw new IdentifierProblem(path, `must be ${VALUE_RULE_BY_TYPE.identifier}${identifierFormRuleText(types)}`)
}

/** The form of the values, in words for a refusal, if it is the same for all these types; otherwise an empty text. */
function identifierFormRuleText(types: readonly IdentifierType[]): string {
  const forms = new Set(
    types.map(({ normaliser, patterns }) =>
      patterns === undefined ? IDENTIFIER_FORM_HINTS[normaliser] : `of the form ${patterns.join(' or ')}`,
    ),
  )
  const [form] = forms
  return forms.size === 1 && form !== undefined ? `, and ${form}` : ''
}

function identifierTypeSubject({ kind }: QueryReader): ConditionSubject {
  const read = ({ value, path }: ValueWithPath): string => readIdentifierType(kind, value, path).name
  return {
    name: 'identifier_type',
    type: 'identifier',
    list: undefined,
    compare: (_, value, path) => ({ is: 'identifier_type', types: [read({ value, path })] }),
    among: (values) => ({ is: 'identifier_type', types: [...new Set(values.map(read))] }),
    exists: { is: 'identifier_type', types: anyIdentifierType(kind).map(({ name }) => name) },
  }
}

/** Reads the name of an identifier type in a query. @throws IdentifierProblem the kind has no such type */
export function readIdentifierType(kind: QueryReader['kind'], value: JsonValue | undefined, path: string): IdentifierType {
  const type = typeof value === 'string' ? resolveIdentifierType(kind, value) : undefined
  if (type !== undefined) return type
  const known = kind.identifier_types.map(({ name }) => name).join(', ')
  throw new IdentifierProblem(path, `must be one of ${known}`)
}
