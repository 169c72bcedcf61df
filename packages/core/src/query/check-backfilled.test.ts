import { kindNamed, type RecordType } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import type { Predicate } from '../model/predicate.ts'
import { checkColumnsBackfilled, usesColumnInBackfill } from './mentions.ts'

const recordType = kindNamed('civil')?.record_types[0] as RecordType
const attribute = (name: string) => {
  const found = recordType.attributes.find((row) => row.name === name)
  if (found === undefined) throw new Error(`civil has no ${name}`)
  return found
}
const has = (name: string): Predicate => ({ is: 'exists', attribute: attribute(name) })
const unfilled = new Map([['Person', new Set(['birth_date', 'sex'])]])
const by = (name: string) => ({ attribute: name, descending: false })

test.each<[string, Predicate, readonly { attribute: string; descending: boolean }[], string, string]>([
  [
    'a condition',
    { is: 'and', of: [has('surname'), { is: 'not', of: has('sex') }] },
    [],
    'rjct.search_criteria.invalid',
    'search_criteria.query: sex is being backfilled and cannot be searched yet',
  ],
  [
    'an age, whose date is being backfilled',
    { is: 'compare', attribute: attribute('age'), operator: 'ge', value: 60 },
    [],
    'rjct.search_criteria.invalid',
    'search_criteria.query: birth_date is being backfilled and cannot be searched yet',
  ],
  [
    'an order',
    has('surname'),
    [by('surname'), by('birth_date')],
    'rjct.sort.invalid',
    'search_criteria.sort: birth_date is being backfilled and cannot be sorted by yet',
  ],
  [
    'an order by age',
    has('surname'),
    [by('age')],
    'rjct.sort.invalid',
    'search_criteria.sort: age is being backfilled and cannot be sorted by yet',
  ],
])('%s is refused', (_, predicate, sort, code, message) => {
  const check = () => checkColumnsBackfilled(unfilled, { recordType, predicate, sort })
  expect(check).toThrow(expect.objectContaining({ name: 'ItemRejection', code, message }))
})

test('what asks about other columns, or of another record type, is not', () => {
  checkColumnsBackfilled(unfilled, { recordType, predicate: has('surname'), sort: [by('surname')] })
  checkColumnsBackfilled(new Map([['Member', new Set(['sex'])]]), { recordType, predicate: has('sex'), sort: [by('sex')] })
  checkColumnsBackfilled(new Map(), { recordType, predicate: has('sex'), sort: [] })
})

test('while identifiers are read anew, those of any type are refused, and those of a listed type are not', () => {
  const identifiers = new Map([['Person', new Set(['identifier'])]])
  const uin = { type: 'UIN', value: '1' }
  const check = (predicate: Predicate) => checkColumnsBackfilled(identifiers, { recordType, predicate, sort: [] })
  check({ is: 'identifier', identifiers: [uin] })
  check({ is: 'identifier_type', types: ['UIN'] })
  const message = 'search_criteria.query: identifier is being backfilled and cannot be searched yet'
  const refused = { name: 'ItemRejection', code: 'rjct.search_criteria.invalid', message }
  const any: Predicate[] = [
    { is: 'identifier', identifiers: [uin, { type: '*', value: '1' }] },
    { is: 'not', of: { is: 'identifier_type', types: ['UIN', '*'] } },
  ]
  for (const predicate of any) {
    expect(() => check({ is: 'and', of: [has('sex'), predicate] })).toThrow(expect.objectContaining(refused))
  }
})

test('whether a condition asks for what is being backfilled is said without a name', () => {
  expect(usesColumnInBackfill(unfilled, recordType, { is: 'not', of: has('sex') })).toBe(true)
  expect(usesColumnInBackfill(unfilled, recordType, has('surname'))).toBe(false)
  expect(usesColumnInBackfill(new Map(), recordType, has('sex'))).toBe(false)
})
