import { describe, expect, it } from 'vitest'
import { namesOf, searchKey } from '../attributes/record-keys.ts'
import { OPERATIONS } from '../operations.ts'
import { CODE_LISTS } from '../records/code-lists.ts'
import {
  isRegType,
  KINDS,
  kindNamed,
  recordTypesOf,
  resolveAttribute,
  resolveEventType,
  resolveIdentifierType,
  resolveRecordType,
} from './index.ts'
import type { Kind } from './kind.ts'

function kind(name: string): Kind {
  const found = kindNamed(name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}

it('every kind is found by its name, which no other has, and nothing else is found', () => {
  for (const one of KINDS) expect(kindNamed(one.name)).toBe(one)
  expect(KINDS.map(({ name }) => name)).toEqual(expect.arrayContaining(['civil', 'ibr', 'ess', 'social', 'disability', 'farmer']))
  expect(kindNamed('Civil')).toBeUndefined()
  expect(kindNamed('constructor')).toBeUndefined()
})

describe('names on the wire', () => {
  it.each([
    ['civil', 'spdci-extensions-dci:Person', 'Person'],
    ['civil', 'person', 'Person'],
    ['civil', 'CRVSPerson', 'Person'],
    ['civil', 'SRPerson', 'Person'],
    ['ibr', 'Member', 'Beneficiary'],
    ['ibr', 'spdci-extensions-dci:Member', 'Beneficiary'],
    ['ibr', 'Person', 'Beneficiary'],
    ['ess', 'member', 'Member'],
    ['social', 'SRPerson', 'Member'],
    ['social', 'Group', 'Group'],
    ['social', 'Household', 'Group'],
    ['disability', 'spdci-extensions-dci:DisabledPerson', 'DisabledPerson'],
    ['disability', 'PWD_PERSON', 'DisabledPerson'],
    ['farmer', 'spdci-extensions-dci:FRPerspn', 'Farmer'],
  ])('%s: record type %s is %s', (name, spelling, recordType) => {
    expect(resolveRecordType(kind(name), spelling)?.name).toBe(recordType)
  })

  it.each([
    ['civil', 'Group'],
    ['ess', 'Group'],
    ['farmer', ''],
    ['civil', '__proto__'],
    ['social', 'Person:'],
  ])('%s: %j is no record type', (name, spelling) => {
    expect(resolveRecordType(kind(name), spelling)).toBeUndefined()
  })

  it.each([
    ['civil', 'BIRTH_REG_NO', 'BRN'],
    ['civil', 'birth_reg_no', 'BRN'],
    ['civil', 'NIN', 'NID'],
    ['civil', 'spdci:UIN', 'UIN'],
    ['social', 'NationalID', 'NID'],
    ['social', 'HOUSEHOLD_ID', 'HOUSEHOLD_ID'],
    ['farmer', 'FID', 'FARMER_ID'],
  ])('%s: identifier type %s is %s', (name, spelling, type) => {
    expect(resolveIdentifierType(kind(name), spelling)?.name).toBe(type)
  })

  it('an identifier type of another kind is unknown', () => {
    expect(resolveIdentifierType(kind('civil'), 'HOUSEHOLD_ID')).toBeUndefined()
  })

  it.each([
    ['civil', 'spdci-common:RegistryEventType:LiveBirth', 'LiveBirth'],
    ['civil', 'BIRTH', 'LiveBirth'],
    ['civil', 'live_birth', 'LiveBirth'],
    ['civil', 'DEATH', 'Death'],
    ['ibr', 'enrollment', 'enrollement'],
    ['ibr', 'enrolment_status_change', 'enrollement_status_change'],
    ['ess', 'enrolment', 'enrolment'],
    ['social', 'spdci:common:RegistryEventType:NewHouseHoldMember', 'NewHouseHoldMember'],
    ['disability', 'NewDisabledNewborn', 'REGISTER'],
    ['farmer', 'NewFarmer', 'REGISTER'],
  ])('%s: event type %s is %s', (name, spelling, event) => {
    expect(resolveEventType(kind(name), spelling)?.name).toBe(event)
  })

  it('an unknown event type is not published', () => {
    expect(resolveEventType(kind('ibr'), 'left_the_country')).toBeUndefined()
  })

  it.each([
    ['civil', 'ns:org:RegistryType:Civil'],
    ['civil', '<NAMESPACE>:RegistryType:CRVS'],
    ['ibr', 'ns:org:RegistryType:IBR'],
    ['ess', 'ESS'],
    ['social', 'SOCIAL_REGISTRY'],
    ['social', 'ns:org:RegistryType:SR'],
    ['disability', 'ns:org:RegistryType:Disability'],
    ['farmer', 'Farmer'],
  ])('%s is meant by reg_type %s, and no other kind is', (name, spelling) => {
    expect(KINDS.filter((each) => isRegType(each, spelling)).map((each) => each.name)).toEqual([name])
  })

  it.each([
    ['civil', 'gender', 'sex'],
    ['civil', 'date_of_birth', 'birth_date'],
    ['civil', 'Place_Of_Birth', 'birth_place'],
    ['civil', 'last_update', 'last_updated'],
    ['ibr', 'member.demographic_info.person.sex', 'sex'],
    ['social', 'demographic_info.person.sex', 'sex'],
  ])('%s: attribute %s is %s', (name, spelling, attribute) => {
    expect(resolveAttribute(kind(name).record_types[0], spelling)?.name).toBe(attribute)
  })

  it.each(['shoe_size', '', 'constructor'])('%j is no attribute', (spelling) => {
    expect(resolveAttribute(kind('civil').record_types[0], spelling)).toBeUndefined()
  })
})

describe('recordTypesOf', () => {
  const names = (document: unknown) => recordTypesOf(kind('social'), document).map(({ name }) => name)

  it.each([
    [{ '@type': 'spdci:Group' }, ['Group']],
    [{ '@type': 'Member' }, ['Member']],
    [{ '@type': ['Thing', 'spdci:member'] }, ['Member']],
    [{ '@type': ['Group', 'Member'] }, ['Member', 'Group']],
    [{ '@type': 'Animal' }, []],
    [{ '@type': 'constructor' }, []],
  ])('%j may be %j', (document, expected) => {
    expect(names(document)).toEqual(expected)
  })

  it.each([[{}], [{ '@type': 7 }], [{ '@type': '' }], [null], ['Group'], [[]]])('%j is of the default type', (document) => {
    expect(names(document)).toEqual(['Member'])
  })
})

describe.each(KINDS)('the literal of $name', (kind) => {
  const spellings = (rows: readonly { name: string; aliases?: readonly string[] }[]) =>
    rows.flatMap((row) => [...new Set(namesOf(row).map(searchKey))])
  const unique = <Item>(items: readonly Item[]) => expect(new Set(items).size, items.join(' ')).toBe(items.length)

  it('has one meaning for every name', () => {
    unique(spellings(kind.record_types))
    unique(spellings(kind.identifier_types))
    unique(spellings(kind.event_types))
    unique(kind.record_types.flatMap(({ document_types }) => document_types))
    for (const { attributes, compounds = [] } of kind.record_types) {
      const members = compounds.flatMap((compound) => compound.members)
      unique(spellings([...attributes, ...compounds, ...members]))
    }
  })

  it('needs and offers attributes that its records have; what an event needs is a date', () => {
    const attributes = kind.record_types.flatMap((recordType) => recordType.attributes)
    const typesOf = (name: string) => attributes.filter((row) => row.name === name).map(({ type }) => type)
    for (const { needs = [], offers: { has = [], lacks = [], by } = {} } of kind.event_types) {
      for (const name of needs) expect(['date', 'datetime'], name).toContain(typesOf(name)[0])
      for (const name of [...has, ...lacks]) expect(typesOf(name), name).not.toEqual([])
      if (by !== undefined) expect(typesOf(by.attribute)).toContain('date')
    }
  })

  it('emits what it understands', () => {
    for (const type of kind.record_types) expect(resolveRecordType(kind, type.emitted)).toBe(type)
    expect(isRegType(kind, kind.reg_type.name)).toBe(true)
  })

  it('names only operations that exist', () => {
    const own = OPERATIONS.filter((row) => row.kinds === 'own').map(({ name }) => name)
    expect(own).toEqual(expect.arrayContaining([...kind.operations]))
  })

  describe.each(kind.record_types)('$name', (type) => {
    it('has attributes from which columns can be made', () => {
      for (const attribute of type.attributes) {
        expect(attribute.name).toMatch(/^[a-z][a-z0-9_]{0,40}$/)
        expect(attribute.paths.length > 0, attribute.name).toBe(attribute.since === undefined)
        expect(attribute.type === 'age', attribute.name).toBe(attribute.since !== undefined)
        unique(attribute.paths)
        expect(attribute.sortable && attribute.many, attribute.name).toBeFalsy()
        expect(attribute.type === 'code', attribute.name).toBe(attribute.codes !== undefined)
        if (attribute.codes) expect(CODE_LISTS).toHaveProperty(attribute.codes)
        if (attribute.fold) expect(attribute.type).toBe('text')
      }
    })

    it('has lists whose members are single values of a column', () => {
      for (const compound of type.compounds ?? []) {
        expect(compound.name).toMatch(/^[a-z][a-z0-9_]{0,40}$/)
        expect(compound.paths.length).toBeGreaterThan(0)
        unique(compound.paths)
        // After the record itself nothing is looked at.
        expect(compound.paths.slice(0, -1)).not.toContain('')
        for (const member of compound.members) {
          expect(member.name).toMatch(/^[a-z][a-z0-9_]{0,40}$/)
          expect(member.paths.length).toBeGreaterThan(0)
          unique([...member.paths, ...(member.record_paths ?? []).map((path) => `record: ${path}`)])
          expect(member.many ?? member.sortable ?? member.since, member.name).toBeUndefined()
          expect(member.type === 'code', member.name).toBe(member.codes !== undefined)
          if (member.codes) expect(CODE_LISTS).toHaveProperty(member.codes)
        }
      }
    })

    it.each(['registration_date', 'last_updated'])('keeps %s indexed and sortable', (name) => {
      expect(resolveAttribute(type, name)).toMatchObject({ name, type: 'datetime', indexed: true, sortable: true })
    })

    it('has identifier sources of known types, those of the record first', () => {
      expect(kind.identifier_types.map(({ name }) => name)).toContain(type.primary_identifier)
      for (const source of type.identifiers) {
        if (source.type) expect(resolveIdentifierType(kind, source.type)?.name).toBe(source.type)
      }
      const names = type.identifiers.map((source) => source.names)
      expect(names).toEqual(names.toSorted((one, other) => other.localeCompare(one)))
      unique(type.identifiers.map(({ path }) => path))
    })
  })
})
