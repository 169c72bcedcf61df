import fc from 'fast-check'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { processorTime } from '../../core/test/processor-time.ts'
import { isTimestamp } from './timestamps.ts'
import { validator } from './validate.ts'

const Item = Type.Object({
  reference_id: Type.String({ minLength: 1, maxLength: 99 }),
  timestamp: Type.String({ format: 'date-time' }),
  locale: Type.Optional(Type.String({ pattern: '^[a-z]{3}$' })),
  correlation_id: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9-]+$' })),
  other: Type.Optional(Type.String({ pattern: '^x+$', minLength: 2 })),
  status: Type.Optional(Type.Enum(['rcvd', 'pdng', 'succ', 'rjct'])),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  flag: Type.Optional(Type.Boolean()),
  uri: Type.Optional(Type.String({ format: 'uri' })),
  kind: Type.Optional(Type.Literal('one')),
  text_or_list: Type.Optional(Type.Unsafe<unknown>({ type: ['string', 'array'] })),
  query: Type.Optional(
    Type.Union([
      Type.Object({ type: Type.String() }),
      Type.Array(Type.Object({ seq_num: Type.Number() }), { minItems: 1, maxItems: 2 }),
    ]),
  ),
  closed: Type.Optional(Type.Object({}, { additionalProperties: false })),
})
const message = validator(Type.Object({ transaction_id: Type.String(), search_request: Type.Array(Item) }))
const good = { reference_id: 'r1', timestamp: '2026-02-03T09:15:00Z' }
const problemOf = (members: object) =>
  message.problem({ transaction_id: 't', search_request: [good, { ...good, ...members }] }, 'message')

test.each([
  [good, true],
  [{ ...good, page_size: 0 }, false],
  [{ ...good, timestamp: '2026-02-03' }, false],
  [{}, false],
])('what is accepted is what has no problem: %j', (item, accepted) => {
  const items = validator(Item)
  expect(items.accepts(item)).toBe(accepted)
  expect(items.problem(item, '') === null).toBe(accepted)
})

test('a value that fits has no problem', () => {
  expect(problemOf({ locale: 'eng', page_size: 100, order: 'asc', query: [{ seq_num: 1 }] })).toBeNull()
})

test.each([
  [{ reference_id: 7 }, 'reference_id: must be a string'],
  [{ reference_id: '' }, 'reference_id: must not be empty'],
  [{ reference_id: 'r'.repeat(100) }, 'reference_id: must have at most 99 characters'],
  [{ other: 'x' }, 'other: must have at least 2 characters'],
  [{ locale: 'en' }, 'locale: must be three lower-case letters (ISO 639-3)'],
  [{ locale: 'ENG' }, 'locale: must be three lower-case letters (ISO 639-3)'],
  [{ correlation_id: 'a b' }, 'correlation_id: may hold only letters, digits and "-"'],
  [{ other: 'yy' }, 'other: must match ^x+$'],
  [{ status: 'done' }, 'status: must be one of rcvd, pdng, succ, rjct'],
  [{ order: 'up' }, 'order: must be asc or desc'],
  [{ kind: 'two' }, 'kind: must be one'],
  [{ page_size: 0 }, 'page_size: must be at least 1'],
  [{ page_size: 101 }, 'page_size: must be at most 100'],
  [{ page_size: 1.5 }, 'page_size: must be a whole number'],
  [{ flag: 'yes' }, 'flag: must be true or false'],
  [{ uri: 'nowhere' }, 'uri: must be an absolute URI'],
  [{ text_or_list: 1 }, 'text_or_list: must be a string or an array'],
  [{ query: 5 }, 'query: must be an object or an array'],
  [{ query: [{ seq_num: 'one' }] }, 'query[0].seq_num: must be a number'],
  [{ query: [] }, 'query: must have at least 1 elements'],
  [{ query: {} }, 'query.type: is required'],
  [{ closed: { stranger: 1 } }, 'closed.stranger: is not a known member'],
  [{ timestamp: 'yesterday' }, 'timestamp: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z'],
  [
    { timestamp: '2026-02-03T09:15:00' },
    'timestamp: must be a date-time with a time zone; the zone (Z or an offset such as +02:00) is missing',
  ],
])('%j names the member and the rule', (members, expected) => {
  expect(problemOf(members)).toBe(`message.search_request[1].${expected}`)
})

test('a missing member is named at its own path, before members that are wrong', () => {
  expect(message.problem({ search_request: 5 }, 'message')).toBe('message.transaction_id: is required')
  expect(message.problem({ transaction_id: 't', search_request: [{ locale: 1 }] }, 'message')).toBe(
    'message.search_request[0].reference_id: is required',
  )
})

test('elements are judged in the order of the document', () => {
  const search_request = [good, { ...good, locale: 'en' }, { ...good, reference_id: '' }, {}]
  expect(message.problem({ transaction_id: 't', search_request }, 'message')).toMatch(/^message\.search_request\[1\]/)
})

test('the path may be empty, and the value itself may be wrong', () => {
  expect(message.problem([], '')).toBe('must be an object')
  expect(message.problem(null, 'message')).toBe('message: must be an object')
  expect(message.problem({}, '')).toBe('transaction_id: is required')
  expect(validator(Type.Array(Type.String())).problem(['a', 1], 'codes')).toBe('codes[1]: must be a string')
})

test('the value is never repeated, nor is a hostile member name repeated at length', () => {
  const secret = 'SECRET'
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(Item.properties)), fc.constantFrom(secret, [secret]), (name, value) => {
      expect(problemOf({ [name]: value }) ?? '').not.toContain(secret)
    }),
  )
  const numbers = validator(Type.Record(Type.String(), Type.Number()))
  expect(numbers.problem({ ['n'.repeat(5000)]: 'x' }, 'm')?.length).toBeLessThan(100)
  expect(numbers.problem({ 'a/b~c': 'x' }, 'm')).toBe('m["a/b~c"]: must be a number')
})

test('the first problem is named as soon among millions as among few', () => {
  const texts = validator(Type.Object({ list: Type.Array(Type.Array(Type.String())) }))
  const started = processorTime()
  expect(texts.problem({ list: [Array(3_000_000).fill(1)] }, 'm')).toBe('m.list[0][0]: must be a string')
  expect(processorTime() - started).toBeLessThan(2_500)
  const late = [...Array(20_000).fill([]), [...Array(5_000).fill('x'), 1]]
  expect(texts.problem({ list: late }, 'm')).toBe('m.list[20000][5000]: must be a string')
  const few = validator(Type.Array(Type.String(), { maxItems: 150 }))
  expect(few.problem(Array(151).fill('x'), 'm')).toBe('m: must have at most 150 elements')
})

test('a URI of megabytes is refused before its pattern is tried', () => {
  const expected = 'message.search_request[1].uri: must have at most 8192 characters'
  expect(problemOf({ uri: `x:${'a'.repeat(8_300_000)}` })).toBe(expected)
  expect(problemOf({ uri: `x:${'a'.repeat(8_190)}` })).toBeNull()
})

test('any value at all is judged without an exception', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
      const problem = message.problem(value, 'message')
      expect(problem === null || problem.startsWith('message')).toBe(true)
    }),
  )
})

describe('isTimestamp', () => {
  test('is the one check behind the format date-time', () => {
    expect(problemOf({ timestamp: '2024-02-29t23:59:60z' })).toBeNull()
    expect(isTimestamp('2024-02-29t23:59:60z')).toBe(true)
    expect(problemOf({ timestamp: '2023-02-29T00:00:00Z' })).toMatch(/timestamp: must be a date-time/)
    expect(isTimestamp('2023-02-29T00:00:00Z')).toBe(false)
  })
})

test('the first problem has its place as steps', () => {
  const problem = message.firstProblem({ transaction_id: 't', search_request: [good, { ...good, page_size: 0 }] })
  expect(problem).toEqual({ at: ['search_request', 1, 'page_size'], rule: 'must be at least 1' })
  expect(message.firstProblem({ search_request: [] })).toEqual({ at: ['transaction_id'], rule: 'is required' })
  expect(message.firstProblem({ transaction_id: 't', search_request: [good] })).toBeNull()
})
