import { describe, expect, it } from 'vitest'
import { civil } from '../kinds/civil.ts'
import { UIN } from '../kinds/identifier-types.ts'
import type { Attribute, Compound } from '../kinds/kind.ts'
import { social } from '../kinds/social.ts'
import { heldElements, heldIdentifiers, heldMember, heldMemberValues, heldValue } from './held.ts'
import { KEY_SPELLINGS, otherKeys } from './record-keys.ts'

describe('a member', () => {
  it.each([
    ['sex', { gender: 'F' }, 'F'],
    ['gender', { sex: 'F' }, 'F'],
    ['givenName', { first_name: 'Ada' }, 'Ada'],
    ['identifier', { 'spdci:identifier': 'x' }, 'x'],
    ['gender', { sex: 'F', gender: 'female' }, 'female'],
    ['sex', { sex: '', gender: null }, undefined],
    ['sex', {}, undefined],
    ['constructor', {}, undefined],
    ['__proto__', {}, undefined],
  ])('%s of %j is %j', (name, object, value) => {
    expect(heldMember(name)(object)).toEqual(value)
  })

  it.each(Object.entries(KEY_SPELLINGS))('%s and its spellings %j name each other', (key, spellings) => {
    for (const spelling of spellings) expect([key, ...otherKeys(key)]).toContain(spelling)
    for (const spelling of spellings) expect(otherKeys(spelling)).toContain(key)
    expect(otherKeys(key)).not.toContain(key)
  })
})

describe('an attribute', () => {
  const born: Attribute = { name: 'born', type: 'date', paths: ['person.birth_date', 'birth_date'] }
  const phones: Attribute = { name: 'phones', type: 'text', paths: ['phone'], many: true }

  it('is read as it is written, from the first path that has a scalar', () => {
    expect(heldValue(born)({ date_of_birth: '02.05.2004' })).toBe('02.05.2004')
    expect(heldValue(born)({ person: [{ birth_date: '' }, { birth_date: 1985 }], birth_date: '1990' })).toBe(1985)
    expect(heldValue(born)({ person: { birth_date: { year: 1985 } }, birth_date: 'unknown' })).toBe('unknown')
    expect(heldValue(born)({ person: {} })).toBeUndefined()
  })

  it('is a list where it may occur many times, even of one', () => {
    expect(heldValue(phones)({ phone: ['+1', '', '+2'] })).toEqual(['+1', '+2'])
    expect(heldValue(phones)({ phone: '+1' })).toEqual(['+1'])
    expect(heldValue(phones)({ phone: [] })).toBeUndefined()
  })
})

describe('a compound', () => {
  const enrolment: Compound = {
    name: 'enrolment',
    paths: ['enrolments', 'enrolment'],
    members: [
      { name: 'programme', type: 'text', paths: ['programme.id', ''] },
      { name: 'status', type: 'code', paths: ['status'], record_paths: ['status'] },
    ],
  }
  const [programme, status] = enrolment.members as [Compound['members'][0], Compound['members'][0]]

  it('is a list of what its elements say themselves', () => {
    const record = {
      enrolment: [{ programme: { id: 'A' }, status: '1' }, { programme: { id: 'B' }, since: 2020 }, 'C', {}],
      status: '9',
    }
    expect(heldElements(enrolment)(record)).toEqual([{ programme: 'A', status: '1' }, { programme: 'B' }, { programme: 'C' }])
  })

  it('is taken from the first path that has an element', () => {
    expect(heldElements(enrolment)({ enrolments: {}, enrolment: { status: 2 } })).toEqual([{ status: 2 }])
    expect(heldElements(enrolment)({ enrolments: 'A', enrolment: 'B' })).toEqual([{ programme: 'A' }])
    expect(heldElements(enrolment)({})).toEqual([])
  })

  it('has the values of one member, from beside the elements only where none says it', () => {
    const record = { enrolment: ['A', { programme: { id: 'B' } }], status: '9' }
    expect(heldMemberValues(enrolment, programme)(record)).toEqual(['A', 'B'])
    expect(heldMemberValues(enrolment, status)(record)).toEqual(['9'])
    expect(heldMemberValues(enrolment, status)({ enrolment: { status: '1' }, status: '9' })).toEqual(['1'])
  })
})

describe('identifiers', () => {
  const [person] = civil.record_types
  const group = social.record_types.find(({ name }) => name === 'Group')

  it('are those of one type, by any of its names, as they are written', () => {
    const uins = heldIdentifiers(civil, person, UIN)
    const record = {
      identifier: [
        { identifier_type: 'ns:uin', identifier_value: ' a-1 ' },
        { identifier_type: 'BRN', identifier_value: 'B' },
        'bare',
        { identifier_type: 'UIN', identifier_value: 77 },
        { identifier_type: 'UIN', identifier_value: 'A-1' },
        { identifier_type: 'UIN' },
      ],
    }
    expect(uins(record)).toEqual([' a-1 ', 'bare', 77])
    expect(uins({})).toEqual([])
  })

  it('are those of the people in a group as well', () => {
    if (group === undefined) throw new Error('the social registry has groups')
    const record = {
      member_list: [{ member_identifier: '1' }, { member_identifier: [{ identifier_type: 'UIN', identifier_value: '2' }] }],
    }
    expect(heldIdentifiers(social, group, UIN)(record)).toEqual(['1', '2'])
  })
})
