import type { GrantTerms } from '@rollcall/core/model/grant'
import type { StoredGrant } from '@rollcall/participants/store/grants'
import { describe, expect, test } from 'vitest'
import { isWiderGrant } from './widening.ts'

const NOW = new Date('2026-06-01T00:00:00Z')
const GRANT: GrantTerms = {
  operations: ['search'],
  ask: ['birth_date'],
  see: ['name', 'birth_date'],
  basis: 'consent',
  purposes: ['eligibility'],
  demands: ['case'],
  consent: 'signed',
  authorities: ['https://consent.example'],
  counts: 'rounded',
  page_size: 10,
  items_per_day: 100,
  items_per_minute: 10,
  records_per_minute: 10,
  rows: { Person: { expression: { collection: 'Person' } } },
  protected: ['witness'] as never,
  minors: 'never',
}

const stored = (
  terms: GrantTerms,
  { valid_from = new Date('2026-01-01T00:00:00Z'), valid_until = null as Date | null } = {},
): StoredGrant => ({ id: 1, participant: 1, registry: 1, terms, valid_from, valid_until })

describe('a grant is wider', () => {
  test('where nothing is granted', () => {
    expect(isWiderGrant(GRANT, [], NOW)).toBe(true)
  })

  test.each<[string, Partial<GrantTerms>]>([
    ['one more operation', { operations: ['search', 'subscribe'] }],
    ['every operation', { operations: 'all' }],
    ['one more attribute to ask about', { ask: ['birth_date', 'name'] }],
    ['one more attribute to see', { see: ['name', 'birth_date', 'address'] }],
    ['without a consent', { basis: 'law' }],
    ['another purpose', { purposes: ['eligibility', 'statistics'] }],
    ['no purposes', { purposes: undefined as never }],
    ['nothing demanded', { demands: [] }],
    ['an asserted consent', { consent: 'asserted' }],
    ['any authority', { authorities: undefined as never }],
    ['exact counts', { counts: 'exact' }],
    ['counts that are exact up to a cap', { counts: 'capped' }],
    ['larger pages', { page_size: 11 }],
    ['more items', { items_per_day: undefined as never }],
    ['a faster rate', { items_per_minute: 11 }],
    ['no rate of records', { records_per_minute: undefined as never }],
    ['no condition on records', { rows: {} }],
    ['every protected person', { protected: 'all' }],
    ['minors', { minors: 'allowed' }],
    ['events', { event_types: ['LiveBirth'] }],
    ['no filter', { unfiltered: true }],
    ['programmes', { programmes: 'all' }],
    ['other forms of queries', { query_forms: ['identifier', 'expression'] }],
    ['emergencies', { emergency: { see: 'all', items_per_day: 1 } }],
  ])('with %s', (_, more) => {
    expect(isWiderGrant({ ...GRANT, ...more }, [stored(GRANT)], NOW)).toBe(true)
  })

  test('that begins earlier or ends later', () => {
    const until = stored(GRANT, { valid_until: new Date('2026-12-31T00:00:00Z') })
    const later = stored(GRANT, { valid_from: new Date('2026-07-01T00:00:00Z') })
    expect(isWiderGrant(GRANT, [until], NOW)).toBe(true)
    expect(isWiderGrant({ ...GRANT, valid_until: '2027-01-01T00:00:00Z' }, [until], NOW)).toBe(true)
    expect(isWiderGrant(GRANT, [later], NOW)).toBe(true)
    expect(isWiderGrant({ ...GRANT, valid_until: '2026-12-31T00:00:00Z' }, [until], NOW)).toBe(false)
    expect(isWiderGrant({ ...GRANT, valid_until: '2026-12-30T23:59:60Z' }, [until], NOW)).toBe(false)
    expect(isWiderGrant({ ...GRANT, valid_from: '2026-08-01T00:00:00Z' }, [later], NOW)).toBe(false)
  })
})

test.each<[string, Partial<GrantTerms>]>([
  ['the same', {}],
  ['less to see', { see: ['name'] }],
  ['one record type', { record_types: ['Person'] }],
  ['one identifier type', { identifier_types: ['UIN'] }],
  ['more demanded', { demands: ['case', 'requested_by'] }],
  ['no counts', { counts: 'none' }],
  ['smaller pages', { page_size: 5 }],
  ['a limit that was not there', { records_per_day: 5 }],
  ['another reason', { legal_reference: 'Act 7' }],
])('%s is not wider', (_, less) => {
  expect(isWiderGrant({ ...GRANT, ...less }, [stored(GRANT)], NOW)).toBe(false)
})
