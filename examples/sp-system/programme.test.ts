import { describe, expect, test } from 'vitest'
import { found } from './ask.ts'
import { decide } from './programme.ts'
import { type Answers, criteriaFor } from './questions.ts'

const GOOD: Answers = { known: true, dead: false, adult: true, minor: false, poor: true, better_off: false, enrolled: false }

test('who meets every rule is eligible', () => {
  expect(decide(GOOD, [])).toEqual({ decision: 'eligible', reasons: [] })
})

test.each<[string, Partial<Answers>, string, readonly string[]]>([
  ['died', { dead: true }, 'not eligible', ['the applicant has died']],
  ['too young', { adult: false, minor: true }, 'not eligible', ['the applicant is younger than 18']],
  ['not poor', { poor: false, better_off: true }, 'not eligible', ['the household is above the poverty line']],
  ['enrolled', { enrolled: true }, 'not eligible', ['the applicant is enrolled already']],
  ['of unknown age', { adult: false }, 'to be checked', ['the age of the applicant is not certain']],
  ['in no household', { poor: false }, 'to be checked', ['no poverty score, or no single one, is known of the household']],
  ['in two households', { better_off: true }, 'to be checked', ['no poverty score, or no single one, is known of the household']],
  ['unknown', { known: false, adult: false }, 'to be checked', ['the civil registry does not know the applicant']],
  [
    'two obstacles and a doubt',
    { dead: true, enrolled: true, poor: false },
    'not eligible',
    ['the applicant has died', 'the applicant is enrolled already'],
  ],
])('%s', (_name, changes, decision, reasons) => {
  expect(decide({ ...GOOD, ...changes }, [])).toEqual({ decision, reasons })
})

describe('silence', () => {
  test('is to be checked, neither a yes nor a no', () => {
    const silent = { ...GOOD, poor: null, better_off: null }
    expect(decide(silent, ['social'])).toEqual({ decision: 'to be checked', reasons: ['the social registry gave no answer'] })
  })

  test('is also an item that the registry has not answered yet', () => {
    const item = { timestamp: '2026-02-03T09:15:00Z' }
    const data = { reg_records: [] }
    const search_response = [
      { ...item, reference_id: '1', status: 'pdng' as const },
      { ...item, reference_id: '2', status: 'pdng' as const, data },
      { ...item, reference_id: '3', status: 'rcvd' as const },
      { ...item, reference_id: '4', status: 'rcvd' as const, data },
      { ...item, reference_id: '5', status: 'succ' as const },
    ]
    const message = { transaction_id: 't', correlation_id: 'c', search_response }
    expect(found({ message }, 6)).toEqual([null, null, null, false, false, null])
  })

  test('does not outweigh an obstacle', () => {
    expect(decide({ ...GOOD, enrolled: null, dead: true }, ['ibr']).decision).toBe('not eligible')
  })
})

test('an identifier cannot become a condition', () => {
  const uin = '1", age: {ge: 0}) { birth_date } #'
  const { query } = criteriaFor('known', uin)
  expect(query).toMatchObject({ value: { expression: `{ person(UIN: ${JSON.stringify(uin)}, ) { __typename } }` } })
})
