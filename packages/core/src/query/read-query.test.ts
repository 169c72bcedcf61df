import type { JsonValue } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../test/processor-time.ts'
import { KIND, SCOPE, shown } from '../../test/query-kind.ts'
import { QueryTextProblem } from './query.ts'
import { readQuery } from './read-query.ts'

const [PERSON, GROUP] = KIND.record_types
const COMPARISON = { attribute_name: 'sex', operator: 'eq', attribute_value: 'F' }
const typed = (value: JsonValue, type = 'ns:org:QueryType:expression') => ({ type, value })

function read(query: unknown, query_type = 'expression', recordType: typeof GROUP = undefined): string {
  const { predicate, recordType: meant, shape } = readQuery({ ...SCOPE, recordType }, query_type, query, 'query')
  return `${meant === PERSON ? '' : `${meant.name}: `}${shown(predicate)}${shape === undefined ? '' : ', shaped'}`
}

const refusal = (query: unknown, query_type: unknown = 'expression', recordType = SCOPE.recordType) => {
  return () => readQuery({ ...SCOPE, recordType }, query_type, query, 'search_criteria.query')
}

describe('the shape says which form it is, whatever query_type says', () => {
  const forms: readonly (readonly [unknown, string])[] = [
    [{ type: 'UIN', value: '007' }, 'bears UIN 007'],
    [{ type: 'ns:org:IdentifierType:uin', value: 7 }, 'bears UIN 7'],
    [{ identifier_type: 'BIRTH_REG_NO', identifier_value: 'x' }, 'bears BRN X'],
    [{ field: 'UIN', operator: '=', value: '007' }, 'bears UIN 007'],
    [{ type: 'idtype-value', value: { id_type: 'UIN', id_value: '007' } }, 'bears UIN 007'],
    [{ type: 'idtype', value: { identifier_type: 'UIN', identifier_value: '007' } }, 'bears UIN 007'],
    [[{ expression1: COMPARISON }], 'sex eq "female"'],
    [{ expression1: COMPARISON }, 'sex eq "female"'],
    [typed([{ expression1: COMPARISON }], 'predicate'), 'sex eq "female"'],
    [typed([{ expression1: COMPARISON }]), 'sex eq "female"'],
    [typed({ expression1: COMPARISON }, 'predicate'), 'sex eq "female"'],
    [typed({ expression: { collection: 'Person', query: { sex: 'F' } } }), 'sex eq "female"'],
    [typed({ expression: { collection: 'x:Household', query: { sex: 'F' } } }, 'NoSql'), 'Group: sex eq "female"'],
    [typed({ expression: { query: { sex: 'F' } } }, 'ns:org:QueryType:graphql'), 'sex eq "female"'],
    [typed({ expression: { sex: 'F' } }), 'sex eq "female"'],
    [typed({ expression: { $or: [{ sex: 'F' }, { score: 1 }] } }), 'or(sex eq "female", score eq 1)'],
    [typed({ expression: [{ expression1: COMPARISON }] }), 'sex eq "female"'],
    [typed({ collection: 'Group', query: { sex: 'F' } }), 'Group: sex eq "female"'],
    [typed({ query: { sex: 'F' } }), 'sex eq "female"'],
    [typed({ sex: 'F' }), 'sex eq "female"'],
    [{ collection: 'Group', query: { sex: 'F' } }, 'Group: sex eq "female"'],
    [{ query: { sex: 'F' } }, 'sex eq "female"'],
    [{ expression: { query: { sex: 'F' } } }, 'sex eq "female"'],
    [COMPARISON, 'sex eq "female"'],
    [{ sex: { eq: 'F' } }, 'sex eq "female"'],
    [{ identifier_type: 'UIN', identifier_value: 'x', sex: 'F' }, 'and(bears UIN X, sex eq "female")'],
    [{ person_identifier: { eq: '7-x' } }, 'bears UIN 7-X or BRN 7-X or * 7-X'],
  ]
  it.each(forms)('%j', (query, tree) => {
    for (const query_type of ['expression', 'idtype-value', 'PREDICATE', 'idtype']) {
      expect(read(query, query_type)).toBe(tree)
    }
  })
})

describe('texts', () => {
  const text = '{ person(sex: "F") { surname } }'
  const json = '{"collection": "Person", "query": {"sex": {"$eq": "F"}}}'
  it.each<[unknown, string, string]>([
    [typed({ expression: text }, 'ns:org:QueryType:GraphQl'), 'graphql', 'sex eq "female", shaped'],
    [typed({ expression: text }, 'ns:org:QueryType:graphql'), 'expression', 'sex eq "female", shaped'],
    [typed({ expression: text }), 'expression', 'sex eq "female", shaped'],
    [typed({ expression: `query Q ${text}` }), 'expression', 'sex eq "female", shaped'],
    [typed(text, 'graphql'), 'graphql', 'sex eq "female", shaped'],
    [text, 'graphql', 'sex eq "female", shaped'],
    [{ query: text }, 'graphql', 'sex eq "female", shaped'],
    [
      { query: 'query Q($s: String) { person(sex: $s) { surname } }', variables: { s: 'M' }, operationName: 'Q' },
      'graphql',
      'sex eq "male", shaped',
    ],
    [typed({ expression: json }), 'expression', 'sex eq "female"'],
    [typed({ expression: ` ${json}` }, 'NoSql'), 'expression', 'sex eq "female"'],
    [
      typed({ expression: '[{"expression1": {"attribute_name": "sex", "operator": "eq", "attribute_value": "F"}}]' }),
      'predicate',
      'sex eq "female"',
    ],
    [json, 'expression', 'sex eq "female"'],
  ])('%j', (query, query_type, tree) => {
    expect(read(query, query_type)).toBe(tree)
  })

  it.each<[unknown, string, string | RegExp]>([
    ['UIN=007', 'expression', 'search_criteria.query: must be GraphQL or JSON text'],
    [
      typed({ expression: 'select * from person' }),
      'expression',
      'search_criteria.query.value.expression: must be GraphQL or JSON text',
    ],
    [typed({ expression: '' }), 'expression', 'search_criteria.query.value.expression: must be GraphQL or JSON text'],
    [
      typed({ expression: '{"sex": "F", "sex": "M"}' }),
      'expression',
      /^search_criteria\.query\.value\.expression: must be JSON that can be read: sex: the member name occurs twice/,
    ],
    [
      typed({ expression: '{"sex": 1e400}' }),
      'expression',
      /^search_criteria\.query\.value\.expression: must be JSON that can be read: sex: /,
    ],
    [
      typed({ expression: `${'['.repeat(1_000)}` }),
      'expression',
      /^search_criteria\.query\.value\.expression: must be JSON that can be read: .*nested deeper than 64 levels$/,
    ],
    [
      typed({ expression: '{}' }),
      'expression',
      'search_criteria.query.value.expression: must be an object of conditions, with at least one',
    ],
    [{ query: { sex: 'F' }, variables: {} }, 'graphql', 'search_criteria.query.variables: may stand beside a GraphQL text alone'],
    [
      typed({ expression: { sex: 'F' }, operationName: 'Q' }),
      'graphql',
      'search_criteria.query.value.operationName: may stand beside a GraphQL text alone',
    ],
    [{ query: text, operationName: 5 }, 'graphql', 'search_criteria.query.operationName: must be a string'],
    ['{ nobody { surname } }', 'graphql', /^search_criteria\.query/],
  ])('%j is refused', (query, query_type, message) => {
    expect(refusal(query, query_type)).toThrow(
      expect.objectContaining({
        name: 'QueryProblem',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    )
  })
})

it('a JSON text of millions of values is not read to its end', () => {
  const started = processorTime()
  const problem = new QueryTextProblem('search_criteria.query', 'must be JSON that can be read: must have at most 10000 values')
  expect(refusal(`[${'0,'.repeat(4_000_000)}0]`, 'predicate')).toThrow(problem)
  expect(processorTime() - started).toBeLessThan(1_000)
})

describe('the record type', () => {
  it('of the criteria counts, and the collection must mean it', () => {
    expect(read({ sex: 'F' }, 'expression', GROUP)).toBe('Group: sex eq "female"')
    expect(read({ collection: 'Household', query: { sex: 'F' } }, 'expression', GROUP)).toBe('Group: sex eq "female"')
    expect(refusal({ collection: 'Person', query: { sex: 'F' } }, 'expression', GROUP)).toThrow(
      'search_criteria.query.collection: must mean the same record type as the criteria around the query',
    )
    const twice = { collection: 'Person', query: { collection: 'Group', query: { sex: 'F' } } }
    expect(refusal(twice)).toThrow(
      'search_criteria.query.query.collection: must mean the same record type as the criteria around the query',
    )
  })

  it('says which attributes there are', () => {
    expect(refusal({ collection: 'Group', query: { programme: 'P1' } })).toThrow(
      /^search_criteria\.query\.query\.programme: is no attribute that this participant may ask about; those of Group are surname, sex, /,
    )
  })
})

describe('what is refused', () => {
  const types = 'must be one of UIN, BRN, MOBILE'
  const value = 'must be a string of 1 to 256 characters or a whole number'
  const known = 'must be an identifier type, expression, NoSql, predicate or graphql'
  const shape = 'search_criteria.query: must be an object or an array'
  it.each<[unknown, string | RegExp]>([
    [{ value: { expression: { query: { sex: 'F' } } } }, `search_criteria.query.type: ${known}`],
    [{ value: '007' }, `search_criteria.query.type: ${types}`],
    [{ value: '007', sex: 'F' }, 'search_criteria.query.sex: is not a known member; known members are value, type'],
    [undefined, shape],
    [null, shape],
    [true, shape],
    [5, shape],
    [{}, 'search_criteria.query: must be an object of conditions, with at least one'],
    [[], 'search_criteria.query: must be an array of {expression1, ...}, with at least one'],
    [[{ sex: 'F' }], /^search_criteria\.query\[0\]\.sex: is not a known member/],
    [{ type: 'SHOE', value: '9' }, `search_criteria.query.type: ${types}`],
    [{ type: '__proto__', value: '9' }, `search_criteria.query.type: ${types}`],
    [{ type: 5, value: '9' }, `search_criteria.query.type: ${types}`],
    [{ type: 'SHOE', value: {} }, `search_criteria.query.type: ${known}`],
    [{ type: null, value: [] }, `search_criteria.query.type: ${known}`],
    [{ type: 'UIN' }, `search_criteria.query.value: ${value}`],
    [{ type: 'UIN', value: null }, `search_criteria.query.value: ${value}`],
    [{ type: 'UIN', value: ['007'] }, `search_criteria.query.value: ${value}`],
    [{ type: 'UIN', value: { sex: 'F' } }, `search_criteria.query.value: ${value}`],
    [{ type: 'MOBILE', value: 'none' }, `search_criteria.query.value: ${value}, and a telephone number`],
    [{ type: 'expression', value: 5 }, `search_criteria.query.type: ${types}`],
    [{ type: 'UIN', value: '007', sex: 'F' }, 'search_criteria.query.sex: is not a known member; known members are type, value'],
    [
      { type: 'UIN', value: '007', constructor: 1 },
      'search_criteria.query.constructor: is not a known member; known members are type, value',
    ],
    [
      JSON.parse('{"type": "UIN", "value": "7", "__proto__": {}}'),
      'search_criteria.query.__proto__: is not a known member; known members are type, value',
    ],
    [{ field: 'UIN', operator: 'gt', value: '0' }, 'search_criteria.query.operator: must be eq'],
    [{ field: 'sex', operator: 'eq', value: 'F' }, `search_criteria.query.field: ${types}`],
    [{ type: 'idtype-value', value: { id_type: 'SHOE', id_value: '9' } }, `search_criteria.query.value.id_type: ${types}`],
    [
      { type: 'idtype-value', value: { id_type: 'UIN', id_value: '9', x: 1 } },
      'search_criteria.query.value.x: is not a known member; known members are id_type, id_value',
    ],
    [{ type: 'idtype-value', value: '007' }, `search_criteria.query.type: ${types}`],
    [
      typed({ expression: { query: { sex: 'F' } } }, 'ns:org:QueryType:Sql'),
      'search_criteria.query.type: SQL is not answered; ask with expression, predicate or graphql',
    ],
    [
      typed({ expression: 'select 1' }, 'SQL'),
      'search_criteria.query.type: SQL is not answered; ask with expression, predicate or graphql',
    ],
    [typed({ expression: {} }), 'search_criteria.query.value.expression: must be an object of conditions, with at least one'],
    [typed({ expression: null }), 'search_criteria.query.value.expression: must be an object of conditions'],
    [
      typed({ expression: { query: {} } }),
      'search_criteria.query.value.expression.query: must be an object of conditions, with at least one',
    ],
    [
      typed({ expression: { collection: 'Shoe', query: { sex: 'F' } } }),
      'search_criteria.query.value.expression.collection: must be one of Person, Group',
    ],
    [
      typed({ expression: { collection: 5, query: { sex: 'F' } } }),
      'search_criteria.query.value.expression.collection: must be one of Person, Group',
    ],
    [
      typed({ expression: { collection: 'Person', query: { sex: 'F' }, limit: 5 } }),
      /^search_criteria\.query\.value\.expression\.limit: is not a known member; known members are query, collection, /,
    ],
    [
      typed({ expression: { collection: 'Person' } }),
      /^search_criteria\.query\.value\.expression\.collection: is no attribute that this participant may ask about; those of Person are /,
    ],
    [
      { query_name: 'all', query_params: [] },
      'search_criteria.query: named queries are not answered; ask with expression, predicate or graphql',
    ],
    [{ attribute_name: 'sex' }, /^search_criteria\.query\.operator: must be an operator of sex: eq, /],
    [
      { shoe_size: { eq: 9 } },
      /^search_criteria\.query\.shoe_size: is no attribute that this participant may ask about; those of Person are /,
    ],
  ])('%j', (query, message) => {
    expect(refusal(query)).toThrow(
      expect.objectContaining({
        name: 'QueryProblem',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    )
  })

  it.each([[undefined], [null], [5], ['namedQuery'], ['sql'], ['__proto__'], ['']])('query_type %j', (query_type) => {
    const query = { type: 'UIN', value: '7' }
    expect(() => readQuery(SCOPE, query_type, query, 'search_criteria.query')).toThrow(
      expect.objectContaining({
        name: 'QueryProblem',
        path: 'search_criteria.query_type',
        rule: 'must be one of idtype-value, expression, predicate, graphql',
      }),
    )
  })

  it('forms within forms without end', () => {
    let query: object = { sex: 'F' }
    for (let level = 0; level < 1_000; level++) query = { expression: query }
    expect(refusal(query)).toThrow(/: must not be nested deeper than 20 levels$/)
  })
})
