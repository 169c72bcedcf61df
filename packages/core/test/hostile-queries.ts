/** Generates malformed queries from words that queries have, for tests of the readers of searches and filters. */
import type { JsonObject, JsonValue } from '@rollcall/protocol'
import fc from 'fast-check'

const NAMES = [
  ...['surname', 'sex', 'birth_date', 'score', 'age', 'farm_size', 'programme', 'status', 'enrolment', 'UIN'],
  ...['identifier', 'identifier_type', 'identifier_value', 'name', 'name.surname', 'shoe_size'],
]
const OPERATORS = ['$eq', 'ne', '$gt', 'lte', '$in', 'nin', '$exists', '$startsWith', 'contains', '$regex']
const LOGIC = ['$and', 'or', '$not', 'NOR']
const FORMS = [
  ...['type', 'value', 'expression', 'collection', 'query', 'variables', 'expression1', 'expression2', 'condition'],
  ...['seq_num', 'attribute_name', 'operator', 'attribute_value', 'field', 'id_type', 'id_value', 'query_name'],
]
const TRAPS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '', '$', '$$eq', 'a.b.c', '\u0000']

const key = fc.constantFrom(...NAMES, ...NAMES, ...OPERATORS, ...LOGIC, ...FORMS, ...TRAPS)
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>('F', '1985-06', 'P1', 'UIN', 'expression', 'graphql', 'Person', 'and', 'eq', 'sex', ''),
  fc.constantFrom<JsonValue>(null, true, false, 0, -0, 1.5, 1e300, Number.NaN, '1e400', '\ud800'),
  fc.constantFrom<JsonValue>('{ person { surname } }', '{"sex": "F"}', '[', '{"', 'query Q { x }', ...TRAPS),
  fc.string(),
)
export const { query: hostileQuery } = fc.letrec<{ query: JsonValue }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.array(tie('query'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('query')), { minLength: 1, maxLength: 3 }).map(objectOf),
  ),
}))

/** Makes an object with own members of any names, also `__proto__`. */
export function objectOf(members: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object: JsonObject = {}
  for (const [name, value] of members) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return object
}
