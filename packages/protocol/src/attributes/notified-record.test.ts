import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { KINDS, kindNamed } from '../kinds/index.ts'
import type { Kind } from '../kinds/kind.ts'
import { notifiedRecord } from './notified-record.ts'

const ibr = kindNamed('ibr') as Kind
const notified = (document: JsonValue) => notifiedRecord(ibr, ibr.record_types[0], document)
const member = (member: JsonObject) => notified({ '@type': 'Beneficiary', member }) as JsonObject

describe('the member of a notification, made from a beneficiary', () => {
  it('has every member where the specification has it', () => {
    const beneficiary = {
      '@id': 'urn:1',
      '@type': 'Beneficiary',
      assistance_unit: '1',
      member: {
        member_identifier: 'HS-88',
        demographic_info: {
          person: {
            identifier_type: 'NID',
            identifier_value: 'N-300',
            name: { first_name: 'Bola', second_name: 'T', surname: 'Ade' },
            sex: 'F',
            birth_date: '02.05.2004',
            phone_number: '+10005550',
            address: { locality: 'Tarn' },
          },
        },
        related_person: { relationship_type: '1' },
        is_disabled: '0',
        marital_status: 'S',
        language_code: 'en',
        registration_date: '2024-05-02',
        last_update: '2024-06-02T10:00:00+02:00',
        programme_identifier: { programme: { programme_identifier: 'PRG-7' } },
      },
      additional_attributes: [{ enrolment_status: 'Suspended' }],
    }
    const identifiers = [
      { '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'HS-88' },
      { '@type': 'Identifier', identifier_type: 'NID', identifier_value: 'N-300' },
    ]
    expect(notified(beneficiary)).toEqual({
      '@type': 'Member',
      member_identifier: identifiers,
      demographic_info: {
        identifier: [identifiers[1]],
        name: { given_name: 'Bola', second_name: 'T', surname: 'Ade' },
        sex: 'F',
        birth_date: '2004-05-02',
        phone_number: ['+10005550'],
        address: { locality: 'Tarn' },
      },
      related_person: [{ relationship_type: '1' }],
      is_disabled: false,
      marital_status: 'S',
      language_code: ['en'],
      additional_attributes: [{ enrolment_status: 'Suspended' }],
      registration_date: '2024-05-02T00:00:00.000Z',
      last_updated: '2024-06-02T08:00:00.000Z',
    })
  })

  it('has identifiers whose members have a prefix', () => {
    const stored = { 'ns:identifier_type': 'NID', 'ns:identifier_value': 'N-300' }
    const identifiers = [{ '@type': 'Identifier', identifier_type: 'NID', identifier_value: 'N-300' }]
    expect(member({ member_identifier: stored, demographic_info: { identifier: [stored] } })).toEqual({
      '@type': 'Member',
      member_identifier: identifiers,
      demographic_info: { identifier: identifiers },
    })
  })

  it('is itself again when it is stored so', () => {
    const once = member({
      member_identifier: [{ identifier_type: 'UIN', identifier_value: 'HS-88' }],
      is_disabled: '1',
      additional_attributes: { a: 1 },
    })
    expect(once).toMatchObject({ is_disabled: true, additional_attributes: [{ a: 1 }] })
    expect(notified(once)).toEqual(once)
  })

  it('leaves out what is not there, and sends as it is what it cannot read', () => {
    expect(member({ member_identifier: 7 })).toEqual({
      '@type': 'Member',
      member_identifier: [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: '7' }],
    })
    expect(member({ is_disabled: 'partly', registration_date: 'long ago' })).toEqual({
      '@type': 'Member',
      is_disabled: 'partly',
      registration_date: 'long ago',
    })
    expect(notified([])).toEqual({ '@type': 'Member' })
    expect(notified('text')).toEqual({ '@type': 'Member' })
  })

  it('has an address as it stands, one or several', () => {
    const address = [{ locality: 'Tarn' }, { locality: 'Moor' }]
    expect(member({ demographic_info: { person: { address } } })).toMatchObject({ demographic_info: { address } })
  })
})

it('other kinds notify what they store', () => {
  const document = { '@type': 'Person', is_disabled: '0' }
  for (const kind of KINDS.filter(({ name }) => name !== 'ibr')) {
    expect(notifiedRecord(kind, kind.record_types[0], document)).toBe(document)
  }
})
