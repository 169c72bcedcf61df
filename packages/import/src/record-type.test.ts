import { type Kind, kindNamed } from '@rollcall/protocol'
import { InvalidRecord } from '@rollcall/records/records/prepare-record'
import { expect, test } from 'vitest'
import { requireRecordTypeOf } from './batch.ts'

const social = kindNamed('social')
if (!social) throw new Error('no kind social')

test.each([
  ['Group', 'Group'],
  ['spdci-extensions-dci:group', 'Group'],
  [['owl:Thing', 'Household'], 'Group'],
  ['Member', 'Member'],
  ['', 'Member'],
  [null, 'Member'],
])('@type %j is a %s', (type, name) => {
  expect(requireRecordTypeOf(social, { '@type': type }).name).toBe(name)
})

test('without @type, and as no object at all, a document is of the default record type', () => {
  expect(requireRecordTypeOf(social, {}).name).toBe('Member')
  expect(requireRecordTypeOf(social, []).name).toBe('Member')
})

test.each([
  ['Farmer', "@type must be one of the registry's record types: Member, Group"],
  [['Group', 'Member'], '@type can mean Member or Group; say which with --record-type'],
])('@type %j is refused', (type, reason) => {
  expect(() => requireRecordTypeOf(social, { '@type': type })).toThrow(new InvalidRecord(reason))
})

test('a spelling that two record types share is refused', () => {
  const [member, ...others] = social.record_types
  const shared: Kind = { ...social, record_types: [{ ...member, document_types: ['Group'] }, ...others] }
  expect(() => requireRecordTypeOf(shared, { '@type': 'Group' })).toThrow(
    new InvalidRecord('@type can mean Member or Group; say which with --record-type'),
  )
})
