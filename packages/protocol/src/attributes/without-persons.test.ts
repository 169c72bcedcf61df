import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { KINDS } from '../kinds/index.ts'
import { withoutPersons } from './without-persons.ts'

/** The record without the person who has this UIN or this NID. */
function without(kindName: string, recordTypeName: string, document: JsonObject, ...hidden: string[]): JsonObject {
  const kind = KINDS.find(({ name }) => name === kindName)
  const recordType = kind?.record_types.find(({ name }) => name === recordTypeName)
  if (kind === undefined || recordType === undefined) throw new Error('no such record type')
  return withoutPersons(kind, recordType, document, ({ identifiers }) => {
    const borne = identifiers.find(({ type, value }) => hidden.includes(`${type}:${value}`))
    // One person, whichever identifier.
    return borne === undefined ? null : 'the person'
  })
}

const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const member = (value: string, more: JsonObject = {}): JsonObject => ({
  '@type': 'Member',
  member_identifier: [uin(value)],
  demographic_info: { name: { surname: `Of ${value}` } },
  ...more,
})
const household = (more: JsonObject): JsonObject => ({
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }],
  ...more,
})

describe('withoutPersons', () => {
  it('takes a member out of a household, as its head too, and counts the person once', () => {
    const document = household({
      group_size: 3,
      group_head_info: member('U-1'),
      member_list: [member('U-1'), member('U-2'), member('U-3')],
    })
    expect(without('social', 'Group', document, 'UIN:U-1')).toEqual(
      household({ group_size: 2, member_list: [member('U-2'), member('U-3')] }),
    )
    expect(without('social', 'Group', document, 'UIN:U-9')).toBe(document)
  })

  it('takes members out of every shape of a list, with the list where nobody is left', () => {
    const alone = household({ household_size: '1', member_list: { household_member: [member('U-1')] } })
    expect(without('social', 'Group', alone, 'UIN:U-1')).toEqual(household({ household_size: '0' }))
    const each = household({ member_list: [{ household_member: member('U-1') }, { household_member: member('U-2') }] })
    expect(without('social', 'Group', each, 'UIN:U-1')).toEqual(household({ member_list: [{ household_member: member('U-2') }] }))
  })

  it('takes a related person out with what says how they are related, inside of another person too', () => {
    const related = (value: string): JsonObject => ({
      relationship_type: 'spouse',
      related_member: { member_identifier: [uin(value)] },
    })
    const record = member('U-1', { related_person: [related('U-2'), related('U-3')] })
    expect(without('social', 'Member', record, 'UIN:U-2')).toEqual(member('U-1', { related_person: [related('U-3')] }))
    expect(without('ess', 'Member', member('U-1', { related_person: related('U-2') }), 'UIN:U-2')).toEqual(member('U-1'))
    expect(without('ibr', 'Beneficiary', { member: record }, 'UIN:U-2')).toEqual({
      member: member('U-1', { related_person: [related('U-3')] }),
    })
    const group = household({ group_size: 2, member_list: [record, member('U-4')] })
    expect(without('social', 'Group', group, 'UIN:U-2')).toEqual(
      household({ group_size: 2, member_list: [member('U-1', { related_person: [related('U-3')] }), member('U-4')] }),
    )
  })

  it('takes out parents, and whoever is named where a kind knows of nobody', () => {
    const person: JsonObject = {
      identifier: [uin('U-1'), { identifier_type: 'NID', identifier_value: 'N-7777' }],
      parent1_identifier: uin('U-2000'),
      parent2_identifier: uin('U-3000'),
      spouse_identifier: uin('U-2000'),
      'x:spouse': 'u-2000',
      guardian: { identifier: [{ identifier_type: 'LIBRARY', identifier_value: '7' }, uin('U-2000')], name: 'Ada' },
      witnesses: [
        { name: 'Bo', person: { identifier: uin('U-2000') } },
        { name: 'Cy', identifier: uin('U-3000') },
        { name: 'Di', 'x:UIN': ['U-2000'] },
      ],
      additional_attributes: { note: 'U-20', mother: 'U-2000' },
    }
    expect(without('civil', 'Person', person, 'UIN:U-2000')).toEqual({
      identifier: person.identifier,
      parent2_identifier: uin('U-3000'),
      witnesses: [{ name: 'Cy', identifier: uin('U-3000') }],
      additional_attributes: { note: 'U-20' },
    })
  })

  it('takes out a person whose identifier stands where the kind lists none, with all that stands beside it', () => {
    const shown = household({ group_size: 1, member_list: [member('U-2')] })
    const secret = { name: 'Zara', address: 'Shelter Rd 5', birth_date: '1990-05-05' }
    const bearing: JsonObject[] = [
      { identifier: [uin('U-1001')] },
      { 'x:Identifier': uin('U-1001') },
      { person: { demographic_info: { member_identifier: 'U-1001' } } },
      { member_identifier: [], 'spdci:member_identifier': [uin('U-1001')] },
      { member_identifier: [{ identifier_type: 'UIN', identifier_value: [], 'x:identifier_value': 'U-1001' }] },
      { demographic_info: {}, 'x:demographic_info': { identifier: [uin('U-1001')] } },
      // Nobody else is named there.
      { cards: [uin('U-1001')] },
      { uin: 'U-1001', demographic_info: { phone_number: ['+1 555 0100'] } },
      { household_member: [], member_identifier: [uin('U-1001')] },
      uin('U-1001'),
    ]
    for (const one of bearing) {
      const document = household({ group_size: 2, member_list: [{ ...one, ...secret }, member('U-2')] })
      expect(without('social', 'Group', document, 'UIN:U-1001')).toEqual(shown)
      const related = { relationship_type: 'spouse', related_member: { ...one, ...secret } }
      const record = member('U-3', { related_person: [related] })
      expect(without('social', 'Member', record, 'UIN:U-1001')).toEqual(member('U-3'))
    }
    const named = member('U-2', { guardian: 'U-1001' })
    expect(without('social', 'Group', household({ member_list: [named] }), 'UIN:U-1001')).toEqual(
      household({ member_list: [member('U-2')] }),
    )
    const other = household({ member_list: [{ member_identifier: ['N-7'], name: 'Bo' }] })
    expect(without('social', 'Group', other, 'NID:N-7')).toBe(other)
  })

  it('asks about a person around whom others stand as about a person of the relation', () => {
    const kind = KINDS.find(({ name }) => name === 'social')
    const group = kind?.record_types.find(({ name }) => name === 'Group')
    if (kind === undefined || group === undefined) throw new Error('no such record type')
    const asked = (element: JsonObject): boolean[] => {
      const found: boolean[] = []
      withoutPersons(kind, group, { member_list: [element] }, ({ relation, record }) => {
        if (record !== null) found.push(relation !== null)
        return null
      })
      return found
    }
    const around = { household_member: [member('U-2')] }
    expect(asked({ relationship_type: 'child', ...around })).toEqual([false, true])
    expect(asked({ demographic_info: { birth_date: '2020-01-01' }, ...around })).toEqual([true, true])
    expect(asked({ ...member('U-1'), ...around })).toEqual([true, true])
    expect(asked({ ...member('U-1'), household_member: [] })).toEqual([true])
  })

  it('takes out who stands in a spelling of a member from which the record is not read', () => {
    const person = { identifier: [uin('U-9')], 'spdci:identifier': [uin('U-1001')], name: 'Bo' }
    expect(without('civil', 'Person', person, 'UIN:U-1001')).toEqual({ identifier: [uin('U-9')], name: 'Bo' })
    const info = { demographic_info: { name: 'Bo' }, 'x:demographic_info': { identifier: [uin('U-1001')] } }
    expect(without('social', 'Member', info, 'UIN:U-1001')).toEqual({ demographic_info: { name: 'Bo' } })
  })

  it('counts who is gone: one person once, whichever identifiers each entry has, and nobody who is left elsewhere', () => {
    const nid = (value: string) => ({ identifier_type: 'NID', identifier_value: value })
    const bearing = (...identifiers: JsonObject[]) => ({ member_identifier: identifiers })
    const child = (...identifiers: JsonObject[]) => ({ ...bearing(...identifiers), is_disabled: true })
    const home = { identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }
    const village = { identifier_type: 'VILLAGE', identifier_value: 'V-1' }
    const sized = (group_size: number, more: JsonObject): number => {
      const kind = KINDS.find(({ name }) => name === 'social')
      const group = kind?.record_types.find(({ name }) => name === 'Group')
      if (kind === undefined || group === undefined) throw new Error('no such record type')
      const left = withoutPersons(kind, group, { group_size, ...more }, ({ record }) =>
        record?.document.is_disabled === true ? '' : null,
      )
      return Number(left.group_size)
    }
    const [one, two] = [uin('U-1'), uin('U-2')]
    expect(sized(2, { group_head_info: child(one), member_list: [bearing(one), bearing(two)] })).toBe(2)
    expect(sized(2, { group_head_info: child(one), member_list: [child(nid('N-1'), one), bearing(two)] })).toBe(1)
    expect(sized(3, { member_list: [child(one), child(nid('N-1')), child(nid('N-1'), one), bearing(two)] })).toBe(2)
    expect(sized(3, { member_list: [child(), child(), bearing(two)] })).toBe(1)
    const phone = { demographic_info: { phone_number: '+1 555 0100' } }
    for (const shared of [home, village]) {
      expect(sized(2, { member_list: [child(one, shared), bearing(two, shared)] })).toBe(1)
    }
    expect(
      sized(2, {
        member_list: [
          { ...child(one), ...phone },
          { ...bearing(), ...phone },
        ],
      }),
    ).toBe(1)
  })

  it('never takes out the record itself, nor a value of another type', () => {
    const person: JsonObject = {
      identifier: [uin('U-1000'), { identifier_type: 'NID', identifier_value: 'U-2000' }],
      parent1_identifier: { identifier_type: 'BRN', identifier_value: 'U-2000' },
      phone_number: ['U-2000'],
    }
    expect(without('civil', 'Person', person, 'UIN:U-1000', 'UIN:U-2000')).toBe(person)
    const own = member('U-1000', { demographic_info: { identifier: [uin('U-1000')], name: { surname: 'Obi' } } })
    expect(without('social', 'Member', own, 'UIN:U-1000')).toBe(own)
    expect(without('ibr', 'Beneficiary', { member: own }, 'UIN:U-1000')).toEqual({ member: own })
  })

  it('leaves what no kind describes as it is', () => {
    for (const document of [{}, { member_list: null }, { a: { b: [] } }]) {
      expect(without('social', 'Group', document, 'UIN:U-1')).toBe(document)
    }
    const nested = { member_list: [[member('U-1')]], a: 1 }
    expect(without('social', 'Group', nested, 'UIN:U-1')).toEqual({ a: 1 })
    expect(without('social', 'Group', { member_list: ['U-1'], a: 1 }, 'UIN:U-1')).toEqual({ a: 1 })
  })
})
