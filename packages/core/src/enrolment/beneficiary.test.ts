/** An update writes only what the grant was checked for; a beneficiary of which the grant cannot be checked is rejected. */
import { type JsonObject, type JsonValue, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { InvalidBeneficiary, readBeneficiary } from './beneficiary.ts'

const kind = kindNamed('ibr')
if (kind === undefined) throw new Error('there is no kind ibr')
const scope = { kind, recordType: kind.record_types[0] }
const PROGRAMME = { programme: { programme_identifier: 'PRG-7' } }
const read = (members: JsonObject, beside: JsonObject = {}) =>
  readBeneficiary(scope, { ...beside, member: { member_identifier: 'U-1', programme_identifier: PROGRAMME, ...members } })
const inPerson = (person: JsonObject) => ({ demographic_info: { person } })

describe('a member that identifies the person or a programme', () => {
  const ELEMENT = 'member.programme_identifier'
  const PERSON = 'member.demographic_info.person'
  const programme_identifier = 'PRG-7'
  it.each<[string, JsonObject, JsonObject?]>([
    ['member', {}, { 'x:member': { member_identifier: 'U-1' } }],
    ['member.member_identifier', { 'x:member_identifier': 'N-9' }],
    ['member.member_identifier', { 'x.org:member_identifier': 'N-9' }],
    ['member.member_identifier', { 'x:member_identifier': null }],
    [
      'member.member_identifier.identifier_type',
      { member_identifier: [{ 'x:identifier_type': 'UIN', 'a:identifier_type': 'NID' }] },
    ],
    [ELEMENT, { program_identifier: 'PRG-99' }],
    [`${ELEMENT}.programme`, { programme_identifier: { ...PROGRAMME, 'x:program': { programme_identifier: 'PRG-99' } } }],
    [
      `${ELEMENT}.programme.programme_identifier`,
      { programme_identifier: { programme: { programme_identifier, 'x:programme_identifier': 'PRG-99' } } },
    ],
    [
      `${ELEMENT}.programme.programme_identifier`,
      { programme_identifier: [{ programme: [{ 'x:programme_identifier': 'PRG-7', 'a:programme_identifier': 'PRG-99' }] }] },
    ],
    [`${ELEMENT}.programme_identifier`, { programme_identifier: { programme_identifier, Programme_Identifier: 'PRG-99' } }],
    ['member.demographic_info', { demographic_info: {}, 'x:demographic_info': {} }],
    [`${PERSON}.identifier`, inPerson({ identifier: [], 'x:identifier': [] })],
    [`${PERSON}.identifier_value`, inPerson({ identifier_value: 'N-1', 'x:identifier_value': 'N-9' })],
  ])('is refused in two spellings: %s', (place, members, beside) => {
    expect(() => read(members, beside)).toThrow(new InvalidBeneficiary(`${place}: must be given once, in one spelling`))
  })

  it.each<[string, JsonObject]>([
    ['member', { member_identifier: 'U-1', Member: { member_identifier: 'N-9', programme_identifier } }],
    ['member.member_identifier', { member_identifier: 'U-1', member: { Member_Identifier: 'N-9', programme_identifier } }],
    ['member.programme_identifier.programme', { member: { programme_identifier: { programme_identifier, Program: {} } } }],
  ])('is refused in a spelling that no reader knows: %s', (place, value) => {
    const rule = 'must be in a known spelling, without capitals and spaces'
    expect(() => readBeneficiary(scope, value)).toThrow(new InvalidBeneficiary(`${place}: ${rule}`))
  })

  it('is read in one known spelling', () => {
    const element: JsonValue = { 'x.org:program': { 'X:program_identifier': 'PRG-7' } }
    const spelled = { 'x:member': { 'x:member_identifier': 'U-1', 'x:program_identifier': [element] } }
    const { identifiers, enrolments } = readBeneficiary(scope, spelled)
    expect(identifiers).toEqual([{ type: 'UIN', value: 'U-1', names: 'record' }])
    expect(enrolments.map(({ programme, members }) => ({ programme, members }))).toEqual([
      { programme: '["prg-7"]', members: element },
    ])
  })
})

it.each<JsonValue>([{ enrolment_date: '2099-01-01' }, [{ enrolment_status: 'Active' }], null])(
  'a programme beside the member is not written: %j',
  (programme) => {
    expect(read({}, { 'x:program': programme, assistance_unit: '1' }).members).toEqual({
      assistance_unit: '1',
      member: { member_identifier: 'U-1' },
    })
  },
)

describe('an identifier directly in a person', () => {
  it.each<JsonObject>([
    { identifier_value: 'N-9' },
    { 'x:identifier_value': 'N-9' },
    { identifier_type: 'NID' },
    { identifier_type: 'NID', identifier_value: null },
  ])('is not written without its type or its value: %j', (half) => {
    const { identifiers, members } = read(inPerson({ ...half, sex: 'F' }))
    expect(identifiers).toEqual([{ type: 'UIN', value: 'U-1', names: 'record' }])
    expect(members).toEqual({ member: { member_identifier: 'U-1', ...inPerson({ sex: 'F' }) } })
  })

  it('is moved into the list with its type, in any spelling', () => {
    const identifier = { identifier_type: 'NID', identifier_value: 'N-1' }
    const { members } = read(inPerson({ 'x:identifier_type': 'NID', 'x:identifier_value': 'N-1', sex: 'F' }))
    expect(members).toEqual({ member: { member_identifier: 'U-1', ...inPerson({ sex: 'F', identifier: [identifier] }) } })
  })
})

describe('the programme identifier', () => {
  const named = (programme_identifier: JsonValue) => () => read({ programme_identifier: { programme: { programme_identifier } } })

  it.each(['a'.repeat(500), '"'.repeat(500), '7'.repeat(500)])('may be a text of 500 characters', (text) => {
    expect(named(text)().enrolments).toHaveLength(1)
  })

  it('may have no more', () => {
    const rule = 'programme.programme_identifier: must be a text of 1 to 500 characters'
    expect(named('a'.repeat(501))).toThrow(new InvalidBeneficiary(rule))
  })
})
