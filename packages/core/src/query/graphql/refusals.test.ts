import { type JsonValue, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../../test/processor-time.ts'
import { QueryProblem } from '../query.ts'
import { readGraphql } from './graphql.ts'

function refusal(text: string, variables?: JsonValue, operationName?: string, kindName = 'social'): string {
  const kind = kindNamed(kindName)
  if (kind === undefined) throw new Error(kindName)
  const scope = { kind, recordType: undefined, limits: { query_depth: 20, query_terms: 200, query_values: 1000 } }
  try {
    readGraphql(scope, { text, variables, operationName }, 'q')
  } catch (error) {
    if (error instanceof QueryProblem) return error.message
    throw error
  }
  return 'read'
}

const repeat = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')

const ONLY_QUERIES = 'q: only query operations are answered'

describe('a query that is not understood to the last word', () => {
  it.each([
    ['', 'q: must be a GraphQL query; line 1, column 1'],
    ['{ member(UIN: "Okoro"', 'q: must be a GraphQL query; line 1, column 22'],
    ['{\n member(UIN: 1) { sex } } }', 'q: must be a GraphQL query; line 2, column 27'],
    ['{ member(UIN: "\\uD800") { sex } }', 'q: must be a GraphQL query; line 1, column 16'],
    ['{ member(UIN: "\\u0000") { sex } }', 'q: texts must have no NUL character'],
    ['mutation { member(UIN: 1) { sex } }', ONLY_QUERIES],
    ['subscription { member(UIN: 1) { sex } }', ONLY_QUERIES],
    ['type A { a: Int }', ONLY_QUERIES],
    ['{ member(UIN: 1) { sex } } mutation M { a }', ONLY_QUERIES],
    ['fragment P on Member { sex }', 'q: a fragment that is defined must be used; line 1, column 1'],
    ['{ __schema { types { name } } }', 'q.__schema: introspection is not answered'],
    ['{ __type(name: "Member") { name } }', 'q.__type: introspection is not answered'],
    ['{ farmer(UIN: 1) { sex } }', 'q.farmer: must be one of member, group'],
    ['{ constructor(UIN: 1) { sex } }', 'q.constructor: must be one of member, group'],
    [
      '{ member(UIN: 1) { sex } group(UIN: 1) { group_size } }',
      'q.group: must be of the same record type as the other root fields',
    ],
    ['{ member { sex } }', 'q.member: must have arguments that say which records are asked for'],
    ['{ member(where: {}) { sex } }', 'q.member.where: must be an object of conditions, with at least one'],
    ['{ member(UIN: null) { sex } }', 'q.member.UIN: must be a string of 1 to 256 characters or a whole number'],
    ['{ member(sex: null) { sex } }', 'q.member.sex: must not be empty: what is missing is asked for with exists'],
    ['{ member(UIN: 1e400) { sex } }', 'q.member.UIN: the number cannot be kept as it is written; write it as a string'],
    ['{ member(UIN: 1, UIN: 2) { sex } }', 'q: an argument must not be repeated; line 1, column 10'],
    ['{ member(where: {sex: F, sex: M}) { sex } }', 'q: a member must not be repeated; line 1, column 18'],
    ['{ member(UIN: 1) }', 'q.member: must select fields of Member'],
    ['{ member(UIN: 1) {} }', 'q.member: must select at least one field'],
    ['{ member(UIN: 1) { demographic_info } }', 'q.member.demographic_info: must select fields of DemographicInfo'],
    ['{ member(UIN: 1) { sex { code } } }', 'q.member.sex: must have no selection: it has no fields'],
    ['{ member(UIN: 1) { __typename { x } } }', /^q\.member\.__typename: must be a field of Member: member_identifier, /],
    ['{ member(UIN: 1) { constructor } }', /^q\.member\.constructor: must be a field of Member: member_identifier, /],
    ['{ member(UIN: 1) { a: __proto__ } }', /^q\.member\.a: must be a field of Member: member_identifier, /],
    [
      '{ member(__proto__: {a: 1}) { sex } }',
      /^q\.member\.__proto__\.a: is no attribute that this participant may ask about; those of Member are surname, /,
    ],
    ['{ member(age: {lt: "x"}) { sex } }', 'q.member.age.lt: must be a whole number of years from 0 to 1000'],
    [
      '{ member(UIN: 1) { demographic_info(sex: F) { sex } } }',
      'q.member.demographic_info: must have no arguments: conditions stand at the root field',
    ],
    ['{ member(UIN: 1) { a: sex a: surname } }', 'q.member.a: one name in the answer must mean one field'],
    [
      '{ member(UIN: 1) { sex } member(UIN: 2) { sex } }',
      'q.member: one name in the answer must have the same arguments everywhere',
    ],
    ['{ member(UIN: 1) { ... on Group { sex } } }', 'q.member: a fragment must be on Member here'],
    ['{ member(UIN: 1) { ...P } }', 'q: a fragment that is used must be defined; line 1, column 23'],
    [
      '{ member(UIN: 1) { ...P } } fragment P on Member { ...Q } fragment Q on Member { ...P }',
      'q: a fragment must not use itself; line 1, column 52',
    ],
    [
      '{ member(UIN: 1) { ...P } } fragment P on Member { sex } fragment P on Member { sex }',
      'q: two fragments must not have one name; line 1, column 38',
    ],
    [
      '{ member(UIN: 1) { sex @uppercase } }',
      'q: only the directives @include and @skip are known, on what is selected; line 1, column 24',
    ],
    ['{ member(UIN: 1) { sex @skip } }', 'q: a directive must have the argument "if"; line 1, column 24'],
    ['{ member(UIN: 1) { sex @skip(if: "Okoro") } }', 'q: a value must be of the declared type; line 1, column 34'],
    ['{ member(UIN: 1) { sex @skip(if: true, x: 1) } }', 'q: a directive must have no argument but "if"; line 1, column 40'],
    ['{ member(UIN: 1) { sex @skip(if: true) @skip(if: true) } }', 'q: a directive must not be repeated; line 1, column 24'],
    ['{ member(UIN: 1) @skip(if: true) { sex } }', 'q: must have a root field that is not skipped'],
    ['{ a: __typename }', 'q.__typename: introspection is not answered'],
    [
      '{ member(UIN: 1) { sex } } query B { member(UIN: 1) { sex } }',
      'q: an operation without a name must be the only one; line 1, column 1',
    ],
    [
      'query B { member(UIN: 1) { sex } } query B { member(UIN: 1) { sex } }',
      'q: two operations must not have one name; line 1, column 7',
    ],
    [
      'query A { member(UIN: 1) { sex } } query B { member(UIN: 1) { sex } }',
      'q: operationName must say which of the operations is asked',
    ],
  ])('%s', (text, message) => {
    if (typeof message === 'string') expect(refusal(text)).toBe(message)
    else expect(refusal(text)).toMatch(message)
  })

  it.each<[string, JsonValue | undefined, string]>([
    ['$a: Int', undefined, 'q: the variable $a must have a value'],
    ['$a: Int!', undefined, 'q: the variable $a must be Int!'],
    ['$a: Int!', { a: null }, 'q: the variable $a must be Int!'],
    ['$a: Int', { a: 'Okoro' }, 'q: the variable $a must be Int'],
    ['$a: [Int!]', { a: [1, null] }, 'q: the variable $a must be [Int!]'],
    ['$a: Int', { a: 9007199254740992 }, 'q: the variable $a must be Int'],
    ['$a: Int', { a: 1, Okoro: 2 }, 'q: variables must be declared by the operation: $a'],
    ['$a: Int', [1], 'q: variables must be an object'],
    ['$a: Int', 'a', 'q: variables must be an object'],
    ['$a: Date', { a: '1985' }, 'q: the variable $a must be Date'],
    ['$a: Int = "Okoro"', {}, 'q: a value must be of the declared type; line 1, column 19'],
    ['$a: Int, $a: Int', { a: 1 }, 'q: two variables must not have one name; line 1, column 10'],
    ['$a: Int, $b: Int', { a: 1 }, 'q: a variable that is declared must be used; line 1, column 18'],
    ['$b: Int', { b: 1 }, 'q: a variable that is used must be declared; line 1, column 32'],
  ])('variables (%s)', (declared, variables, message) => {
    const told = refusal(`query Q(${declared}) { member(UIN: $a) { sex } }`, variables)
    expect(told.replace('q.member.UIN', 'q')).toBe(message)
  })

  it('variables are own members of what is given', () => {
    const text = 'query($constructor: String) { member(UIN: $constructor) { sex } }'
    expect(refusal(text)).toBe('q.member.UIN: the variable $constructor must have a value')
    expect(refusal(text, JSON.parse('{"__proto__": "x"}'))).toBe('q: variables must be declared by the operation: $constructor')
    expect(refusal('{ member(UIN: 1) { sex } }', { a: 1 })).toBe(
      'q: variables must be declared by the operation: it declares none',
    )
  })

  it('the criteria around it name the record type too', () => {
    const kind = kindNamed('social')
    if (kind === undefined) throw new Error('social')
    const scope = { kind, recordType: kind.record_types[1], limits: { query_depth: 20, query_terms: 200, query_values: 1000 } }
    const query = { text: '{ member(UIN: 1) { sex } }', variables: undefined, operationName: undefined }
    expect(() => readGraphql(scope, query, 'q')).toThrow(
      new QueryProblem('q.member', 'must mean the same record type as the criteria around the query'),
    )
  })

  it.each([
    ['{ member(UIN: 1) { sex surname @skip(if: $x) } }', 'q.member'],
    ['{ member(UIN: 1) { sex surname @include(if: $x) } }', 'q.member'],
    ['{ member(UIN: 1) @include(if: $x) { sex } }', 'q'],
  ])('a directive whose variable is null: %s', (text, path) => {
    const message = `${path}: the argument "if" of a directive must be true or false`
    expect(refusal(`query($x: Boolean = true) ${text}`, { x: null })).toBe(message)
  })

  it('operationName is one of the operations', () => {
    expect(refusal('query A { member(UIN: 1) { sex } }', undefined, 'B')).toBe('q: operationName must name one of the operations')
  })
})

describe('a query without bounds', () => {
  it.each([
    ['10,000 aliases', `{ ${repeat(10_000, (i) => `a${i}:member(UIN:1){sex}`)} }`, 'q: must have at most 100000 characters'],
    ['many aliases', `{ ${repeat(2_000, (i) => `a${i}:member(UIN:1){sex}`)} }`, 'q: must have at most 4600 words and signs'],
    [
      'many root fields',
      `{ ${repeat(201, (i) => `a${i}:member(UIN:1){sex}`)} }`,
      'q.a200: a query must have at most 200 conditions',
    ],
    [
      'one field again and again',
      `{ member(UIN:1) { ${repeat(22, (i) => `a${i}:sex`)} } }`,
      'q.member: a query may repeat a field under another name 20 times',
    ],
    [
      'the same field',
      `{ member(UIN:1) { ${repeat(501, () => 'sex')} } }`,
      'q.member: a query must select at most 500 fields, fragments included',
    ],
    [
      'fragments that double each other',
      `{ member(UIN:1) { ...F0 } } ${repeat(40, (i) => `fragment F${i} on Member { demographic_info { sex } ...F${i + 1} ... { ...F${i + 1} } }`)} fragment F40 on Member { sex }`,
      'read',
    ],
    [
      'fields that double each other',
      `{ group(UIN:1) { ${repeat(2, (i) => `a${i}: group_head_info { ...M }`)} } } fragment M on Member { ${repeat(3, (i) => `b${i}: related_person { ${repeat(40, (j) => `c${i}${j}: relationship_type`)} }`)} }`,
      'q.group.a0.b0: a query may repeat a field under another name 20 times',
    ],
    [
      'many fragments',
      `{ member(UIN:1) { ...F0 } } ${repeat(50, (i) => `fragment F${i} on Member { sex }`)}`,
      'q: must have at most 50 operations and fragments',
    ],
    ['braces', '{a'.repeat(40_000), 'q: must be nested at most 50 levels deep'],
    ['brackets', `{member(a:${'['.repeat(90_000)}`, 'q: must be nested at most 50 levels deep'],
    ['parentheses', '('.repeat(90_000), 'q: must be nested at most 50 levels deep'],
    [
      'objects',
      `{ member(not: ${'{not:'.repeat(30)}{sex:F}${'}'.repeat(30)}) { sex } }`,
      `q.member.${Array(20).fill('not').join('.')}: must not be nested deeper than 20 levels`,
    ],
    [
      'a list',
      `{ member(UIN: {in: [${repeat(1_001, (i) => `${i}`)}]}) { sex } }`,
      'q.member.UIN.in: a query must have at most 1000 values in its lists',
    ],
    ['a long name', `{ ${'a'.repeat(65)} }`, 'q: names must have at most 64 characters'],
    ['a long text', `{ member(UIN: "${'x'.repeat(100_000)}") { sex } }`, 'q: must have at most 100000 characters'],
    [
      'digits',
      `{ member(UIN: ${'9'.repeat(90_000)}) { sex } }`,
      'q.member.UIN: the number cannot be kept as it is written; write it as a string',
    ],
    [
      'directives',
      `{ member(UIN: 1) { sex ${repeat(1_000, () => '@skip(if:true)')} } }`,
      'q: must have at most 4600 words and signs',
    ],
  ])('%s', (_, text, message) => {
    // The first time is the engine's, which compiles what it runs.
    refusal(text)
    const started = processorTime()
    expect(refusal(text)).toBe(message)
    expect(processorTime() - started).toBeLessThan(1_000)
  })
})
