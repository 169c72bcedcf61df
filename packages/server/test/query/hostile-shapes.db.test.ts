/** Queries of broken shapes, with names that are none, and orders and pages that are none. */
import { describe, it } from 'vitest'
import { ANYBODY, compared, ELEMENT, EXPRESSION, hostileTarget, inExpression, inList, SECRET, typed } from './hostile.ts'

const target = hostileTarget()

describe('names and shapes', () => {
  it.each<[name: string, criteria: object, message: string | RegExp]>([
    [
      'an unknown attribute',
      inExpression({ shoe_size: 9 }),
      /\.query\.shoe_size: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      '__proto__',
      inExpression(JSON.parse('{"__proto__": 1}')),
      /\.query\.__proto__: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      'constructor',
      inExpression({ constructor: 'Object' }),
      /\.query\.constructor: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      'toString',
      inExpression({ toString: 'Object' }),
      /\.query\.toString: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      'an operator without an attribute',
      inExpression({ $eq: 5 }),
      /\.query\.\$eq: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      'a comment',
      inExpression({ ...ANYBODY, $comment: SECRET }),
      /\.query\.\$comment: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    ['an empty query', inExpression({}), `${EXPRESSION}: must be an object of conditions, with at least one`],
    ['an empty $and', inExpression({ $and: [] }), `${EXPRESSION}.$and: must have at least one condition`],
    ['an empty $or', inExpression({ $or: [] }), `${EXPRESSION}.$or: must have at least one condition`],
    ['an empty $nor', inExpression({ $nor: [] }), `${EXPRESSION}.$nor: must have at least one condition`],
    ['$and of text', inExpression({ $and: SECRET }), `${EXPRESSION}.$and: must be an array of conditions`],
    ['$and of texts', inExpression({ $and: [SECRET] }), `${EXPRESSION}.$and[0]: must be an object of conditions`],
    ['$not of text', inExpression({ $not: SECRET }), `${EXPRESSION}.$not: must be an object of conditions`],
    [
      'an empty condition beside a good one',
      inExpression({ $and: [ANYBODY, {}] }),
      `${EXPRESSION}.$and[1]: must be an object of conditions, with at least one`,
    ],
    [
      'an array for a value',
      inExpression({ surname: [SECRET] }),
      `${EXPRESSION}.surname: must be one value; one of several is asked for with {"$in": [...]}`,
    ],
    ['a query that is null', inExpression(null), `${EXPRESSION}: must be an object of conditions`],
    [
      'an unknown collection',
      { query_type: 'expression', query: typed('expression', { collection: SECRET, query: ANYBODY }) },
      'search_criteria.query.value.expression.collection: must be one of Person',
    ],
    [
      'a collection that is a number',
      { query_type: 'expression', query: typed('expression', { collection: 5, query: ANYBODY }) },
      'search_criteria.query.value.expression.collection: must be one of Person',
    ],
    [
      'a member beside the query',
      { query_type: 'expression', query: typed('expression', { query: ANYBODY, limit: 1 }) },
      'search_criteria.query.value.expression.limit: is not a known member; known members are query, collection, variables, operationName',
    ],
    [
      'SQL',
      { query_type: 'expression', query: typed('Sql', `select ${SECRET}`) },
      'search_criteria.query.type: SQL is not answered; ask with expression, predicate or graphql',
    ],
    ['no query', { query_type: 'expression' }, 'search_criteria.query: must be an object or an array'],
    ['an empty list', inList(), 'search_criteria.query: must be an array of {expression1, ...}, with at least one'],
    ['a list of texts', inList(SECRET), `${ELEMENT}: must be an object {seq_num, expression1, condition, expression2}`],
    [
      'an element with nothing',
      inList({}),
      `${ELEMENT}.expression1: must be an object {attribute_name, operator, attribute_value}`,
    ],
    [
      'an element with another member',
      inList({ ...compared('sex', 'eq', 'F'), expression3: SECRET }),
      `${ELEMENT}.expression3: is not a known member; known members are seq_num, expression1, condition, expression2`,
    ],
    [
      'a condition without expression2',
      inList({ ...compared('sex', 'eq', 'F'), condition: 'and' }),
      `${ELEMENT}.expression2: must be given where a condition is`,
    ],
    [
      'expression2 without a condition',
      inList({ ...compared('sex', 'eq', 'F'), expression2: compared('sex', 'eq', 'F').expression1 }),
      `${ELEMENT}.condition: must be one of and, or, not where expression2 is given`,
    ],
    [
      'another condition',
      inList({ ...compared('sex', 'eq', 'F'), condition: 'xor', expression2: compared('sex', 'eq', 'F').expression1 }),
      `${ELEMENT}.condition: must be one of and, or, not where expression2 is given`,
    ],
    [
      'expression2 without expression1',
      inList({ condition: 'and', expression2: compared('sex', 'eq', 'F').expression1 }),
      `${ELEMENT}.expression1: must be an object {attribute_name, operator, attribute_value}`,
    ],
    [
      'a seq_num that is text',
      inList({ seq_num: SECRET, ...compared('sex', 'eq', 'F') }),
      `${ELEMENT}.seq_num: must be a number`,
    ],
    [
      'no operator',
      inList(compared('sex', undefined, 'F')),
      `${ELEMENT}.expression1.operator: must be an operator of sex: eq, ne, in, nin, exists`,
    ],
    [
      'an operator that is an object',
      inList(compared('sex', { eq: 1 }, 'F')),
      `${ELEMENT}.expression1.operator: must be an operator of sex: eq, ne, in, nin, exists`,
    ],
    [
      'no value',
      inList(compared('sex', 'eq', undefined)),
      `${ELEMENT}.expression1.attribute_value: must not be empty: what is missing is asked for with exists`,
    ],
    [
      'a list for eq',
      inList(compared('sex', 'eq', [SECRET])),
      `${ELEMENT}.expression1.attribute_value: must be a code of 1 to 512 characters`,
    ],
    [
      'an attribute that is a number',
      inList(compared(5, 'eq', 'F')),
      /^search_criteria\.query\[0\]\.expression1\.attribute_name: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    [
      'an unknown identifier type',
      { query_type: 'idtype-value', query: { type: 'SHOE', value: SECRET } },
      /^search_criteria\.query\.type: must be one of UIN, /,
    ],
    [
      'an unknown identifier type in an expression',
      inExpression({ identifier: { identifier_type: SECRET, identifier_value: '1' } }),
      /\.identifier\.identifier_type: must be one of UIN, /,
    ],
    [
      'an identifier that is empty',
      inExpression({ UIN: '' }),
      `${EXPRESSION}.UIN: must be a string of 1 to 256 characters or a whole number`,
    ],
    [
      'an identifier that is an array',
      inExpression({ UIN: { $eq: [SECRET] } }),
      `${EXPRESSION}.UIN.$eq: must be a string of 1 to 256 characters or a whole number`,
    ],
    [
      'an identifier that lost its value',
      { query_type: 'idtype-value', query: { identifier_type: 'UIN' } },
      'search_criteria.query: must have an identifier value beside its type',
    ],
    [
      'an identifier that lost its value, in the older spelling',
      { query_type: 'idtype-value', query: { type: 'idtype-value', value: { id_type: 'UIN' } } },
      'search_criteria.query.value: must have an identifier value beside its type',
    ],
    [
      'the enrolled form with no operator',
      { query_type: 'expression', query: { person_identifier: {} } },
      'search_criteria.query.person_identifier: must be an object of conditions, with at least one',
    ],
    [
      'the enrolled form with an unknown attribute',
      { query_type: 'expression', query: { shoe_size: { eq: 9 } } },
      /^search_criteria\.query\.shoe_size: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
  ])('%s', async (_name, criteria, message) => target.expectRefused(criteria, message))
})

describe('texts that are neither GraphQL nor JSON', () => {
  it.each<[text: string, message: string | RegExp]>([
    [SECRET, `${EXPRESSION}: must be GraphQL or JSON text`],
    ['', `${EXPRESSION}: must be GraphQL or JSON text`],
    [`{"surname": "${SECRET}"`, /: must be JSON that can be read: surname: not JSON: "," or "\}" is expected at character 21$/],
    [`{"surname": ${SECRET}}`, /: must be JSON that can be read: surname: not JSON: a value is expected at character 13$/],
  ])('%s', async (text, message) => target.expectRefused(inExpression(text), message, 'rjct.filter.invalid'))
})

describe('order and pages', () => {
  const query = inExpression(ANYBODY)
  it.each<[sort: unknown, message: string | RegExp]>([
    [[{ attribute_name: 'shoe_size' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of surname, /],
    [[{ attribute_name: 'marriage_date' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of surname, /],
    [
      [{ attribute_name: 'age' }, { attribute_name: SECRET }],
      /^search_criteria\.sort\[1\]\.attribute_name: must be one of surname, /,
    ],
    [[{ attribute_name: 'BRN' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of surname, /],
    [[{ attribute_name: '__proto__' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of surname, /],
    [
      [{ attribute_name: 'surname' }, { attribute_name: 'last_name', sort_order: 'desc' }],
      'search_criteria.sort[1].attribute_name: repeats an earlier one',
    ],
    [[{ attribute_name: 'surname', sort_order: SECRET }], 'search_criteria.sort[0].sort_order: must be asc or desc'],
    [{ attribute_name: 'surname' }, 'search_criteria.sort: must be an array'],
    [[SECRET], 'search_criteria.sort[0]: must be an object'],
    [
      [{ attribute_name: 'surname', order: 'desc' }],
      'search_criteria.sort[0]: has a member that is not known; known are attribute_name, sort_order',
    ],
  ])('sort %j', async (sort, message) => target.expectRefused({ ...query, sort }, message, 'rjct.sort.invalid'))

  it('a page beyond the cap', async () => {
    const pagination = { page_size: 100, page_number: 101 }
    const message = 'search_criteria.pagination.page_number: must be at most 100 with this page_size'
    await target.expectRefused({ ...query, pagination }, message, 'rjct.pagination.invalid')
  })
})
