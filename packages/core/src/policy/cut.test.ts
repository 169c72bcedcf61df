import { isJsonObject, type JsonObject, KINDS, type Kind, type RecordType, searchKey } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyRecord, grantedNames, inOneSpelling, isKnownName, leaves } from '../../test/any-record.ts'
import { processorTime } from '../../test/processor-time.ts'
import { cutRecord } from './cut.ts'
import { visibleMemberTrees } from './visible.ts'

const kindOf = (name: string): Kind => KINDS.find((kind) => kind.name === name) as Kind

function cut(
  kindName: string,
  recordTypeName: string,
  see: readonly string[],
  record: JsonObject,
  types: readonly string[] | null = null,
) {
  const kind = kindOf(kindName)
  const recordType = kind.record_types.find(({ name }) => name === recordTypeName) as RecordType
  const visible = visibleMemberTrees(kind, [recordType], see).get(recordTypeName)
  if (visible === undefined) throw new Error('no such record type')
  return cutRecord({ kind, types: types && new Set(types) }, visible, record)
}

const ADA: JsonObject = {
  '@type': 'Person',
  '@id': 'urn:person:1',
  identifier: [
    { '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'U-1', issued_by: 'Office 3' },
    { identifier_type: 'BRN', identifier_value: 'B-1' },
    { identifier_type: 'LIBRARY', identifier_value: 'L-1' },
  ],
  name: { '@type': 'Name', surname: 'Obi', given_name: 'Ada' },
  sex: 'female',
  birth_date: '1990-01-02',
  phone_number: ['+234 1'],
  parent1_identifier: { identifier_type: 'UIN', identifier_value: 'U-7' },
  address: { locality: 'Lagos', postal_code: '100' },
}

describe('cutRecord', () => {
  it('leaves nothing of a record of which nothing is visible', () => {
    expect(cut('civil', 'Person', [], ADA)).toEqual({})
  })

  it('leaves attributes, members of the document and identifiers, each by its name', () => {
    expect(cut('civil', 'Person', ['identifier', 'name', 'birth_date'], ADA, ['UIN', 'BRN'])).toEqual({
      '@type': 'Person',
      identifier: [
        { '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'U-1' },
        { identifier_type: 'BRN', identifier_value: 'B-1' },
      ],
      name: ADA.name,
      birth_date: '1990-01-02',
    })
  })

  it('finds members under other spellings and with prefixes', () => {
    const record = { 'spdci:name': { first_name: 'Ada', surname: 'Obi' }, gender: 'F', date_of_birth: '1990' }
    expect(cut('civil', 'Person', ['given_name', 'sex'], record)).toEqual({ 'spdci:name': { first_name: 'Ada' }, gender: 'F' })
  })

  it('shows identifiers of types that a kind does not list only where every type may be seen', () => {
    expect(JSON.stringify(cut('civil', 'Person', ['identifier'], ADA))).toContain('L-1')
    expect(JSON.stringify(cut('civil', 'Person', ['identifier'], ADA, ['UIN']))).not.toContain('L-1')
  })

  it('shows bare identifiers as those of their type', () => {
    expect(cut('civil', 'Person', ['phone_number'], ADA, ['MOBILE'])).toEqual({ '@type': 'Person', phone_number: ['+234 1'] })
    expect(cut('civil', 'Person', ['identifier'], ADA)).not.toHaveProperty('phone_number')
    expect(cut('civil', 'Person', ['phone_number'], ADA, ['UIN'])).toEqual({})
  })

  it('leaves of several spellings of a member the one that is read', () => {
    const record = {
      sex: 'F',
      gender: { name: 'hidden' },
      dob: '1990',
      birth_date: '1980',
      identifier: { identifier_type: 'UIN', 'x:identifier_type': 'BRN', identifier_value: 'U', Identifier_Value: 'B' },
    }
    expect(cut('civil', 'Person', ['identifier', 'sex', 'birth_date'], record, ['UIN'])).toEqual({
      sex: 'F',
      birth_date: '1980',
      identifier: { identifier_type: 'UIN', identifier_value: 'U' },
    })
  })

  it.each([
    ['two', (at: number) => `n${at}`],
    ['every two', (at: number) => `${at % 2 === 0 ? 'x' : 'y'}:n${Math.floor(at / 2)}`],
  ])('reads an object soon where %s of very many names are spellings of one', (_, nameAt) => {
    const others = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [nameAt(at), at]))
    const began = processorTime()
    expect(cut('civil', 'Person', ['sex'], { ...others, sex: 'F', 'x:sex': 'M' })).toEqual({ sex: 'F' })
    expect(processorTime() - began).toBeLessThan(1_000)
  })

  it('leaves of what an object is no more than words', () => {
    const hidden = { surname: 'Obi' }
    const record = { '@type': hidden, '@context': ['https://example.org', hidden], sex: 'F' }
    expect(cut('civil', 'Person', ['sex'], record)).toEqual({ sex: 'F' })
    const words = { '@type': ['Person'], '@context': 'https://example.org', sex: 'F' }
    expect(cut('civil', 'Person', ['sex'], words)).toEqual(words)
  })

  it('shows nothing of a related person who is a bare value', () => {
    const related_person = [{ related_member: 'Ada Obi' }, { related_member: ['Bo Obi'] }]
    for (const { name, attributes, compounds = [] } of kindOf('ibr').record_types) {
      const lists = compounds.flatMap((compound) => [compound.name, ...compound.members.map((row) => row.name)])
      const dates = attributes.filter(({ type }) => type !== 'age').map((row) => row.name)
      const see = ['related_person', ...dates, ...lists]
      const shown = cut('ibr', name, see, { related_person, member: { related_person } })
      expect(JSON.stringify(shown), name).not.toContain('Obi')
    }
  })

  it('names parents for themselves', () => {
    expect(cut('civil', 'Person', ['parents'], ADA, ['UIN'])).toEqual({
      '@type': 'Person',
      parent1_identifier: { identifier_type: 'UIN', identifier_value: 'U-7' },
    })
    expect(cut('civil', 'Person', ['parents'], ADA, ['BRN'])).toEqual({})
  })

  it('shows members of a household only as much as the record type of members', () => {
    const member = (name: string): JsonObject => ({
      member_identifier: [{ identifier_type: 'UIN', identifier_value: `U-${name}` }],
      demographic_info: { name: { surname: 'Obi', given_name: name }, sex: 'F' },
      marital_status: 'S',
      related_person: [{ relationship_type: 'child', related_member: { demographic_info: { sex: 'M' }, marital_status: 'M' } }],
    })
    const group = {
      group_size: 2,
      group_head_info: member('Ada'),
      member_list: [member('Ada'), { household_member: member('Bo') }],
    }
    expect(cut('social', 'Group', ['group_size', 'sex'], group)).toEqual({ group_size: 2 })
    const sex = { demographic_info: { sex: 'F' } }
    expect(cut('social', 'Group', ['member_list', 'sex'], group)).toEqual({ member_list: [sex, { household_member: sex }] })
    expect(cut('social', 'Group', ['group_head_info', 'related_person', 'sex'], group)).toEqual({
      group_head_info: { ...sex, related_person: [{ related_member: { demographic_info: { sex: 'M' } } }] },
    })
  })

  it('shows of an enrolment the attributes that are named', () => {
    const enrolment = {
      programme: { programme_identifier: 'PRG-7', programme_name: 'Winter grant' },
      enrolment_status: 'Active',
      benefits: { benefit_value: '100' },
    }
    const record = { member: { programme_identifier: [enrolment, 'PRG-8'], marital_status: 'S' } }
    expect(cut('ibr', 'Beneficiary', ['programme_identifier'], record)).toEqual({
      member: { programme_identifier: [{ programme: { programme_identifier: 'PRG-7' } }, 'PRG-8'] },
    })
    expect(cut('ibr', 'Beneficiary', ['enrolment'], { member: { programme_identifier: enrolment } })).toEqual({
      member: { programme_identifier: { programme: enrolment.programme, enrolment_status: 'Active' } },
    })
    expect(cut('ibr', 'Beneficiary', ['member.programme_identifier.benefits.benefit_value'], record)).toEqual({
      member: { programme_identifier: [{ benefits: { benefit_value: '100' } }] },
    })
  })
})

describe('visibleIn refuses', () => {
  const refused = (kind: string, recordType: string, name: string): unknown => {
    try {
      return cut(kind, recordType, [name], {})
    } catch (error) {
      return (error as Error).message
    }
  }

  it('a name that means nothing', () => {
    expect(refused('civil', 'Person', 'shoe_size')).toBe('see: shoe_size is no attribute, relation or member of Person')
    expect(refused('civil', 'Person', 'name.shoe_size')).toBe('see: name.shoe_size is no attribute, relation or member of Person')
  })

  it('an age without the date that it is counted from', () => {
    expect(refused('civil', 'Person', 'age')).toBe('see: age needs birth_date beside it')
    expect(refused('civil', 'Person', 'birth_date')).toEqual({})
  })

  it('a member with identifiers or other persons in it', () => {
    const rule = 'which a grant names for itself; name the members one by one'
    expect(refused('ibr', 'Beneficiary', 'member.demographic_info')).toBe(
      `see: member.demographic_info has identifier in it, ${rule}`,
    )
    expect(refused('social', 'Member', 'related_person.related_member.member_identifier')).toBe(
      `see: related_person.related_member.member_identifier has related_person in it, ${rule}`,
    )
  })
})

/** Whether a path may be seen, said as plainly as it can be: by the rows of the kind alone. */
function isAllowed(kind: Kind, recordType: RecordType, see: readonly string[], path: string): boolean {
  const begins = (place: string): boolean => `${path}.`.startsWith(`${searchKey(place)}.`)
  const related = (recordType.relations ?? []).filter(({ name }) => see.includes(name))
  for (const { paths, record_type } of related) {
    const other = kind.record_types.find(({ name }) => name === record_type)
    if (other === undefined) continue
    for (const place of paths.filter((one) => begins(one) && path !== searchKey(one))) {
      if (isAllowed(kind, other, see, path.slice(searchKey(place).length + 1))) return true
    }
  }
  const { attributes, compounds = [] } = recordType
  const places = attributes.filter(({ name }) => see.includes(name)).flatMap(({ paths }) => paths)
  const others = (recordType.relations ?? []).flatMap(({ paths }) => paths)
  const own = compounds.filter(({ paths }) => paths.every((place) => !others.includes(place)))
  const ofElements = own.flatMap((compound) =>
    compound.members
      .filter(({ name }) => see.includes(name) || see.includes(compound.name))
      .flatMap(({ paths, record_paths = [] }) => [
        ...record_paths,
        ...compound.paths.flatMap((place) => paths.map((one) => [place, one].filter((part) => part !== '').join('.'))),
      ]),
  )
  return [...places, ...ofElements].some((place) => searchKey(place) === path)
}

describe('of any record and any grant', () => {
  for (const kind of KINDS) {
    for (const recordType of kind.record_types) {
      it(`${kind.name} ${recordType.name}: what is named is left, and nothing else`, () => {
        const grants = fc.uniqueArray(fc.constantFrom(...grantedNames(kind)), { maxLength: 8 })
        fc.assert(
          fc.property(grants, anyRecord(recordType.schema), (see, any) => {
            const record = inOneSpelling(any)
            if (!isJsonObject(record)) return
            const known = see.filter((name) => isKnownName(kind, recordType, name))
            const visible = visibleMemberTrees(kind, [recordType], known).get(recordType.name)
            if (visible === undefined) throw new Error('no tree')
            const after = cutRecord({ kind, types: null }, visible, record)
            const expected = leaves(record).filter((leaf) =>
              isAllowed(kind, recordType, known, leaf.slice(0, leaf.indexOf(' = '))),
            )
            const structural = (leaf: string): boolean => !/(^|\.)@?type = /.test(leaf)
            expect(leaves(after).filter(structural)).toEqual(expected.filter(structural))
          }),
          { numRuns: 150 },
        )
      })
    }
  }
})
