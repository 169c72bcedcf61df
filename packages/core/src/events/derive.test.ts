import { type JsonObject, type Kind, kindNamed, type RecordType, resolveRecordType } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import { deriveEvents, RecordState } from './derive.ts'

const NOW = new Date('2026-06-15T09:00:00Z')

/** The names of the events, with what they correct. */
function derived(kindName: string, before: JsonObject | null, after: JsonObject | null, typeName?: string) {
  const kind = kindNamed(kindName)
  if (kind === undefined) throw new Error(`no kind ${kindName}`)
  const recordType = typeName === undefined ? kind.record_types[0] : resolveRecordType(kind, typeName)
  if (recordType === undefined) throw new Error(`no record type ${typeName}`)
  const change = { before: state(kind, recordType, before), after: state(kind, recordType, after) }
  const settings = { kind, recordType, time_zone: 'Pacific/Auckland', now: NOW, birth_span: 365 }
  return deriveEvents(settings, change).map(({ event_type, correction_type }) =>
    correction_type === undefined ? event_type : `${correction_type} of ${event_type}`,
  )
}

function state(kind: Kind, recordType: RecordType, document: JsonObject | null): RecordState | null {
  return document && new RecordState(kind, recordType, document)
}

const identifier = [{ identifier_type: 'UIN', identifier_value: 'U-44' }]

describe('civil', () => {
  test.each<[string, JsonObject, string[]]>([
    [
      'born within a year before the registration',
      { birth_date: '2020-03-01', registration_date: '2021-03-01T00:00:00Z' },
      ['LiveBirth'],
    ],
    ['born before that', { birth_date: '2020-02-28', registration_date: '2021-03-01T00:00:00Z' }, ['REGISTER']],
    // In Auckland it is 2 March already.
    ['days are those of the registry', { birth_date: '2020-03-01', registration_date: '2021-03-01T12:00:00Z' }, ['REGISTER']],
    ['born in a year that begins before that', { birth_date: '2020', registration_date: '2020-12-31T00:00:00Z' }, ['LiveBirth']],
    ['registered today, as far as is known', { birth_date: '2026-06-01' }, ['LiveBirth']],
    ['no birth is known', {}, ['REGISTER']],
    ['born after the registration', { birth_date: '2022-01-01', registration_date: '2021-03-01T00:00:00Z' }, ['REGISTER']],
    ['entered with a death', { birth_date: '2026-06-01', death_date: '2026-06-02' }, ['Death']],
  ])('a new person, %s', (_, members, events) => {
    expect(derived('civil', null, { identifier, ...members })).toEqual(events)
  })

  test.each<[string, JsonObject, JsonObject, string[]]>([
    ['a death', {}, { death_date: '2026-06-02' }, ['Death']],
    ['a marriage', {}, { marriage_date: '2026-06-02' }, ['Marriage']],
    [
      'a second marriage and a divorce',
      { marriage_date: ['2001'] },
      { marriage_date: ['2001', '2024-01-01'], divorce_date: '2010' },
      ['Marriage', 'Divorce'],
    ],
    ['a move', { address: { locality: 'A' } }, { address: { locality: 'B' } }, ['UPDATE']],
    ['a death that is taken back', { death_date: '2026-06-02' }, {}, ['CANCEL of Death', 'UPDATE']],
    ['the day of a death', { death_date: '2026-06-02' }, { death_date: '2026-06-03' }, ['CORRECTION of Death', 'UPDATE']],
    ['a marriage that is taken back', { marriage_date: '2001' }, {}, ['CANCEL of Marriage', 'UPDATE']],
    ['the same death in another spelling', { death_date: '2026-06-02' }, { date_of_death: '2026-06-02' }, ['UPDATE']],
  ])('%s', (_, before, after, events) => {
    expect(derived('civil', { identifier, ...before }, { identifier, ...after })).toEqual(events)
  })

  test('a deletion', () => {
    expect(derived('civil', { identifier }, null)).toEqual(['UPDATE'])
  })
})

describe('ibr', () => {
  const enrolled = (programme: string, enrolment_status: string): JsonObject => {
    return { programme: { programme_identifier: programme }, enrolment_status }
  }
  const member = (...programme_identifier: JsonObject[]): JsonObject => {
    return { member: { member_identifier: 'HS-88', programme_identifier } }
  }
  const [cash, ended, food] = [enrolled('PRG-7', '1'), enrolled('PRG-7', '3'), enrolled('PRG-8', '1')]

  test.each<[string, JsonObject | null, JsonObject, string[]]>([
    ['a new beneficiary', null, member(cash), ['enrollement']],
    ['another programme', member(cash), member(cash, food), ['enrollement']],
    ['another status', member(cash, food), member(ended, food), ['enrollement_status_change']],
    ['both', member(cash), member(ended, food), ['enrollement', 'enrollement_status_change']],
    ['the same programmes in another order', member(cash, food), member(food, cash), []],
    ['a programme less', member(cash, food), member(cash), []],
    ['another address', member(cash), { ...member(cash), address: 'x' }, []],
  ])('%s', (_, before, after, events) => {
    expect(derived('ibr', before, after)).toEqual(events)
  })
})

describe('social', () => {
  const person = (uin: string, more: JsonObject = {}): JsonObject => {
    return { member_identifier: [{ identifier_type: 'UIN', identifier_value: uin }], ...more }
  }
  const group = (...member_list: JsonObject[]): JsonObject => {
    return { group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }], member_list }
  }

  test.each<[string, JsonObject | null, JsonObject, string[]]>([
    ['a new household', null, group(person('1')), ['REGISTER']],
    ['a new member', group(person('1')), group(person('1'), person('2')), ['NewHouseHoldMember']],
    ['one in place of another', group(person('1')), group(person('2')), ['NewHouseHoldMember']],
    ['the same in the other shape', group(person('1')), group({ household_member: person('1') }), []],
    ['a member less', group(person('1'), person('2')), group(person('1')), []],
    ['a member of whom more is known', group(person('1')), group(person('1', { is_disabled: true })), []],
    [
      'a member with another identifier beside the first',
      group(person('1')),
      group({
        member_identifier: [
          { identifier_type: 'UIN', identifier_value: '1' },
          { identifier_type: 'NID', identifier_value: '9' },
        ],
      }),
      [],
    ],
  ])('%s', (_, before, after, events) => {
    expect(derived('social', before, after, 'Group')).toEqual(events)
  })

  test('a member is registered, and no change of one is an event of this kind', () => {
    expect(derived('social', null, person('1'))).toEqual(['REGISTER'])
    expect(derived('social', person('1'), person('1', { is_disabled: true }))).toEqual([])
  })
})

test.each<[string, string, JsonObject | null, JsonObject, string[]]>([
  ['ess', 'a new member', null, { enrolment_status: '1' }, ['enrolment']],
  ['ess', 'an enrolment', {}, { enrolment_status: '1' }, ['enrolment']],
  ['ess', 'its change', { enrolment_status: '1' }, { enrolment_status: '3' }, ['enrolment']],
  ['ess', 'another status of employment', { enrolment_status: '1' }, { enrolment_status: '1', employment_status: '2' }, []],
  ['disability', 'a new person', null, {}, ['REGISTER']],
  ['disability', 'a change', {}, { disability_level: '1' }, []],
  ['farmer', 'a new farmer', null, {}, ['REGISTER']],
  ['farmer', 'a change', {}, { farmer_type: 'a' }, []],
])('%s: %s', (kind, _, before, after, events) => {
  expect(derived(kind, before, after)).toEqual(events)
})
