import { type JsonObject, kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { recordWithOwnIdentifiersOnly } from './own-identifiers.ts'

const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })

test.each<[string, number, JsonObject, JsonObject]>([
  [
    'civil',
    0,
    {
      '@type': 'Person',
      identifier: [id('UIN', 'u-44'), id('BRN', 'B-1'), id('X', '1'), id('UIN', 'U-44 ')],
      sex: 'F',
      phone_number: ['+1555'],
    },
    { '@type': 'Person', identifier: [id('UIN', 'u-44'), id('BRN', 'B-1')] },
  ],
  [
    'ibr',
    0,
    { member: { member_identifier: 'HS-88', demographic_info: { person: { ...id('NID', 'N-3'), sex: 'F' } } } },
    { member: { member_identifier: [id('UIN', 'HS-88'), id('NID', 'N-3')] } },
  ],
  [
    'social',
    1,
    { group_identifier: [id('HOUSEHOLD_ID', 'H-1')], member_list: [{ member_identifier: [id('UIN', 'U-7')] }] },
    { group_identifier: [id('HOUSEHOLD_ID', 'H-1')] },
  ],
  [
    'civil',
    0,
    { identifier: [{ identifier_type: 'ns:uin', 'ns:identifier_value': 's1t-c88' }] },
    { identifier: [id('ns:uin', 's1t-c88')] },
  ],
  [
    'farmer',
    0,
    { farmer_personal_details: { member_identifier: 'F-1' }, farmer_type: 'a' },
    { farmer_personal_details: { member_identifier: [id('FARMER_ID', 'F-1')] } },
  ],
])('%s %i: identifiers of the record and nothing else of it', (kindName, at, document, identifiers) => {
  const kind = kindNamed(kindName)
  const recordType = kind?.record_types[at]
  if (kind === undefined || recordType === undefined) throw new Error(`no kind ${kindName}`)
  expect(recordWithOwnIdentifiersOnly(kind, recordType, document)).toEqual(identifiers)
})
