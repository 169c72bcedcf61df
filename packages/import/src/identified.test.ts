import { kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { readColumnMapping } from './column-mapping.ts'
import { refuseMappingWithoutPrimary } from './identified.ts'

function refusal(name: string, mapping: object): string | null {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  const records = { kind, recordTypes: kind.record_types }
  try {
    refuseMappingWithoutPrimary(readColumnMapping(mapping, records), records)
    return null
  } catch (error) {
    return String(error)
  }
}

test.each([
  ['civil', { 'identifier[UIN]': 'No' }],
  ['civil', { identifier: 'No' }],
  ['civil', { 'identifier.identifier_type': 'Type', 'identifier.identifier_value': 'No' }],
  ['ibr', { 'member.member_identifier': 'No' }],
  ['ess', { 'member_identifier[UIN]': 'No' }],
  ['social', { group_identifier: 'No' }],
  ['social', { 'member_identifier[UIN]': 'No' }],
  ['farmer', { 'member_identifier[FARMER_ID]': 'No' }],
])('%s: %j has the identifier by which a record is known', (kind, mapping) => {
  expect(refusal(kind, mapping)).toBeNull()
})

test('a mapping in which no type of record has it names each', () => {
  const civil = refusal('civil', { 'identifier[NID]': 'No', phone_number: 'Phone' })
  expect(civil).toContain('has no identifier[UIN], by which the registry knows a Person; map the column')
  expect(refusal('social', { registration_date: 'Since' })).toMatch(
    /has no \S+\[UIN\], by which the registry knows a Member, and no group_identifier\[HOUSEHOLD_ID\], by which/,
  )
})
