/** The same people in every kind, read the way a registry reads them. */
import { type JsonValue, kindNamed, readIdentifiers, recordTypesOf, validator } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import { generate, KIND_GENERATORS } from './generate.ts'
import { syntheticPerson } from './people.ts'

const SEED = 31

function read(kindName: string, count: number) {
  const kind = kindNamed(kindName)
  if (kind === undefined) throw new Error(`no kind ${kindName}`)
  return [...generate(kindName, { count, seed: SEED })].map((document) => {
    const [recordType] = recordTypesOf(kind, document)
    if (recordType === undefined) throw new Error(`no record type for ${JSON.stringify(document)}`)
    const identifiers = readIdentifiers(kind, recordType, document as JsonValue)
    const own = identifiers.filter(({ names }) => names === 'record')
    const values = (type: string) => own.filter((each) => each.type === type).map(({ value }) => value)
    // biome-ignore lint/suspicious/noExplicitAny: tests look deep into documents that have no common type
    return { document: document as any, recordType, identifiers, values }
  })
}

describe.each(KIND_GENERATORS.map(({ kind }) => kind))('%s', (kind) => {
  const records = read(kind, 1500)

  test('documents have the shapes of their record types', () => {
    const validators = new Map(kindNamed(kind)?.record_types.map((type) => [type, validator(type.schema)]))
    const problems = records.map(({ document, recordType }) => validators.get(recordType)?.problem(document, ''))
    expect(new Set(problems)).toEqual(new Set([null]))
  })

  test('each record has exactly one primary identifier, its own', () => {
    const seen = records.map(({ recordType, values }) => {
      return { type: recordType.name, primary: values(recordType.primary_identifier) }
    })
    expect(seen.filter(({ primary }) => primary.length !== 1)).toEqual([])
    expect(new Set(seen.map(({ type, primary }) => `${type} ${primary[0]}`)).size).toBe(records.length)
  })
})

test.each(['civil', 'ibr', 'ess'])('%s: document i is of person i', (kind) => {
  read(kind, 600).forEach(({ values }, index) => {
    expect(values('UIN')).toEqual([syntheticPerson(SEED, index).uin])
  })
})

test('name, sex and birth date are those of the person, in every kind', () => {
  const civil = read('civil', 400)
  const ibr = read('ibr', 400)
  const ess = read('ess', 400)
  const social = new Map(read('social', 600).map(({ document, values }) => [values('UIN')[0], document]))
  civil.forEach(({ document, values }, index) => {
    const { '@type': type, ...name } = document.name
    const [uin] = values('UIN')
    expect(type).toBe('Name')
    expect(ess[index]?.document.demographic_info).toMatchObject({ name, sex: document.sex })
    const beneficiary = ibr[index]?.document.member.demographic_info.person
    expect(beneficiary.name.first_name).toBe(name.given_name)
    expect(beneficiary.name.surname).toBe(name.surname)
    expect(beneficiary.sex.slice(0, 1).toLowerCase()).toBe(document.sex.slice(0, 1))
    const member = social.get(uin)
    expect(member.demographic_info.name).toMatchObject(name)
    expect(member.demographic_info.sex.toLowerCase()).toBe(document.sex)
    const dates = [document, ess[index]?.document.demographic_info, member.demographic_info, beneficiary]
    expect(new Set(dates.map(({ birth_date }) => unified(birth_date))).size).toBe(1)
  })
})

/** YYYY-MM-DD, YYYY-MM or YYYY, however the date was written. */
function unified(date: string): string {
  return date.slice(0, 10).replace(/^(\d\d)\.(\d\d)\.(\d{4})$/, '$3-$2-$1')
}

test('every member of the social registry stands after its group, which lists it', () => {
  const groups = new Map<string, string[]>()
  const records = read('social', 690)
  for (const { document, recordType, identifiers, values } of records) {
    if (recordType.name === 'Group') {
      const members = identifiers.filter(({ type, names }) => type === 'UIN' && names === 'part')
      expect(members).toHaveLength(document.group_size)
      expect(document.member_list).toHaveLength(document.group_size)
      expect(document.group_head_info).toEqual(document.member_list[0])
      groups.set(
        document.group_identifier[0].identifier_value,
        members.map(({ value }) => value),
      )
    } else {
      const [{ household_id }] = document.additional_attributes
      expect(groups.get(household_id)).toContain(values('UIN')[0])
    }
  }
  expect(groups.size).toBe(140)
})

test('the disabled are the people whom the other kinds call disabled', () => {
  const disabled = read('disability', 200).map(({ values }) => values('UIN')[0])
  const members = read('ess', 1400)
  expect(members.filter(({ document }) => document.is_disabled).map(({ values }) => values('UIN')[0])).toEqual(disabled)
})

test('farmers are heads of households, known to the civil registry by UIN', () => {
  const civil = new Map(read('civil', 1200).map(({ document, values }) => [values('UIN')[0], document]))
  for (const { document, identifiers } of read('farmer', 100)) {
    const types = ['FARMER_ID', 'FARM_REG_NO', 'FARM_ID', 'UIN']
    expect(identifiers.map(({ type }) => type).sort()).toEqual([...types].sort())
    const person = civil.get(identifiers.find(({ type }) => type === 'UIN')?.value ?? '')
    const { demographic_info } = document.farmer_personal_details
    expect(demographic_info.date_of_birth).toBe(unified(person.birth_date))
    expect(demographic_info.name.last_name).toBe(person.name.surname)
  }
})

test('programmes: one is an object, more are an array; the disability registry names one of them', () => {
  const ibr = read('ibr', 1400)
  const enrolled = ibr.map(({ document }) => document.member.programme_identifier)
  const many = enrolled.filter(Array.isArray)
  expect(many.length / enrolled.length).toBeGreaterThan(0.2)
  expect(many.every((each) => each.length > 1)).toBe(true)
  const identifiersOf = new Map(
    ibr.map(({ document, values }) => [
      values('UIN')[0],
      // biome-ignore lint/suspicious/noExplicitAny: an enrolment, see above
      [document.member.programme_identifier].flat().map((each: any) => each.programme.programme_identifier),
    ]),
  )
  for (const { document, values } of read('disability', 200)) {
    const [programme] = document.programs_enrollments ?? []
    if (programme) expect(identifiersOf.get(values('UIN')[0])).toContain(programme.programme_identifier)
  }
  for (const programmes of identifiersOf.values()) expect(new Set(programmes).size).toBe(programmes.length)
})

test('50,000 people have 50,000 UINs and BRNs', () => {
  const uins = new Set<string>()
  const brns = new Set<string>()
  for (let index = 0; index < 50_000; index++) {
    const { uin, brn } = syntheticPerson(SEED, index)
    uins.add(uin)
    brns.add(brn)
  }
  expect([uins.size, brns.size]).toEqual([50_000, 50_000])
})
