import { canonicalJson, type JsonObject, type Kind, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { beneficiary, enrolment } from '../../test/beneficiaries.ts'
import { makeNotifiedRecordConverter, recordTextForEvent } from './shown.ts'

const ibr = kindNamed('ibr') as Kind
const civil = kindNamed('civil') as Kind
const person = (...enrolments: object[]) => beneficiary('HS-89', enrolments) as JsonObject

function shown(before: JsonObject | null, after: JsonObject) {
  const text = recordTextForEvent(ibr.record_types[0], before, after, canonicalJson(after))
  const shape = makeNotifiedRecordConverter(ibr, ibr.record_types[0], { all: false })
  return shape?.(JSON.parse(text)) as JsonObject
}

describe('what a notification shows of a beneficiary', () => {
  const active = enrolment('PRG-7')
  const suspended = enrolment('PRG-7', { enrolment_status: 'Suspended', status_change_date: '2026-06-01' })

  it('has the enrolment that changed, and no other', () => {
    const record = shown(person(active, enrolment('PRG-8')), person(suspended, enrolment('PRG-8')))
    expect(record).toMatchObject({ '@type': 'Member', member_identifier: [{ identifier_value: 'HS-89' }] })
    expect(record.additional_attributes).toEqual([
      {
        programme_identifier: 'PRG-7',
        programme_name: 'Programme PRG-7',
        enrolment_date: '2020-01-01',
        enrolment_status: 'Suspended',
        status_change_date: '2026-06-01',
      },
    ])
  })

  it('has all enrolments of somebody new, beside what the record has there', () => {
    const after = { ...person(active, enrolment('PRG-8')), additional_attributes: { quarter: 'north' } }
    const { additional_attributes } = shown(null, after)
    expect(additional_attributes).toMatchObject([
      { quarter: 'north' },
      { programme_identifier: 'PRG-7' },
      { programme_identifier: 'PRG-8' },
    ])
  })

  it('has none where no enrolment changed', () => {
    expect(shown(person(active), { ...person(active), '@id': 'urn:1' })).not.toHaveProperty('additional_attributes')
  })

  it('has all of them where nothing has happened: in a backfill', () => {
    const shape = makeNotifiedRecordConverter(ibr, ibr.record_types[0], { all: true })
    const { additional_attributes } = (shape?.(person(suspended)) ?? {}) as JsonObject
    expect(additional_attributes).toMatchObject([{ enrolment_status: 'Suspended' }])
  })
})

it('other kinds show what they store, text for text', () => {
  const text = '{"a":1}'
  expect(recordTextForEvent(civil.record_types[0], null, { a: 1 }, text)).toBe(text)
  expect(makeNotifiedRecordConverter(civil, civil.record_types[0], { all: false })).toBeUndefined()
})
