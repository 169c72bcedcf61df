import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namesOf } from '../attributes/record-keys.ts'
import { KINDS, kindNamed, resolveRecordType } from './index.ts'
import type { Kind, RecordType } from './kind.ts'
import { resolveSearchable, type Searchable, searchableNames } from './searchable.ts'

/** The meaning of a spelling, in short: "attribute sex", "member enrolment.programme_name", "identifier UIN NID". */
function meaning(found: Searchable | undefined): string | undefined {
  switch (found?.is) {
    case 'attribute':
      return `attribute ${found.attribute.name}`
    case 'member':
      return `member ${found.compound.name}.${found.attribute.name}`
    case 'compound':
      return `compound ${found.compound.name}`
    case 'identifier':
      return `identifier ${found.types.map(({ name }) => name).join(' ')}`
    default:
      return found?.is
  }
}

function typeOf(place: string): [Kind, RecordType] {
  const [name = '', type] = place.split(' ')
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return [kind, (type === undefined ? undefined : resolveRecordType(kind, type)) ?? kind.record_types[0]]
}

const mean = (place: string, spelling: string) => meaning(resolveSearchable(...typeOf(place), spelling))

describe('resolveSearchable', () => {
  it.each([
    ['civil', 'sex', 'attribute sex'],
    ['civil', 'gender', 'attribute sex'],
    ['civil', 'Date_Of_Birth', 'attribute birth_date'],
    ['civil', 'spdci:birthDate', 'attribute birth_date'],
    ['civil', 'name.first_name', 'attribute given_name'],
    ['civil', 'age', 'attribute age'],
    ['ibr', 'spdci:member.spdci:demographic_info.x:y:person.gender', 'attribute sex'],
    ['social', 'demographic_info.person.sex', 'attribute sex'],
    ['social Group', 'household_size', 'attribute group_size'],
    ['social Group', 'group_identifier', 'identifier HOUSEHOLD_ID'],
    ['social Group', 'spdci:group_identifier.identifier_value', 'identifier HOUSEHOLD_ID'],
    ['social Group', 'identifier', 'identifier UIN NID HOUSEHOLD_ID MOBILE EMAIL *'],
    ['social Group', 'place.name', 'attribute location'],
    ['ess', 'enrollment_status', 'attribute enrolment_status'],
  ])('%s: %s is %s', (place, spelling, expected) => {
    expect(mean(place, spelling)).toBe(expected)
  })

  it.each([
    ['ibr', 'enrolment', 'compound enrolment'],
    ['ibr', 'Enrollment', 'compound enrolment'],
    ['ibr', 'enrolment.programme_identifier', 'member enrolment.programme_identifier'],
    ['ibr', 'enrollment_status', 'member enrolment.enrolment_status'],
    ['ibr', 'programme_identifier', 'member enrolment.programme_identifier'],
    ['ibr', 'programme_identifier.programme.programme_identifier', 'member enrolment.programme_identifier'],
    ['ibr', 'programme_identifier.program.program_identifier', 'member enrolment.programme_identifier'],
    ['ibr', 'member.programme_identifier.enrolment_status', 'member enrolment.enrolment_status'],
    ['ibr', 'additional_attributes.enrolment_status', 'member enrolment.enrolment_status'],
    ['ess', 'employment_info', 'compound employment'],
    ['ess', 'employment_info.employment_type', 'member employment.employment_type'],
    ['disability', 'disability_type', 'member impairment.impairment_type'],
    ['disability', 'disability_details', 'compound impairment'],
    ['disability', 'programmes_enrolments.program_name', 'member programme_enrolment.programme_name'],
    ['farmer', 'land_size', 'member parcel.farm_size'],
    ['farmer', 'land_details.farming_activities.crop_details.crop_type', 'member crop.crop_type'],
    ['social Group', 'member_list.demographic_info.sex', 'member household_member.sex'],
    ['social Group', 'gender', 'member household_member.sex'],
  ])('%s: %s is of a list: %s', (place, spelling, expected) => {
    expect(mean(place, spelling)).toBe(expected)
  })

  it.each([
    ['ibr', 'UIN', 'identifier UIN'],
    ['ibr', 'nin', 'identifier NID'],
    ['civil', 'birth_reg_no', 'identifier BRN'],
    ['civil', 'phone_number', 'identifier MOBILE'],
    ['social', 'demographic_info.phone_number', 'identifier MOBILE'],
    ['farmer', 'land_details.farm_id', 'identifier FARM_ID'],
    ['ibr', 'person_identifier', 'identifier UIN NID *'],
    ['ibr', 'identifier', 'identifier UIN NID *'],
    ['ibr', 'spdci:identifier.spdci:identifier_value', 'identifier UIN NID *'],
    ['ibr', 'identifier_value', 'identifier UIN NID *'],
    ['ibr', 'member.member_identifier', 'identifier UIN NID *'],
    ['ibr', 'member.demographic_info.person.identifier_value', 'identifier UIN NID *'],
    ['disability', 'personal_details.member_identifier', 'identifier UIN *'],
    ['ess', 'identifier_type', 'identifier_type'],
    ['ess', 'identifier.identifier_type', 'identifier_type'],
    ['ess', 'Member_Identifier.identifier_type', 'identifier_type'],
    ['ibr', 'member.demographic_info.person.identifier_type', 'identifier_type'],
  ])('%s: %s is an %s', (place, spelling, expected) => {
    expect(mean(place, spelling)).toBe(expected)
  })

  it.each([
    ['civil', 'shoe_size'],
    ['civil', ''],
    ['civil', '.'],
    ['civil', 'sex.'],
    ['civil', '__proto__'],
    ['civil', 'constructor'],
    ['civil', 'HOUSEHOLD_ID'],
    ['civil', 'name'],
    ['ess', 'demographic_info'],
    ['ess', 'demographic_info.value'],
    ['social Group', 'surname'],
    ['farmer', 'crop_details'],
  ])('%s: %j is nothing that a query may ask about', (place, spelling) => {
    expect(mean(place, spelling)).toBeUndefined()
  })

  it('never means the members of a household by the path of its head', () => {
    expect(mean('social Group', 'member_list.demographic_info.sex')).toBe('member household_member.sex')
    expect(mean('social Group', 'member_list.member_identifier')).toMatch(/^identifier UIN/)
    for (const below of ['', '.sex', '.demographic_info.sex', '.member_identifier', '.phone_number']) {
      expect(mean('social Group', `spdci:Group_Head_Info${below}`)).toBeUndefined()
    }
    const [kind, group] = typeOf('social Group')
    const head = { name: 'head_sex', paths: ['group_head_info.demographic_info.sex'], type: 'code' } as const
    const asked = { ...group, attributes: [...group.attributes, head] }
    expect(meaning(resolveSearchable(kind, asked, head.paths[0]))).toBe('attribute head_sex')
  })

  it("means a household's own identifiers by no path to its members'", () => {
    const ofMembers = 'identifier UIN NID MOBILE EMAIL *'
    expect(mean('social Group', 'member_list.member_identifier')).toBe(ofMembers)
    expect(mean('social Group', 'member_list.member_identifier.identifier_value')).toBe(ofMembers)
    expect(mean('social Group', 'group_identifier.identifier_value')).toBe('identifier HOUSEHOLD_ID')
    expect(mean('social Group', 'member_identifier')).toMatch(/HOUSEHOLD_ID/)
  })

  it('means nothing quickly where the spelling is long', () => {
    expect(mean('civil', 'a.'.repeat(500_000))).toBeUndefined()
  })
})

describe.each(KINDS.flatMap((kind) => kind.record_types.map((type) => ({ kind, type }))))(
  '$kind.name $type.name',
  ({ kind, type }) => {
    const names = searchableNames(kind, type)

    it('has names that mean what they name, each once', () => {
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(meaning(resolveSearchable(kind, type, name))).toMatch(/./)
      for (const attribute of type.attributes) {
        expect(resolveSearchable(kind, type, attribute.name)).toEqual({ is: 'attribute', attribute })
      }
      for (const compound of type.compounds ?? []) {
        expect(resolveSearchable(kind, type, compound.name)).toEqual({ is: 'compound', compound })
        for (const attribute of compound.members) {
          expect(resolveSearchable(kind, type, attribute.name)).toEqual({ is: 'member', compound, attribute })
        }
      }
    })

    it('has aliases that mean what they are aliases of', () => {
      const rows = [...type.attributes, ...(type.compounds ?? [])]
      for (const row of [...rows, ...(type.compounds ?? []).flatMap(({ members }) => members)]) {
        for (const alias of namesOf(row)) {
          expect(meaning(resolveSearchable(kind, type, alias)), alias).toBe(meaning(resolveSearchable(kind, type, row.name)))
        }
      }
    })

    it('means the same with any prefix and in any case', () => {
      const paths = [...names, ...type.attributes.flatMap((attribute) => attribute.paths)]
      const prefix = fc.constantFrom('', ':', 'spdci:', 'ns:org:', ' ', 'x-1:')
      const spelled = fc
        .tuple(fc.constantFrom(...paths), fc.array(prefix, { minLength: 6, maxLength: 6 }), fc.boolean())
        .map(([path, prefixes, upper]) => {
          const segments = path.split('.').map((segment, index) => `${prefixes[index] ?? ''}${segment}`)
          return { path, spelling: upper ? segments.join('.').toUpperCase() : segments.join('.') }
        })
      fc.assert(
        fc.property(spelled, ({ path, spelling }) => {
          expect(resolveSearchable(kind, type, spelling)).toBe(resolveSearchable(kind, type, path))
        }),
        { numRuns: 200 },
      )
    })
  },
)
