/** GraphQL that means harm, and GraphQL that is none. */
import { describe, expect, it } from 'vitest'
import { escaped, GRAPHQL, hostileTarget, inGraphql, SECRET } from './hostile.ts'

const target = hostileTarget()

describe('graphql', () => {
  const fields = (count: number, field: (at: number) => string) => Array.from({ length: count }, (_, at) => field(at)).join(' ')
  it.each<[name: string, text: unknown, message: string | RegExp, code?: string]>([
    ['introspection', '{ __schema { types { name } } }', `${GRAPHQL}.__schema: introspection is not answered`],
    ['__type', '{ __type(name: "Person") { name } }', `${GRAPHQL}.__type: introspection is not answered`],
    ['__typename alone', '{ __typename }', `${GRAPHQL}.__typename: introspection is not answered`],
    ['a mutation', 'mutation { person(UIN: "1") { sex } }', `${GRAPHQL}: only query operations are answered`],
    ['a subscription', 'subscription { person(UIN: "1") { sex } }', `${GRAPHQL}: only query operations are answered`],
    ['a definition', 'type Person { sex: String }', `${GRAPHQL}: only query operations are answered`],
    [
      '10,000 aliases',
      `{ person(UIN: "1") { ${fields(10_000, (at) => `a${at}: sex`)} } }`,
      /: must have at most \d+ (characters|words and signs)$/,
    ],
    [
      '10,000 root fields',
      `{ ${fields(10_000, (at) => `a${at}: person(UIN: "1") { sex }`)} }`,
      /: must have at most \d+ (characters|words and signs)$/,
    ],
    [
      'fragments in a circle',
      '{ person(UIN: "1") { ...A } } fragment A on Person { ...B } fragment B on Person { ...A }',
      `${GRAPHQL}: a fragment must not use itself; line 1, column 54`,
    ],
    [
      'a fragment of itself',
      '{ person(UIN: "1") { ...A } } fragment A on Person { ...A }',
      `${GRAPHQL}: a fragment must not use itself; line 1, column 54`,
    ],
    [
      'an unknown fragment',
      '{ person(UIN: "1") { ...Nobody } }',
      `${GRAPHQL}: a fragment that is used must be defined; line 1, column 25`,
    ],
    [
      'an unknown root field',
      `{ ${SECRET}s(UIN: "1") { sex } }`.replace(SECRET, 'farmer'),
      `${GRAPHQL}.farmers: must be one of person`,
    ],
    [
      'an unknown argument',
      '{ person(shoe_size: 9) { sex } }',
      /\.person\.shoe_size: is no attribute that this participant may ask about; those of Person are surname, /,
    ],
    ['no argument', '{ person { sex } }', `${GRAPHQL}.person: must have arguments that say which records are asked for`],
    [
      'an empty argument',
      '{ person(birth_date: {}) { sex } }',
      `${GRAPHQL}.person.birth_date: must be an object of operators, with at least one`,
    ],
    [
      'a null argument',
      '{ person(surname: null) { sex } }',
      `${GRAPHQL}.person.surname: must not be empty: what is missing is asked for with exists`,
    ],
    [
      'a variable without a value',
      'query($n: String) { person(surname: $n) { sex } }',
      `${GRAPHQL}.person.surname: the variable $n must have a value`,
    ],
    [
      'a variable that is not declared',
      '{ person(surname: $n) { sex } }',
      `${GRAPHQL}: a variable that is used must be declared; line 1, column 19`,
    ],
    ['a directive', '{ person(UIN: "1") { sex @delay } }', /^search_criteria\.query\.value\.expression.*: /],
    [
      'two operations',
      'query A { person(UIN: "1") { sex } } query B { person(UIN: "1") { sex } }',
      `${GRAPHQL}: operationName must say which of the operations is asked`,
    ],
    [
      'a wrong operator',
      '{ person(sex: {gt: "F"}) { sex } }',
      `${GRAPHQL}.person.sex.gt: must be an operator of sex: $eq, $ne, $in, $nin, $exists`,
    ],
    [
      'a wrong date',
      '{ person(birth_date: {lt: "2023-02-31"}) { sex } }',
      /\.person\.birth_date\.lt: must be a date such as 1985, /,
    ],
    [
      'nesting of 1,000 levels',
      `{ person(a: ${'{a: '.repeat(1000)}1${'}'.repeat(1000)}) { sex } }`,
      /: must be nested at most \d+ levels deep$/,
    ],
    [
      'lists of 1,000 levels',
      `{ person(sex: ${'['.repeat(1000)}1${']'.repeat(1000)}) { sex } }`,
      /: must be nested at most \d+ levels deep$/,
    ],
    [
      'selections of 10,000 levels',
      `{ person(UIN: "1") ${'{ name '.repeat(10_000)}${'}'.repeat(10_000)} }`,
      /: must be nested at most \d+ levels deep$/,
    ],
    [
      'a megabyte of comment',
      `{ person(UIN: "1") { sex } } #${SECRET.repeat(170_000)}`,
      `${GRAPHQL}: must have at most 100000 characters`,
    ],
    ['a number', 5, `${GRAPHQL}: must be an object of conditions`],
  ])('%s', async (_name, text, message) => target.expectRefused(inGraphql(text), message))

  it('fragments that double are merged, not multiplied', async () => {
    const doubling = fields(40, (at) => `fragment F${at} on Person { ...F${at + 1} ...F${at + 1} }`)
    const text = `{ person(UIN: "1") { ...F0 } } ${doubling} fragment F40 on Person { sex }`
    const item = await target.ask(inGraphql(text))
    expect(item.data.reg_records).toEqual([{ sex: 'female' }])
  })

  it.each([
    ['an empty text', ''],
    ['an open brace', '{ person(UIN: "1") { sex }'],
    ['an open text', `{ person(surname: "${SECRET}) { sex } }`],
    ['a wrong character', `{ person(surname: \`${SECRET}\`) { sex } }`],
    ['no graphql at all', `select * from person where surname = '${SECRET}'`],
  ])('%s', async (_name, text) => {
    await target.expectRefused(inGraphql(text), new RegExp(`^${escaped(GRAPHQL)}: `), 'rjct.filter.invalid')
  })
})
