import {
  canonicalJson,
  identifiersWithin,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  KINDS,
  type Kind,
  kindNamed,
  type RecordType,
  readIdentifiers,
} from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyRecord, grantedNames, inOneSpelling, isKnownName } from '../../test/any-record.ts'
import type { AuditedPerson } from '../model/audit-entry.ts'
import { NOBODY_PROTECTED } from '../model/protection.ts'
import { findPersonsInRelations } from './disclosed-persons.ts'
import { type DisclosureTerms, discloseRecordParts, discloseRecords, type SelectFromShown } from './disclosure.ts'
import { visibleMemberTrees } from './visible.ts'

const social = kindNamed('social') as Kind
const [, group] = social.record_types as readonly [RecordType, RecordType]

const granted = (kind: Kind, recordType: RecordType, see: readonly string[] | null): DisclosureTerms => ({
  recordTypes: null,
  rows: new Map(),
  identifiers: { kind, types: null },
  visible: see && visibleMemberTrees(kind, [recordType], see),
  hidden: { categories: [], protection: NOBODY_PROTECTED, takesOut: null },
})

const named = (persons: readonly AuditedPerson[]): string[] => [
  ...new Set(persons.map(({ identifiers }) => identifiers.map(({ type, value }) => `${type} ${value}`).join())),
]

const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
const household_id = (identifier_value: string) => ({ identifier_type: 'HOUSEHOLD_ID', identifier_value })
const member = (name: string, more: JsonObject = {}): JsonObject => ({
  member_identifier: [{ identifier_type: 'UIN', identifier_value: name }],
  demographic_info: { sex: 'F' },
  ...more,
})
const household: JsonObject = {
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }],
  group_size: 3,
  group_head_info: member('ADA'),
  member_list: [
    member('ADA', { related_person: [{ related_member: member('ZOE', { marital_status: 'S' }) }] }),
    { household_member: member('BO') },
    { marital_status: 'S', member_identifier: 'CY' },
  ],
}

const factsOf = (see: readonly string[] | null, select?: SelectFromShown) => {
  const grant = granted(social, group, see)
  const [disclosed] = discloseRecords(grant, group, [canonicalJson(household)], select)
  return { persons: named(disclosed?.audited.persons ?? []), paths: disclosed?.audited.paths }
}

describe('what an audit entry says of a record that is shown', () => {
  it('names its person by identifiers that are cut away too, and nobody of whom nothing is shown', () => {
    expect(factsOf(['group_size'])).toEqual({ persons: ['HOUSEHOLD_ID H-1'], paths: ['group_size'] })
    expect(factsOf(['sex'])).toEqual({ persons: ['HOUSEHOLD_ID H-1'], paths: [] })
  })

  it('names related persons of whom something is shown, however deep they are', () => {
    expect(factsOf(['member_list', 'sex'])).toEqual({
      persons: ['HOUSEHOLD_ID H-1', 'UIN ADA', 'UIN BO'],
      paths: ['member_list.demographic_info.sex', 'member_list.household_member.demographic_info.sex'],
    })
    expect(factsOf(['group_head_info', 'sex']).persons).toEqual(['HOUSEHOLD_ID H-1', 'UIN ADA'])
    expect(factsOf(['member_list', 'related_person', 'marital_status']).persons).toEqual([
      ...['HOUSEHOLD_ID H-1', 'UIN ZOE', 'UIN ADA', 'UIN CY'],
    ])
    expect(factsOf(null).persons.toSorted()).toEqual([...['HOUSEHOLD_ID H-1', 'UIN ADA', 'UIN BO', 'UIN CY', 'UIN ZOE']])
  })

  it('names those alone whose relation a query chose', () => {
    const size: SelectFromShown = (record) => ({ group_size: (record as JsonObject).group_size ?? null })
    const members: SelectFromShown = (record) => ({ list: (record as JsonObject).member_list ?? null })
    expect(factsOf(null, size)).toEqual({ persons: ['HOUSEHOLD_ID H-1'], paths: ['group_size'] })
    expect(factsOf(null, members).persons.toSorted()).toEqual([...['HOUSEHOLD_ID H-1', 'UIN ADA', 'UIN BO', 'UIN CY', 'UIN ZOE']])
  })

  it('names others who stand where the kind describes nobody, and nobody twice', () => {
    const spouse = { identifier: [uin('UMA')], name: 'Uma Obi', address: 'Rd 5' }
    const others = (kindName: string, record: JsonObject, see: readonly string[] | null, select?: SelectFromShown) => {
      const kind = kindNamed(kindName) as Kind
      const [recordType] = kind.record_types
      const grant = granted(kind, recordType, see)
      const [disclosed] = discloseRecords(grant, recordType, [canonicalJson(record)], select)
      return named(disclosed?.audited.persons ?? [])
    }
    const ada = { identifier: [uin('ADA')], name: { surname: 'Obi' }, spouse }
    expect(others('civil', ada, null)).toEqual(['UIN ADA', 'UIN UMA'])
    expect(others('civil', ada, ['name'])).toEqual(['UIN ADA'])
    const nameOf = (one: 'name' | 'spouse'): SelectFromShown => {
      return (record) => ({ name: ((record as JsonObject)[one] as JsonObject | undefined)?.name ?? null })
    }
    expect(others('civil', ada, null, nameOf('name'))).toEqual(['UIN ADA'])
    expect(others('civil', ada, null, nameOf('spouse'))).toEqual(['UIN ADA', 'UIN UMA'])
    // An identifier without a type is one of each.
    expect(others('disability', { ...member('ADA'), friend: { identifier: 'UMA' } }, null)[1]).toMatch(/^UIN UMA,.*\* UMA$/)
    const family_details = { group_identifier: [household_id('H-1')], member_list: [member('UMA')] }
    expect(others('farmer', { member_identifier: [uin('ADA')], family_details }, null)).toEqual(
      expect.arrayContaining(['UIN ADA', 'UIN UMA']),
    )
    const human_assistance = { caregiver: { identifier: [uin('UMA')], name: 'Uma Obi' } }
    const disabled = { ...member('ADA'), disability_support: { human_assistance } }
    expect(others('disability', disabled, null)).toEqual(['UIN ADA', 'UIN UMA'])
    // Here the identifier of a member is not at the place of members.
    const elsewhere = { identifier: [uin('UMA')], marital_status: 'S' }
    const related_person = [{ related_member: elsewhere }]
    expect(others('social', member('ADA', { related_person }), ['related_person', 'marital_status'])).toEqual([
      'UIN ADA',
      'UIN UMA',
    ])
  })

  it('names the person of each part', () => {
    const partsOf = (record: JsonValue) => [(record as JsonObject).group_head_info ?? null]
    const parts = [...discloseRecordParts(granted(social, group, null), group, canonicalJson(household), partsOf)]
    expect(named(parts[0]?.audited.persons ?? [])).toEqual(['HOUSEHOLD_ID H-1', 'UIN ADA'])
    expect(parts[0]?.audited.paths).toEqual([
      'demographic_info.sex',
      'member_identifier.identifier_type',
      'member_identifier.identifier_value',
    ])
  })
})

/** The paths of all values in a message, by the simplest possible rule. */
function pathsIn(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap((element) => pathsIn(element, path))
  const members = isJsonObject(value) ? Object.entries(value) : []
  if (members.length === 0) return path.length === 0 ? [] : [path.join('.')]
  return members.flatMap(([name, one]) => (/^@(type|context)$/.test(name) ? [] : pathsIn(one, [...path, name])))
}

/** The identifiers that any object in a message has, or is. */
function borneIn(kind: Kind, value: JsonValue): ReturnType<typeof identifiersWithin> {
  if (Array.isArray(value)) return value.flatMap((element) => borneIn(kind, element))
  if (!isJsonObject(value)) return []
  return [...identifiersWithin(kind, value), ...Object.values(value).flatMap((member) => borneIn(kind, member))]
}

const keysOf = (identifiers: readonly { type: string; value: string }[]): string[] => [
  ...new Set(identifiers.map(({ type, value }) => `${type} ${value}`)),
]

/** The value without one object in it. */
function without(value: JsonValue, object: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((one) => one !== object).map((one) => without(one, object))
  if (!isJsonObject(value)) return value
  const rest = Object.entries(value).filter(([, one]) => one !== object)
  return Object.fromEntries(rest.map(([name, one]) => [name, without(one, object)]))
}

const ITSELF = { identifiers: [{ path: '', names: 'record' }] } as const

describe('of any record and any grant', () => {
  for (const kind of KINDS) {
    for (const recordType of kind.record_types) {
      it(`${kind.name} ${recordType.name}: the audit entry has the paths and the persons of what is sent`, () => {
        const own = (type: Pick<RecordType, 'identifiers'>, record: JsonValue): string =>
          readIdentifiers(kind, type, record)
            .flatMap(({ names, type, value }) => (names === 'record' ? [`${type} ${value}`] : []))
            .join()
        const names = fc.uniqueArray(fc.constantFrom('identifier', ...grantedNames(kind)), { maxLength: 8 })
        fc.assert(
          fc.property(fc.option(names), anyRecord(recordType.schema), (see, any) => {
            const record = inOneSpelling(any)
            if (!isJsonObject(record)) return
            const known = see?.filter((name) => isKnownName(kind, recordType, name)) ?? null
            const grant = granted(kind, recordType, known)
            const [sent] = discloseRecords(grant, recordType, [canonicalJson(record)])
            if (sent === undefined) throw new Error('the record is not disclosed')
            const { persons, paths, record_type } = sent.audited
            expect(record_type).toBe(recordType.name)
            expect(paths.toSorted()).toEqual([...new Set(pathsIn(JSON.parse(sent.text)))].toSorted())
            // A person is shown where the message would be another one without that person.
            const others = findPersonsInRelations(kind, recordType, record).filter(({ person }) => {
              const [rest] = discloseRecords(grant, recordType, [canonicalJson(without(record, person))])
              return rest?.text !== sent.text
            })
            const expected = others.flatMap(({ relation, person }) => {
              const type = kind.record_types.find(({ name }) => name === relation.record_type)
              return own(type ?? ITSELF, person) || []
            })
            expect(named(persons)).toEqual(expect.arrayContaining([own(recordType, record), ...expected]))
            // The persons include all others whom the message names, and nobody else.
            const borne = borneIn(kind, JSON.parse(sent.text))
            const all = keysOf(persons.flatMap(({ identifiers }) => identifiers))
            expect(all).toEqual(expect.arrayContaining(keysOf(borne.filter(({ untyped }) => !untyped))))
            const described = [own(recordType, record), ...expected].flatMap((one) => one.split(','))
            const possible = [...described, ...keysOf(borneIn(kind, record))]
            expect(all.filter((one) => !possible.includes(one))).toEqual([])
          }),
          { numRuns: 100 },
        )
      })
    }
  }
})
