import { type JsonValue, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { readExpression } from '../forms/expression.ts'
import { QueryReader } from '../forms/reader.ts'
import type { Query, QueryScope } from '../query.ts'
import { readGraphql } from './graphql.ts'

const DAY = '2024-06-30'

function scopeOf(name: string): QueryScope {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(name)
  return { kind, recordType: undefined, limits: { query_depth: 20, query_terms: 200, query_values: 1000 } }
}

function ask(kind: string, text: string, variables?: JsonValue, operationName?: string): Query {
  return readGraphql(scopeOf(kind), { text, variables, operationName }, 'q')
}

/** The answer for a record. */
function answer(kind: string, text: string, record: JsonValue, variables?: JsonValue): unknown {
  return ask(kind, text, variables).shape?.(record, DAY)
}

const ADA = {
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: 'TST-7' },
    { identifier_type: 'BRN', identifier_value: 'b-77' },
  ],
  name: { surname: 'Okoro', given_name: 'Ada' },
  sex: 'FEMALE',
  birth_date: '12.06.1985',
  phone_number: ['+1', '+2'],
}

describe('arguments are conditions', () => {
  it.each<[string, string, JsonValue]>([
    ['civil', 'person(UIN: "TST-7")', { UIN: 'TST-7' }],
    ['civil', 'persons(sex: female, surname: "Okoro")', { sex: 'female', surname: 'Okoro' }],
    ['civil', 'person(birth_date: {ge: "1985", lt: 1990})', { birth_date: { $gte: '1985', $lt: 1990 } }],
    ['civil', 'person(name: {surname: "Okoro"})', { 'name.surname': 'Okoro' }],
    ['civil', 'person(identifier: {type: UIN, value: "TST-7"})', { UIN: 'TST-7' }],
    ['civil', 'person(identifier: {identifier_type: "BRN", identifier_value: "1"})', { BRN: '1' }],
    ['civil', 'person(UIN: {in: ["1", "2"]})', { UIN: { $in: ['1', '2'] } }],
    ['civil', 'person(UIN: 9007199254740992)', { UIN: '9007199254740992' }],
    ['civil', 'person(or: [{sex: F}, {surname: "Zed"}])', { $or: [{ sex: 'F' }, { surname: 'Zed' }] }],
    ['civil', 'person(not: {sex: F})', { $not: { sex: 'F' } }],
    ['civil', 'person(where: {sex: F, surname: "Zed"})', { sex: 'F', surname: 'Zed' }],
    ['civil', 'person(sex: F, where: {surname: "Zed"})', { $and: [{ sex: 'F' }, { surname: 'Zed' }] }],
    ['civil', 'person(surname: {exists: false}, age: {lt: 18})', { surname: { $exists: false }, age: { $lt: 18 } }],
    ['social', 'member(is_disabled: true)', { is_disabled: true }],
    [
      'ibr',
      'beneficiary(enrolment: {programme_identifier: "PRG-1", enrolment_status: Active})',
      { enrolment: { programme_identifier: 'PRG-1', enrolment_status: 'Active' } },
    ],
    [
      'ibr',
      'beneficiary(programme_identifier: "PRG-1", enrolment_status: "1")',
      { programme_identifier: 'PRG-1', enrolment_status: '1' },
    ],
  ])('%s: %s', (kind, root, expression) => {
    const { predicate, recordType } = ask(kind, `{ ${root} { __typename } }`)
    expect(predicate).toEqual(readExpression(new QueryReader(scopeOf(kind)), expression, 'q'))
    expect(recordType).toBe(scopeOf(kind).kind.record_types[0])
  })

  it('a root field names the record type', () => {
    expect(ask('social', '{ households(group_size: {gt: 3}) { group_size } }').recordType.name).toBe('Group')
  })

  it('several root fields ask for what any of them finds', () => {
    const { predicate } = ask('civil', '{ person(UIN: "1") { sex } other: person(UIN: "2") { sex } }')
    expect(predicate).toEqual({
      is: 'or',
      of: ['1', '2'].map((value) => ({ is: 'identifier', identifiers: [{ type: 'UIN', value }] })),
    })
  })
})

describe('variables', () => {
  const text = 'query Q($uin: String!, $sex: String = "F") { person(UIN: $uin, where: {sex: $sex}) { sex } }'
  const read = (expression: JsonValue) => readExpression(new QueryReader(scopeOf('civil')), expression, 'q')

  it.each<[string, JsonValue, JsonValue]>([
    [text, { uin: 'A' }, { $and: [{ UIN: 'A' }, { sex: 'F' }] }],
    [text, { uin: 'A', sex: 'male' }, { $and: [{ UIN: 'A' }, { sex: 'male' }] }],
    ['query($w: JSON) { person(where: $w) { sex } }', { w: { UIN: { $in: ['A', 'B'] } } }, { UIN: { $in: ['A', 'B'] } }],
    ['query($w: JSON = {UIN: 9007199254740992}) { person(where: $w) { sex } }', null, { UIN: '9007199254740992' }],
    ['query($l: [ID!]!) { person(UIN: {in: $l}) { sex } }', { l: ['A', 7] }, { UIN: { $in: ['A', '7'] } }],
    ['query($n: Int!) { person(age: $n) { sex } }', { n: 30 }, { age: 30 }],
  ])('%s with %j', (text, variables, expression) => {
    expect(ask('civil', text, variables).predicate).toEqual(read(expression))
  })

  it('operationName says which operation is asked', () => {
    const two = 'query A { person(UIN: "1") { sex } } query B { person(UIN: "2") { sex } }'
    expect(ask('civil', two, undefined, 'B').predicate).toEqual(read({ UIN: '2' }))
  })
})

describe('the selection is what is answered', () => {
  it.each<[string, unknown]>([
    ['BRN birth_date', { BRN: 'b-77', birth_date: '12.06.1985' }],
    ['born: date_of_birth gender', { born: '12.06.1985', gender: 'FEMALE' }],
    ['name { surname }', { name: { surname: 'Okoro' } }],
    ['name { surname } name { given_name surname }', { name: { surname: 'Okoro', given_name: 'Ada' } }],
    ['identifier { identifier_value }', { identifier: [{ identifier_value: 'TST-7' }, { identifier_value: 'b-77' }] }],
    ['surname death_date phone_number', { surname: 'Okoro', death_date: null, phone_number: ['+1', '+2'] }],
    ['birth_place { name }', { birth_place: null }],
    ['__typename name { __typename }', { __typename: 'Person', name: { __typename: 'Name' } }],
    ['SURNAME uin', { SURNAME: 'Okoro', uin: 'TST-7' }],
    ['...P', { sex: 'FEMALE', name: { surname: 'Okoro' } }],
    ['... on Person { sex } ... { surname }', { sex: 'FEMALE', surname: 'Okoro' }],
    ['sex @skip(if: true) surname @include(if: false)', {}],
    ['sex @skip(if: $no) ...P @include(if: $no)', { sex: 'FEMALE' }],
  ])('%s', (selection, expected) => {
    const fragment = selection.includes('...P') ? 'fragment P on Person { sex name { surname } }' : ''
    const head = selection.includes('$no') ? 'query($no: Boolean!)' : ''
    const variables = selection.includes('$no') ? { no: false } : undefined
    expect(answer('civil', `${head} { person(UIN: "TST-7") { ${selection} } } ${fragment}`, ADA, variables)).toEqual(expected)
  })

  it('root fields may stand in fragments', () => {
    const text = '{ ...Q ... { b: person(UIN: "2") { sex } } } fragment Q on Query { a: person(UIN: "TST-7") { surname } }'
    expect(answer('civil', text, ADA)).toEqual({ surname: 'Okoro' })
  })

  it('a record is shaped by the first root field that finds it', () => {
    const text = '{ old: person(age: {ge: 39}) { a: sex } f: person(sex: F) { b: sex } m: person(sex: M) { c: sex } }'
    expect(answer('civil', text, ADA)).toEqual({ a: 'FEMALE' })
    expect(answer('civil', text, { ...ADA, birth_date: '1985-07-01' })).toEqual({ b: 'FEMALE' })
    expect(answer('civil', text, { sex: 'male' })).toEqual({ c: 'male' })
  })

  it.each<[string, string, JsonValue, unknown]>([
    [
      'ibr',
      'beneficiary(UIN: 1) { UIN enrolment { programme_identifier enrollment_status } programme_identifier assistance_unit }',
      {
        assistance_unit: '1',
        member: {
          member_identifier: '0201',
          programme_identifier: [
            { programme: { programme_identifier: 'PRG-1' }, enrolment_status: 'Active' },
            { program: { program_identifier: 'PRG-2' } },
          ],
        },
      },
      {
        UIN: '0201',
        assistance_unit: '1',
        programme_identifier: ['PRG-1', 'PRG-2'],
        enrolment: [
          { programme_identifier: 'PRG-1', enrollment_status: 'Active' },
          { programme_identifier: 'PRG-2', enrollment_status: null },
        ],
      },
    ],
    [
      'social',
      'group(HOUSEHOLD_ID: "H-1") { group_size UIN member_list { surname demographic_info { name { surname } } } }',
      {
        household_size: '3',
        member_list: [
          { member_identifier: '1', demographic_info: { person: { name: { sur_name: 'Okoro' } } } },
          { member_identifier: '2', demographic_info: { name: { surname: 'Zed' } } },
          'unknown',
        ],
      },
      {
        group_size: '3',
        UIN: ['1', '2'],
        member_list: [
          { surname: 'Okoro', demographic_info: { name: null } },
          { surname: 'Zed', demographic_info: { name: { surname: 'Zed' } } },
          null,
        ],
      },
    ],
    [
      'farmer',
      'farmer(FARMER_ID: "F-2") { farm_size land_details { land_size } farmer_personal_details { member_identifier } }',
      { famer_personal_details: { member_identifier: 'F-2' }, 'spdci:land_details': { land_size: '5' } },
      { farm_size: ['5'], land_details: { land_size: '5' }, farmer_personal_details: { member_identifier: 'F-2' } },
    ],
    [
      'disability',
      'disabledPerson(UIN: 1) { birth_date personal_details { birth_date date_of_birth } disability_details { impairment_type } }',
      { personal_details: { date_of_birth: '1985' }, disability_details: { impairment_type: '2' } },
      {
        birth_date: '1985',
        personal_details: { birth_date: '1985', date_of_birth: '1985' },
        disability_details: { impairment_type: '2' },
      },
    ],
    [
      'ess',
      'members(employment_type: "1") { employment_info { job_title } additional_attributes }',
      { employment_info: [{ job_title: 'x' }, {}], additional_attributes: [{ a: { b: 1 } }] },
      { employment_info: [{ job_title: 'x' }, { job_title: null }], additional_attributes: [{ a: { b: 1 } }] },
    ],
  ])('of %s: %s', (kind, root, record, expected) => {
    expect(answer(kind, `{ ${root} }`, record)).toEqual(expected)
  })

  it('takes nothing from prototypes, and has members of any name where the record has them', () => {
    const record: JsonValue = JSON.parse('{"name": {"__proto__": {"surname": "x"}}, "additional_attributes": [{"__proto__": 1}]}')
    expect(answer('civil', '{ person(UIN: 1) { surname name { surname } } }', record)).toEqual({
      surname: null,
      name: { surname: null },
    })
    const shaped = ask('ess', '{ member(UIN: 1) { additional_attributes } }').shape?.(record, DAY)
    expect(JSON.stringify(shaped)).toBe('{"additional_attributes":[{"__proto__":1}]}')
  })

  it('of what is no record nothing is answered', () => {
    expect(answer('civil', '{ person(UIN: 1) { sex } }', [])).toBeNull()
  })
})
