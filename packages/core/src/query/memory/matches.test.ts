import type { Attribute, AttributeType, AttributeValue, Compound, Element } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import type { Comparator, Interval, Literal, Predicate } from '../../model/predicate.ts'
import type { RecordValues } from './extract-record.ts'
import { matches } from './matches.ts'

const attribute = (name: string, type: AttributeType, many?: true): Attribute => {
  return { name, type, paths: [name], ...(many && { many }) }
}
const surname = attribute('surname', 'text')
const birth = attribute('birth_date', 'date')
const updated = attribute('last_updated', 'datetime')
const score = attribute('score', 'number')
const disabled = attribute('is_disabled', 'boolean')
const farm = attribute('farm_size', 'number', true)
const programme = attribute('programme', 'text')
const status = attribute('status', 'code')
const enrolment: Compound = { name: 'enrolment', paths: ['enrolments'], members: [programme, status] }

interface Has {
  readonly values?: Readonly<Record<string, AttributeValue>>
  readonly enrolments?: readonly Element[]
  readonly identifiers?: Readonly<Record<string, readonly string[]>>
}

function record({ values = {}, enrolments = [], identifiers = {} }: Has): RecordValues {
  return {
    values: new Map(Object.entries(values)),
    elements: new Map(enrolments.length > 0 ? [['enrolment', enrolments]] : []),
    identifiers: new Map(Object.entries(identifiers).map(([type, borne]) => [type, new Set(borne)])),
  }
}

const compare = (attribute: Attribute, operator: Comparator, value: Literal): Predicate => {
  return { is: 'compare', attribute, operator, value }
}
const not = (of: Predicate): Predicate => ({ is: 'not', of })
const and = (...of: Predicate[]): Predicate => ({ is: 'and', of })
const or = (...of: Predicate[]): Predicate => ({ is: 'or', of })

/** True matches, false matches turned round, unknown matches neither way. */
function truth(predicate: Predicate, has: Has): boolean | 'unknown' {
  const [yes, no] = [matches(predicate, record(has)), matches(not(predicate), record(has))]
  expect(yes && no).toBe(false)
  return yes ? true : no ? false : 'unknown'
}

describe('three-valued logic', () => {
  const has = { values: { score: 5 } }
  const yes = compare(score, 'eq', 5)
  const no = compare(score, 'eq', 6)
  const unknown = compare(surname, 'eq', 'okoro')

  test.each<[string, Predicate, boolean | 'unknown']>([
    ['true', yes, true],
    ['false', no, false],
    ['unknown', unknown, 'unknown'],
    ['true and unknown', and(yes, unknown), 'unknown'],
    ['unknown and false', and(unknown, no), false],
    ['false and unknown', and(no, unknown), false],
    ['all true', and(yes, yes), true],
    ['true or unknown', or(yes, unknown), true],
    ['unknown or true', or(unknown, yes), true],
    ['unknown or false', or(unknown, no), 'unknown'],
    ['all false', or(no, no), false],
    ['not (unknown and (true or unknown))', not(and(unknown, or(yes, unknown))), 'unknown'],
  ])('%s', (_, predicate, expected) => {
    expect(truth(predicate, has)).toBe(expected)
  })
})

describe('text, by code point', () => {
  test.each<[Comparator, string, string, boolean]>([
    ['eq', 'okoro', 'okoro', true],
    ['eq', 'okoro', 'oko', false],
    ['lt', 'Z', 'a', true],
    ['lt', '\u{1f600}', '\uffff', false],
    ['gt', '\u{1f600}', '\uffff', true],
    ['lt', 'oko', 'okoro', true],
    ['le', 'oko', 'oko', true],
    ['ge', 'oko', 'oko', true],
    ['gt', 'oko', 'oko', false],
    ['starts_with', 'okoro', 'oko', true],
    ['starts_with', 'okoro', 'koro', false],
    ['contains', 'okoro', 'koro', true],
    ['contains', '100 %', '%', true],
    ['contains', 'okoro', '%', false],
  ])('%s: %j, %j', (operator, value, literal, expected) => {
    expect(truth(compare(surname, operator, literal), { values: { surname: value } })).toBe(expected)
  })
})

describe('a date is all the days that it may mean', () => {
  const june: Interval = { from: '1985-06-01', to: '1985-06-30' }
  const year: Interval = { from: '1985-01-01', to: '1985-12-31' }
  const day = (from: string): Interval => ({ from, to: from })

  test.each<[Interval, Comparator, Interval, boolean | 'unknown']>([
    [june, 'eq', year, true],
    [june, 'eq', june, true],
    [year, 'eq', june, 'unknown'],
    [june, 'eq', day('1985-06-12'), 'unknown'],
    [june, 'eq', day('1985-07-01'), false],
    [june, 'lt', day('1985-07-01'), true],
    [june, 'lt', day('1985-06-30'), 'unknown'],
    [june, 'lt', day('1985-06-01'), false],
    [june, 'lt', june, false],
    [june, 'le', day('1985-06-30'), true],
    [june, 'le', day('1985-06-01'), 'unknown'],
    [june, 'le', day('1985-05-31'), false],
    [june, 'le', year, true],
    [june, 'gt', day('1985-05-31'), true],
    [june, 'gt', day('1985-06-01'), 'unknown'],
    [june, 'gt', day('1985-06-30'), false],
    [june, 'gt', june, false],
    [june, 'ge', day('1985-06-01'), true],
    [june, 'ge', day('1985-06-30'), 'unknown'],
    [june, 'ge', day('1985-07-01'), false],
    [june, 'ge', year, true],
    [year, 'ge', june, 'unknown'],
  ])('%j %s %j', (value, operator, literal, expected) => {
    expect(truth(compare(birth, operator, literal), { values: { birth_date: value } })).toBe(expected)
  })

  test('one of several: unknown beside false, true beside anything', () => {
    const oneOf = (...values: Interval[]): Predicate => ({ is: 'in', attribute: birth, values })
    const has = { values: { birth_date: june } }
    expect(truth(oneOf(day('1985-06-12'), day('1990-01-01')), has)).toBe('unknown')
    expect(truth(oneOf(day('1985-06-12'), year), has)).toBe(true)
    expect(truth(oneOf(day('1990-01-01'), day('1991-01-01')), has)).toBe(false)
    expect(truth(oneOf(year), {})).toBe('unknown')
  })
})

test.each<[Comparator, boolean]>([
  ['eq', true],
  ['lt', false],
  ['le', true],
  ['gt', false],
  ['ge', true],
])('an instant %s the day it lies in', (operator, expected) => {
  const day = { from: '2024-06-30T00:00:00.000Z', to: '2024-06-30T23:59:59.999Z' }
  const has = { values: { last_updated: '2024-06-30T12:00:00.000Z' } }
  expect(truth(compare(updated, operator, day), has)).toBe(expected)
})

test.each<[Comparator, number, boolean]>([
  ['eq', 5, true],
  ['lt', 5, false],
  ['lt', 5.5, true],
  ['le', 5, true],
  ['gt', 4, true],
  ['ge', 6, false],
])('the number 5 %s %d', (operator, literal, expected) => {
  expect(truth(compare(score, operator, literal), { values: { score: 5 } })).toBe(expected)
})

test('what is false or 0 is there', () => {
  const has = { values: { is_disabled: false, score: 0 } }
  expect(truth(compare(disabled, 'eq', false), has)).toBe(true)
  expect(truth({ is: 'in', attribute: score, values: [1, 0] }, has)).toBe(true)
  expect(truth({ is: 'exists', attribute: disabled }, has)).toBe(true)
  expect(truth({ is: 'exists', attribute: surname }, has)).toBe(false)
})

describe('some element', () => {
  const active = compare(status, 'eq', '1')
  const cash = compare(programme, 'eq', 'cash')
  const some = (of: Predicate): Predicate => ({ is: 'some', list: enrolment, of })
  const hasProgramme: Predicate = { is: 'exists', attribute: programme }
  const hasStatus: Predicate = { is: 'exists', attribute: status }
  const cashActive = { programme: 'cash', status: '1' }
  const cashEnded = { programme: 'cash', status: '3' }
  const foodActive = { programme: 'food', status: '1' }

  test.each<[string, Predicate, Element[], boolean | 'unknown']>([
    ['both of one', and(cash, active), [cashEnded, cashActive], true],
    ['both of two', and(cash, active), [cashEnded, foodActive], false],
    ['none at all', and(cash, active), [], 'unknown'],
    ['what it lacks is unknown', and(cash, active), [{ programme: 'cash' }, foodActive], 'unknown'],
    ['false already', and(cash, active), [{ programme: 'food' }], false],
    ['who says nothing of it does not count', active, [{ programme: 'cash' }], 'unknown'],
    ['others count', active, [{ programme: 'cash' }, cashEnded], false],
    ['a negation inside', not(active), [cashActive, cashEnded], true],
    ['presence inside', and(cash, not({ is: 'exists', attribute: status })), [{ programme: 'cash' }], true],
    ['one of', { is: 'in', attribute: programme, values: ['food', 'cash'] }, [cashEnded], true],
    ['either', or(cash, active), [{ programme: 'food' }], 'unknown'],
    ['no presence where nothing counts', and(hasProgramme, hasStatus), [], false],
    ['no presence of both in one', and(hasProgramme, hasStatus), [{ programme: 'cash' }], false],
    ['presence of both in one', and(hasProgramme, hasStatus), [{ programme: 'cash' }, cashActive], true],
    ['absence of both where nothing counts', and(not(hasProgramme), not(hasStatus)), [], true],
    ['absence of both', and(not(hasProgramme), not(hasStatus)), [{ programme: 'cash' }], false],
    ['presence and a value where nothing counts', and(hasProgramme, active), [], false],
    ['absence and a value where nothing counts', and(not(hasProgramme), active), [], 'unknown'],
  ])('%s', (_, of, enrolments, expected) => {
    expect(truth(some(of), { enrolments })).toBe(expected)
  })

  test('presence of a member in some element', () => {
    const exists: Predicate = { is: 'exists', attribute: status, list: enrolment }
    expect(truth(exists, { enrolments: [{ programme: 'cash' }, foodActive] })).toBe(true)
    expect(truth(exists, { enrolments: [{ programme: 'cash' }] })).toBe(false)
    expect(truth(exists, {})).toBe(false)
  })

  test('of a list of values', () => {
    const between: Predicate = { is: 'some', list: farm, of: and(compare(farm, 'gt', 1), compare(farm, 'lt', 3)) }
    expect(truth(between, { values: { farm_size: [0, 2] } })).toBe(true)
    expect(truth(between, { values: { farm_size: [0, 5] } })).toBe(false)
    expect(truth(between, {})).toBe('unknown')
    const exists: Predicate = { is: 'exists', attribute: farm, list: farm }
    expect(truth(exists, { values: { farm_size: [0] } })).toBe(true)
    expect(truth(exists, {})).toBe(false)
  })
})

describe('identifiers', () => {
  const has = { identifiers: { UIN: ['A1', 'B2'], MOBILE: ['+15550100'] } }

  test.each<[string, [type: string, value: string][], boolean | 'unknown']>([
    ['borne', [['UIN', 'B2']], true],
    ['of its type another', [['UIN', 'C3']], false],
    ['of a type that it has not', [['NID', 'A1']], 'unknown'],
    ['one of them', [['NID', 'A1'], ['MOBILE', '+15550100']], true], // biome-ignore format: one line a row
    ['of two types one', [['NID', 'A1'], ['MOBILE', '+1']], false], // biome-ignore format: one line a row
  ])('%s', (_, wanted, expected) => {
    const identifiers = wanted.map(([type, value]) => ({ type, value }))
    expect(truth({ is: 'identifier', identifiers }, has)).toBe(expected)
  })

  test('of a type', () => {
    expect(truth({ is: 'identifier_type', types: ['NID', 'MOBILE'] }, has)).toBe(true)
    expect(truth({ is: 'identifier_type', types: ['NID'] }, has)).toBe(false)
  })
})

test('names of members are no names of what every object has', () => {
  const member = { ...programme, name: 'constructor' }
  const list = { ...enrolment, members: [member, status] }
  const has = { enrolments: [{ status: '1' }] }
  expect(truth({ is: 'exists', attribute: member, list }, has)).toBe(false)
  expect(truth({ is: 'some', list, of: compare(member, 'eq', 'a') }, has)).toBe('unknown')
})

describe('what no reader makes is an error of ours', () => {
  const age: Attribute = { name: 'age', paths: [], type: 'age', since: 'birth_date' }

  test.each<[string, Predicate]>([
    ['age is asked on no day', compare(age, 'ge', 18)],
    ['age is asked on no day', { is: 'in', attribute: age, values: [18] }],
    ['age is asked on no day', { is: 'exists', attribute: age }],
    ['farm_size is asked through its elements only', compare(farm, 'eq', 1)],
    ['what is compared by eq is of two types', compare(score, 'eq', { from: 'a', to: 'b' })],
    ['what is compared by lt is of two types', compare(score, 'lt', 'a')],
    ['contains asks for no order', compare(score, 'contains', 1)],
    ['contains does not compare periods', compare(birth, 'contains', { from: 'a', to: 'b' })],
  ])('%s', (message, predicate) => {
    const values = { score: 5, farm_size: [1], birth_date: { from: '1985-01-01', to: '1985-01-01' } }
    expect(() => matches(predicate, record({ values }))).toThrow(new Error(message))
  })
})
