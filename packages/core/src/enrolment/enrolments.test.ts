import { type JsonValue, kindNamed, type RecordType } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { findDateBegunAndEnded, isActiveAt, readEnrolments } from './enrolments.ts'

const beneficiary = kindNamed('ibr')?.record_types[0] as RecordType
const person = kindNamed('civil')?.record_types[0] as RecordType
const read = (document: JsonValue) => readEnrolments(beneficiary, document)
const NOW = Date.parse('2026-06-15T12:00:00Z')
const active = (enrolment: JsonValue, now = NOW, time_zone = 'UTC') =>
  read({ member: { programme_identifier: enrolment } }).some((one) => isActiveAt(beneficiary, one, now, time_zone))

describe('the enrolments of a record', () => {
  it('are read as the specification writes one', () => {
    const enrolment = {
      programme: { programme_identifier: 'PRG-7', programme_name: 'Winter grant' },
      enrolment_date: '2026-03-01',
      enrolment_status: 'Active',
      status_change_date: '2026-03-02',
    }
    const expected = {
      programme: 'prg-7',
      programme_identifier: 'PRG-7',
      programme_name: 'Winter grant',
      status: '1',
      status_as_written: 'Active',
      enrolment_date: '2026-03-01',
      end_date: null,
      status_change_date: '2026-03-02',
    }
    expect(read({ member: { programme_identifier: enrolment } })).toEqual([expected])
    expect(read({ programme_identifier: [enrolment, { enrolment_date: '2026' }] })).toEqual([expected])
  })

  it.each([
    ['a list', { member: { programme_identifier: [{ programme: { programme_identifier: 'P' } }] } }],
    ['the programme in place of the enrolment', { programme_identifier: [{ program_identifier: 'P' }] }],
    ['a bare value', { member: { programme_identifier: 'P' } }],
    ['a number', { programme_identifier: { program: { programme_identifier: 'P' } } }],
  ])('are found in %s, with what the record says for them', (_, document) => {
    const found = read({ ...document, enrollment_status: 'active', enrollment_date: '2026' })
    expect(found).toMatchObject([{ programme: 'p', status: '1', enrolment_date: '2026' }])
  })

  it('take no status that the record says twice', () => {
    const found = read({ programme_identifier: ['A', 'B'], enrolment_status: ['Active', 'Suspended'] })
    expect(found.map(({ programme, status }) => [programme, status])).toEqual([
      ['a', null],
      ['b', null],
      [null, '1'],
      [null, '4'],
    ])
  })

  it('are none where the record type has none', () => {
    expect(readEnrolments(person, { programme_identifier: 'P' })).toEqual([])
    expect(read({})).toEqual([])
  })
})

describe('an enrolment is active', () => {
  it.each(['Active', 'active', ' ACTIVE ', '1', 'spdci:Active'])('with the status %s', (enrolment_status) => {
    expect(active({ enrolment_status })).toBe(true)
    expect(active({ enrollment_status: enrolment_status })).toBe(true)
  })

  it.each(['Suspended', '4', 'Graduated', 'Deceased', 'inactive', 'Active?', '', null, 7])(
    'never with the status %j',
    (enrolment_status) => {
      expect(active({ programme: { programme_identifier: 'P' }, enrolment_status })).toBe(false)
    },
  )

  it.each([
    ['2026-06-15', true],
    ['2026-06-16', false],
    ['15.06.2026', true],
    ['2026-06', true],
    ['2026-07', false],
    ['2026', true],
    ['2026-06-15T12:00:00Z', true],
    ['2026-06-15T12:00:01Z', false],
    ['2026-06-15T13:00:00+02:00', true],
    ['next spring', true],
  ])('from the enrolment date %s on: %j', (enrolment_date, expected) => {
    expect(active({ enrolment_status: 'Active', enrolment_date })).toBe(expected)
  })

  it.each([
    ['2026-06-15', true],
    ['2026-06-14', false],
    ['2026-06', true],
    ['2026-05', false],
    ['2026-06-15T12:00:00Z', false],
    ['2026-06-15T12:00:01Z', true],
    ['some day', true],
  ])('to the end of its end date %s: %j', (end_date, expected) => {
    const spelled = ['end_date', 'enrolment_end_date', 'enrollment_end_date']
    for (const name of spelled) expect(active({ enrolment_status: 'Active', [name]: end_date })).toBe(expected)
  })

  it('by the days of the time zone', () => {
    const enrolment = { enrolment_status: 'Active', enrolment_date: '2026-06-16' }
    const evening = Date.parse('2026-06-15T22:00:00Z')
    expect(active(enrolment, evening, 'UTC')).toBe(false)
    expect(active(enrolment, evening, 'Africa/Nairobi')).toBe(true)
  })

  it('a date that is none has neither begun nor ended', () => {
    expect(findDateBegunAndEnded('2026-02-30', NOW, 'UTC')).toBeNull()
  })
})
