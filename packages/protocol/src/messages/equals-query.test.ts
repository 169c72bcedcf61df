import { expect, test } from 'vitest'
import { RequestFault } from '../faults.ts'
import { ENROLLED_ATTRIBUTES, readEqualsQuery } from './equals-query.ts'

const PLACE = 'message.enrolled_criteria.query'
const read = (query: unknown) => readEqualsQuery(query, PLACE, ENROLLED_ATTRIBUTES)

test.each([
  ['an attribute with eq', { person_identifier: { eq: 'U-1' } }, { person: 'U-1' }],
  ['another spelling of eq', { person_identifier: { $eq: 'U-1' } }, { person: 'U-1' }],
  [
    'a programme, as records spell it',
    { person_identifier: { eq: 'U-1' }, 'programme_identifier.programme.programme_identifier': { eq: 'PRG-7' } },
    { person: 'U-1', programme: 'PRG-7' },
  ],
  [
    'a programme, as the specification spells it',
    { person_identifier: { eq: 'U-1' }, 'programme_identifier.program.programme_identifier': { eq: 'PRG-7' } },
    { person: 'U-1', programme: 'PRG-7' },
  ],
  [
    'a comparison that is spelled out',
    { attribute_name: 'person_identifier', operator: 'eq', attribute_value: 'U-1' },
    { person: 'U-1' },
  ],
  ['a number', { person_identifier: { eq: 4100 } }, { person: '4100' }],
  ['nothing', {}, {}],
])('%s is understood', (_name, query, expected) => {
  expect(read(query)).toEqual(expected)
})

const NAMES = 'person_identifier, programme_identifier.programme.programme_identifier'

test.each<[string, unknown, string]>([
  ['a list', [], 'must be an object'],
  ['another attribute', { surname: { eq: 'SECRET' } }, `each attribute must be one of ${NAMES}`],
  ['another operator', { person_identifier: { gt: 'SECRET' } }, 'each attribute must be an object with the one member eq'],
  ['two operators', { person_identifier: { eq: 'SECRET', gt: '1' } }, 'each attribute must be an object with the one member eq'],
  ['a bare value', { person_identifier: 'SECRET' }, 'each attribute must be an object with the one member eq'],
  [
    'another operator, spelled out',
    { attribute_name: 'person_identifier', operator: 'ne', attribute_value: 'SECRET' },
    'operator must be eq',
  ],
  [
    'more than the comparison',
    { attribute_name: 'person_identifier', operator: 'eq', attribute_value: 'SECRET', or: {} },
    'may have attribute_name, operator, attribute_value and no other member',
  ],
  ['a name that is none', { attribute_name: 7, operator: 'eq', attribute_value: 'SECRET' }, 'attribute_name must be a string'],
  [
    'one attribute twice',
    { programme_identifier: { eq: 'A' }, 'programme_identifier.program.programme_identifier': { eq: 'B' } },
    'must compare programme_identifier.programme.programme_identifier only once',
  ],
  ['a value that is none', { person_identifier: { eq: '' } }, 'the value of person_identifier: must be a text that is not empty'],
  ['a fraction', { person_identifier: { eq: 1.5 } }, 'the value of person_identifier: must be a text that is not empty'],
])('%s is refused', (_name, query, rule) => {
  expect(() => read(query)).toThrow(new RequestFault('err.request.bad', `${PLACE}: ${rule}`))
  expect(rule).not.toContain('SECRET')
})
