import type { JsonValue } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../../test/processor-time.ts'
import { LIMITS, SCOPE, shown } from '../../../test/query-kind.ts'
import { readExpression } from './expression.ts'
import { QueryReader } from './reader.ts'

const read = (value: JsonValue): string => shown(readExpression(new QueryReader(SCOPE), value, 'query'))
const refusal = (value: JsonValue, limits = LIMITS) => {
  return () => readExpression(new QueryReader({ ...SCOPE, limits }), value, 'query')
}

describe('conditions', () => {
  it.each<[JsonValue, string]>([
    [{ sex: 'F' }, 'sex eq "female"'],
    [{ gender: { $eq: 'female' } }, 'sex eq "female"'],
    [{ sex: { EQ: 'FEMALE' } }, 'sex eq "female"'],
    [{ sex: { $ne: 'F' } }, 'not(sex eq "female")'],
    [{ sex: { $neq: 'F' } }, 'not(sex eq "female")'],
    [{ score: { $gt: '1.5', LT: 3 } }, 'and(score gt 1.5, score lt 3)'],
    [{ score: { gte: 1, $le: 3 } }, 'and(score ge 1, score le 3)'],
    [{ score: { $ge: 1, lte: 3 } }, 'and(score ge 1, score le 3)'],
    [{ sex: { $in: ['F', 'female', 'M'] } }, 'sex in ["female", "male"]'],
    [{ sex: { $in: 'F' } }, 'sex in ["female"]'],
    [{ sex: { nin: ['F'] } }, 'not(sex in ["female"])'],
    [{ birth_date: { $in: ['1985', 1985, '1985-06-12'] } }, 'birth_date in [1985-01-01..1985-12-31, 1985-06-12]'],
    [{ sex: { $exists: true } }, 'sex exists'],
    [{ sex: { $exists: 'False' } }, 'not(sex exists)'],
    [{ surname: { $startsWith: 'OK' } }, 'surname starts_with "ok"'],
    [{ surname: { starts_with: 'ok', contains: 'o' } }, 'and(surname starts_with "ok", surname contains "o")'],
    [{ age: { $lt: '25' } }, 'age lt 25'],
    [{ last_updated: { $gt: '2024-06-30T12:00:00Z' } }, 'last_updated gt 2024-06-30T12:00:00.000Z'],
    [{ is_disabled: '1' }, 'is_disabled eq true'],
    [{ surname: 'a', sex: 'F' }, 'and(surname eq "a", sex eq "female")'],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('logic', () => {
  it.each<[JsonValue, string]>([
    [{ $and: [{ sex: 'F' }, { score: 1 }] }, 'and(sex eq "female", score eq 1)'],
    [{ and: [{ sex: 'F' }] }, 'sex eq "female"'],
    [{ $or: [{ sex: 'F' }, { score: 1 }] }, 'or(sex eq "female", score eq 1)'],
    [{ $nor: [{ sex: 'F' }, { score: 1 }] }, 'not(or(sex eq "female", score eq 1))'],
    [{ $not: { sex: 'F', score: 1 } }, 'not(and(sex eq "female", score eq 1))'],
    [{ $or: { sex: 'F' } }, 'sex eq "female"'],
    [{ $and: { sex: 'F', score: 1 } }, 'and(sex eq "female", score eq 1)'],
    [{ sex: 'F', $or: [{ score: 1 }, { score: 2 }] }, 'and(sex eq "female", or(score eq 1, score eq 2))'],
    [{ score: { $not: { $gt: 1, $lt: 3 } } }, 'not(and(score gt 1, score lt 3))'],
    [{ score: { $not: 3 } }, 'not(score eq 3)'],
    [{ score: { $or: [{ $lt: 1 }, 5] } }, 'or(score lt 1, score eq 5)'],
    [{ score: { $nor: [{ $lt: 1 }, { $gt: 5 }], $exists: true } }, 'and(not(or(score lt 1, score gt 5)), score exists)'],
    [{ NOT: { Or: [{ sex: 'F' }, { sex: 'M' }] } }, 'not(or(sex eq "female", sex eq "male"))'],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('names', () => {
  it.each<[JsonValue, string]>([
    [{ 'name.surname': 'a' }, 'surname eq "a"'],
    [{ 'spdci:name.spdci:surname': 'a' }, 'surname eq "a"'],
    [{ name: { surname: 'a' } }, 'surname eq "a"'],
    [{ name: { surname: { $gt: 'a' }, last_name: { $lt: 'c' } } }, 'and(surname gt "a", surname lt "c")'],
    [{ Surname: 'a' }, 'surname eq "a"'],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('one and the same element', () => {
  it.each<[JsonValue, string]>([
    [{ programme: 'P1' }, 'some enrolment(programme eq "P1")'],
    [{ programme: 'P1', status: 1 }, 'some enrolment(and(programme eq "P1", status eq "1"))'],
    [
      { programme: 'P1', sex: 'F', status: { $ne: 'Active' } },
      'and(some enrolment(and(programme eq "P1", not(status eq "1"))), sex eq "female")',
    ],
    [{ $and: [{ programme: 'P1' }, { status: 1 }] }, 'and(some enrolment(programme eq "P1"), some enrolment(status eq "1"))'],
    [{ enrolment: { programme: 'P1', status: 1 } }, 'some enrolment(and(programme eq "P1", status eq "1"))'],
    [{ enrolment: { programme: 'P1' }, status: 1 }, 'some enrolment(and(programme eq "P1", status eq "1"))'],
    [
      { enrolment: { programme: 'P1', $or: [{ status: 1 }, { since: '2020' }] } },
      'some enrolment(and(programme eq "P1", or(status eq "1", since eq 2020-01-01..2020-12-31)))',
    ],
    [
      { enrolment: { $or: [{ status: 1 }, { programme: 'P1' }] } },
      'or(some enrolment(status eq "1"), some enrolment(programme eq "P1"))',
    ],
    [{ enrolment: { $not: { status: 1, programme: 'P' } } }, 'not(some enrolment(and(status eq "1", programme eq "P")))'],
    [{ programme: { $ne: 'P1' } }, 'not(some enrolment(programme eq "P1"))'],
    [{ programme: { $not: { $in: ['P1'] } } }, 'not(some enrolment(programme in ["P1"]))'],
    [{ programme: { $exists: true } }, 'enrolment:programme exists'],
    [{ programme: { $exists: false } }, 'not(enrolment:programme exists)'],
    [{ programme: { $exists: true, $ne: 'P' } }, 'some enrolment(and(programme exists, not(programme eq "P")))'],
    [{ enrolment: { exists: false } }, 'not(or(enrolment:programme exists, enrolment:status exists, enrolment:since exists))'],
    [{ farm_size: 3 }, 'some farm_size(farm_size eq 3)'],
    [{ farm_size: { $gt: 1, $lt: 3 } }, 'some farm_size(and(farm_size gt 1, farm_size lt 3))'],
    [{ farm_size: { $exists: false } }, 'not(farm_size:farm_size exists)'],
    [
      { farm_size: { $or: [{ $exists: false }, { $lt: 1 }] } },
      'or(not(farm_size:farm_size exists), some farm_size(farm_size lt 1))',
    ],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('identifiers', () => {
  it.each<[JsonValue, string]>([
    [{ UIN: ' a-1 ' }, 'bears UIN A-1'],
    [{ uin: { $in: ['1', 1, '2'] } }, 'bears UIN 1 or UIN 2'],
    [{ phone_number: '+1 555' }, 'bears MOBILE 1555'],
    [{ identifier: '12345' }, 'bears UIN 12345 or BRN 12345 or MOBILE 12345 or * 12345'],
    [{ identifier_value: 'x' }, 'bears UIN X or BRN X or * X'],
    [{ identifier: { $ne: 'x' } }, 'not(bears UIN X or BRN X or * X)'],
    [{ BRN: { $exists: false } }, 'not(bears a BRN)'],
    [{ identifier_type: 'BIRTH_REG_NO' }, 'bears a BRN'],
    [{ identifier_type: { $nin: ['BRN', 'UIN', 'brn'] } }, 'not(bears a BRN or UIN)'],
    [{ identifier: { identifier_type: 'BRN', identifier_value: 'x' } }, 'bears BRN X'],
    [{ UIN: { type: 'uin', value: 'x' } }, 'bears UIN X'],
    [{ 'spdci:identifier': { 'spdci:identifier_type': 'BRN', identifier_value: 'x' } }, 'bears BRN X'],
    [{ identifier: { type: 'BRN', value: { $in: ['x', 'y'] } } }, 'bears BRN X or BRN Y'],
    [{ 'identifier.identifier_type': 'UIN', 'identifier.identifier_value': 'x', sex: 'F' }, 'and(bears UIN X, sex eq "female")'],
    [{ identifier_type: { $in: ['UIN', 'BRN'] }, identifier_value: { $ne: '12345' } }, 'not(bears UIN 12345 or BRN 12345)'],
    [{ identifier_type: 'BRN', UIN: 'x' }, 'and(bears a BRN, bears UIN X)'],
    [{ $and: [{ identifier_type: 'BRN' }, { identifier: 'x' }] }, 'and(bears a BRN, bears UIN X or BRN X or * X)'],
    [
      { identifier_type: 'BRN', $or: [{ identifier: 'x' }, { identifier: 'y', sex: 'F' }, { UIN: 'z' }] },
      'and(bears a BRN, or(bears BRN X, and(bears BRN Y, sex eq "female"), bears UIN Z))',
    ],
    [{ identifier_type: 'BRN', $not: { $nor: [{ identifier: 'x' }] } }, 'and(bears a BRN, not(not(bears BRN X)))'],
    [{ identifier_type: 'BRN', $or: [{ identifier_type: 'UIN', identifier: 'x' }] }, 'and(bears a BRN, bears UIN X)'],
    [{ identifier_type: 'BRN', identifier: { identifier_value: 'x' } }, 'and(bears a BRN, bears BRN X)'],
    [{ identifier_type: 'BRN', identifier_value: 'x', $or: [{ identifier: 'y' }] }, 'and(bears BRN X, bears BRN Y)'],
    [
      { identifier_type: { $exists: true }, $or: [{ identifier: 'x' }] },
      'and(bears a UIN or BRN or MOBILE or *, bears UIN X or BRN X or * X)',
    ],
  ])('%j', (value, tree) => {
    expect(read(value)).toBe(tree)
  })
})

describe('what is refused', () => {
  const names =
    'surname, sex, birth_date, last_updated, score, is_disabled, age, farm_size, programme, status, since, enrolment, UIN, BRN, MOBILE'
  const unknown = `is no attribute that this participant may ask about; those of Person are ${names}`
  const empty = 'must not be empty: what is missing is asked for with exists'
  it.each<[JsonValue, string]>([
    [{}, 'query: must be an object of conditions, with at least one'],
    [[], 'query: must be an object of conditions'],
    ['x', 'query: must be an object of conditions'],
    [{ shoe_size: 9 }, `query.shoe_size: ${unknown}`],
    [{ shoe_size: { $eq: 9 } }, `query.shoe_size: ${unknown}`],
    [{ shoe: {} }, 'query.shoe: must be an object of conditions, with at least one'],
    [{ shoe: { size: 9 } }, `query.shoe.size: ${unknown}`],
    [{ name: { $or: [{ surname: 'a' }] } }, `query.name: ${unknown}`],
    [{ $eq: 'F' }, `query.$eq: ${unknown}`],
    [{ $where: '1' }, `query.$where: ${unknown}`],
    [{ constructor: 1 }, `query.constructor: ${unknown}`],
    [{ ['__proto__']: 1 }, `query.__proto__: ${unknown}`],
    [JSON.parse('{"__proto__": {"sex": "F"}}'), `query.__proto__.sex: ${unknown}`],
    [{ 'na me': 1 }, `query["na me"]: ${unknown}`],
    [{ $and: [] }, 'query.$and: must have at least one condition'],
    [{ $or: 'x' }, 'query.$or: must be an array of conditions'],
    [{ $nor: [{}] }, 'query.$nor[0]: must be an object of conditions, with at least one'],
    [{ $and: [[{ sex: 'F' }]] }, 'query.$and[0]: must be an object of conditions'],
    [{ $not: [] }, 'query.$not: must be an object of conditions'],
    [{ $not: {} }, 'query.$not: must be an object of conditions, with at least one'],
    [{ sex: {} }, 'query.sex: must be an object of operators, with at least one'],
    [{ sex: [] }, 'query.sex: must be one value; one of several is asked for with {"$in": [...]}'],
    [{ sex: ['F'] }, 'query.sex: must be one value; one of several is asked for with {"$in": [...]}'],
    [{ sex: null }, `query.sex: ${empty}`],
    [{ sex: '' }, `query.sex: ${empty}`],
    [{ sex: { $regex: 'F' } }, 'query.sex.$regex: must be an operator of sex: $eq, $ne, $in, $nin, $exists'],
    [{ sex: { constructor: 'F' } }, 'query.sex.constructor: must be an operator of sex: $eq, $ne, $in, $nin, $exists'],
    [{ sex: { ['__proto__']: 'F' } }, 'query.sex.__proto__: must be an operator of sex: $eq, $ne, $in, $nin, $exists'],
    [{ sex: { $in: [] } }, 'query.sex.$in: must have at least one value'],
    [{ sex: { $in: ['F', null] } }, `query.sex.$in[1]: ${empty}`],
    [{ sex: { $in: [['F']] } }, 'query.sex.$in[0]: must be a code of 1 to 512 characters'],
    [{ sex: { $exists: 1 } }, 'query.sex.$exists: must be true or false'],
    [{ score: { $not: [] } }, 'query.score.$not: must be one value; one of several is asked for with {"$in": [...]}'],
    [{ birth_date: '2024-02-31' }, 'query.birth_date: must be a date such as 1985, 1985-06, 1985-06-12 or 12.06.1985'],
    [{ score: 'NaN' }, 'query.score: must be a number that a double can hold as it is written'],
    [{ score: '1e400' }, 'query.score: must be a number that a double can hold as it is written'],
    [{ score: Number.NaN }, 'query.score: must be a number that a double can hold as it is written'],
    [{ surname: 'a\0b' }, 'query.surname: must be text of 1 to 512 characters'],
    [{ surname: '\ud800' }, 'query.surname: must be text of 1 to 512 characters'],
    [{ enrolment: 'P1' }, 'query.enrolment: must be an object of conditions'],
    [
      { enrolment: { sex: 'F' } },
      'query.enrolment.sex: is no attribute that this participant may ask about; those of enrolment are programme, status, since',
    ],
    [
      { enrolment: { $exists: true, status: 1 } },
      'query.enrolment.$exists: is no attribute that this participant may ask about; those of enrolment are programme, status, since',
    ],
    [
      { enrolment: { shoe: { programme: 'P1' } } },
      'query.enrolment.shoe.programme: is no attribute that this participant may ask about; those of enrolment are programme, status, since',
    ],
    [{ $or: { sex: 'F', score: 1 } }, 'query.$or: must be an array of conditions'],
    [{ $nor: { sex: 'F', score: 1 } }, 'query.$nor: must be an array of conditions'],
    [{ score: { $or: { $lt: 1, $gt: 5 } } }, 'query.score.$or: must be an array of conditions'],
    [
      { identifier_type: 'MOBILE', $or: [{ identifier: 'x' }] },
      'query.$or[0].identifier: must be a string of 1 to 256 characters or a whole number, and a telephone number',
    ],
    [{ enrolment: { $exists: null } }, 'query.enrolment.$exists: must be true or false'],
    [{ UIN: { $gt: '1' } }, 'query.UIN.$gt: must be an operator of UIN: $eq, $ne, $in, $nin, $exists'],
    [{ UIN: true }, 'query.UIN: must be a string of 1 to 256 characters or a whole number'],
    [{ identifier_type: 'SHOE' }, 'query.identifier_type: must be one of UIN, BRN, MOBILE'],
    [{ identifier: { shoe: '1' } }, 'query.identifier.shoe: must be identifier_type or identifier_value'],
    [
      { identifier: { identifier_type: 'UIN' } },
      'query.identifier: must have an identifier_value; a type alone is asked for with identifier_type',
    ],
    [{ UIN: { identifier_type: 'BRN', identifier_value: 'x' } }, 'query.UIN.identifier_type: must be one of UIN'],
    [
      { UIN: { identifier_type: 'BRN' } },
      'query.UIN: must have an identifier_value; a type alone is asked for with identifier_type',
    ],
    [
      { identifier_type: { $ne: 'UIN' }, identifier_value: 'x' },
      'query.identifier_type: must be asked for with $eq or $in beside an identifier value',
    ],
    [
      { identifier_type: 'UIN', 'identifier.identifier_type': 'UIN', identifier: 'x' },
      'query["identifier.identifier_type"]: must be given once beside an identifier value',
    ],
  ])('%j', (value, message) => {
    expect(refusal(value)).toThrow(expect.objectContaining({ name: 'QueryProblem', message }))
  })
})

describe('bounds', () => {
  const nested = (levels: number): JsonValue => {
    let value: JsonValue = { sex: 'F' }
    for (let level = 1; level < levels; level++) value = { $not: value }
    return value
  }

  it('nests as deep as the limit says, and no deeper', () => {
    expect(read(nested(20))).toMatch(/^(not\(){19}sex eq "female"\){19}$/)
    expect(refusal(nested(21))).toThrow(/^query(\.\$not){20}: must not be nested deeper than 20 levels$/)
    expect(refusal(nested(1_000))).toThrow(/must not be nested deeper than 20 levels$/)
    expect(refusal({ score: nested(1_000) })).toThrow(/must not be nested deeper than 20 levels$/)
  })

  it('has as many conditions as the limit says, and no more', () => {
    const ors = (count: number) => ({ $or: Array.from({ length: count }, (_, score) => ({ score })) })
    expect(read(ors(200))).toMatch(/^or\(score eq 0, .*, score eq 199\)$/)
    expect(refusal(ors(201))).toThrow(/^query\.\$or: a query must have at most 200 conditions$/)
    expect(refusal({ $and: [ors(150), ors(51)] })).toThrow(/^query\.\$and\[1\]\.\$or: a query must have at most 200/)
    const wide = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`x${index}`, 1]))
    expect(refusal(wide)).toThrow(/^query: a query must have at most 200 conditions$/)
  })

  it('has as many values as the limit says, and no more', () => {
    const many = (count: number) => ({ $in: Array.from({ length: count }, (_, index) => index) })
    expect(read({ score: many(1_000) })).toMatch(/^score in \[0, .*, 999\]$/)
    const message = 'a query must have at most 1000 values in its lists'
    expect(refusal({ score: many(1_001) })).toThrow(`query.score.$in: ${message}`)
    expect(refusal({ score: many(600), farm_size: many(401) })).toThrow(`query.farm_size.$in: ${message}`)
    const started = processorTime()
    expect(refusal({ score: many(100_000) })).toThrow(`query.score.$in: ${message}`)
    expect(refusal({ UIN: many(100_000) })).toThrow(`query.UIN.$in: ${message}`)
    expect(processorTime() - started).toBeLessThan(2_500)
  })
})
