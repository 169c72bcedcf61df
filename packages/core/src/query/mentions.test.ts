import type { Attribute, Compound } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import type { Predicate } from '../model/predicate.ts'
import { columnsUsedIn } from './mentions.ts'

const sex: Attribute = { name: 'sex', paths: ['sex'], type: 'code' }
const birth_date: Attribute = { name: 'birth_date', paths: ['birth_date'], type: 'date' }
const age: Attribute = { name: 'age', paths: [], type: 'age', since: 'birth_date' }
const languages: Attribute = { name: 'languages', paths: ['languages'], type: 'text', many: true }
const status: Attribute = { name: 'enrolment_status', paths: ['status'], type: 'code' }
const enrolment: Compound = { name: 'enrolment', paths: ['programmes'], members: [status] }

const female: Predicate = { is: 'compare', attribute: sex, operator: 'eq', value: 'FEMALE' }
const active: Predicate = { is: 'in', attribute: status, values: ['ACTIVE'] }

test.each<[string, Predicate, readonly string[]]>([
  ['a comparison', female, ['sex']],
  ['an age is its date', { is: 'compare', attribute: age, operator: 'ge', value: 60 }, ['birth_date']],
  ['a presence', { is: 'exists', attribute: birth_date }, ['birth_date']],
  ['a presence in a list', { is: 'exists', attribute: status, list: enrolment }, ['enrolment']],
  ['a compound, not its members', { is: 'some', list: enrolment, of: active }, ['enrolment']],
  [
    'a list',
    { is: 'some', list: languages, of: { is: 'compare', attribute: languages, operator: 'eq', value: 'x' } },
    ['languages'],
  ],
  ['identifiers', { is: 'identifier', identifiers: [{ type: 'UIN', value: '1' }] }, []],
  ['identifier types', { is: 'identifier_type', types: ['UIN'] }, []],
  [
    'each once and sorted, however deep',
    {
      is: 'or',
      of: [
        female,
        {
          is: 'not',
          of: { is: 'and', of: [female, { is: 'exists', attribute: birth_date }, { is: 'some', list: enrolment, of: active }] },
        },
      ],
    },
    ['birth_date', 'enrolment', 'sex'],
  ],
])('%s', (_, predicate, names) => {
  expect(columnsUsedIn(predicate)).toEqual(names)
})
