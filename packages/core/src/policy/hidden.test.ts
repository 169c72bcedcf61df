import { type Kind, kindNamed, type RecordType } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import type { GrantTerms } from '../model/grant.ts'
import type { Protection } from '../model/protection.ts'
import { discloseRecords } from './disclosure.ts'
import { readGrant } from './grant.ts'
import { grantWithHiddenPersons } from './hidden.ts'

const civil = kindNamed('civil') as Kind
const [person] = civil.record_types as readonly [RecordType]
const PERSON = { id: 1, category: 'shelter' } as const
const KEY = 'UIN:U-1001'
const protection: Protection = {
  version: 1,
  byIdentifier: new Map([[KEY, [PERSON]]]),
  byProtectingIdentifier: new Map([[KEY, [PERSON]]]),
}
const TERMS: GrantTerms = { operations: ['search'], see: ['surname'], basis: 'law' }
const grantOf = (terms: Partial<GrantTerms>, day = '2026-02-03') =>
  grantWithHiddenPersons(readGrant(civil, { id: 1, terms: { ...TERMS, ...terms } }), { majority_age: 18 }, protection, day)
const record = (value: string, more: object = {}) =>
  JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value: value }], name: { surname: 'Obi' }, ...more })

describe('withHidden', () => {
  it('hides protected persons of categories that the grant does not name', () => {
    const shown = (terms: Partial<GrantTerms>) => [...discloseRecords(grantOf(terms), person, [record('U-1001')])].length
    expect(shown({})).toBe(0)
    expect(shown({ see: 'all', ask: 'all' })).toBe(0)
    expect(shown({ protected: ['sealed', 'adoption'] })).toBe(0)
    expect(shown({ protected: ['shelter'] })).toBe(1)
    expect(shown({ protected: 'all' })).toBe(1)
  })

  it('lets the emergency part of a grant reach no protected person', () => {
    const grant = grantOf({ protected: 'all', emergency: { see: ['address'], items_per_day: 1 } })
    expect(grant.hidden.categories).toContain('shelter')
    expect(grant.emergency?.hidden.categories).toEqual([])
    expect(grant.emergency?.hidden.takesOut).not.toBeNull()
  })

  it('finds nobody who is a minor on the day, nor anybody without a birth date', () => {
    const found = (day: string, birth_date?: string) =>
      [...discloseRecords(grantOf({ minors: 'never' }, day), person, [record('U-2', birth_date ? { birth_date } : {})])].length
    expect(found('2026-02-02', '2008-02-03')).toBe(0)
    expect(found('2026-02-03', '2008-02-03')).toBe(1)
    // Somebody born in that year may be a minor until its end.
    expect(found('2026-12-30', '2008')).toBe(0)
    expect(found('2026-12-31', '2008')).toBe(1)
    expect(found('2026-02-03')).toBe(0)
  })

  it('keeps the conditions of the grant beside the age', () => {
    const terms = { minors: 'never', rows: { Person: { sex: { eq: 'female' } } } } as const
    const of = (sex: string) =>
      [...discloseRecords(grantOf(terms), person, [record('U-2', { sex, birth_date: '1990-01-01' })])].length
    expect([of('female'), of('male')]).toEqual([1, 0])
  })
})
