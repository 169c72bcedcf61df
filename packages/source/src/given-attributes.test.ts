import { KINDS } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { expect, test } from 'vitest'
import { officeSource } from '../test/office.ts'
import { omitUnmappedAttributes } from './given-attributes.ts'
import { readSourceFile } from './source-file.ts'

test('attributes that no column gives are not looked for, and all others are', () => {
  const kind = KINDS.find(({ name }) => name === 'civil') ?? expect.fail()
  const records = readSourceFile(officeSource({ env: 'OFFICE' }), kind).records.get('Person') ?? expect.fail()
  const { recordType } = omitUnmappedAttributes(records)
  const names = recordType.attributes.map(({ name }) => name)
  const given = ['surname', 'given_name', 'sex', 'birth_date', 'birth_place', 'marriage_date', 'death_date']
  expect(names).toEqual(expect.arrayContaining(given))
  expect(names).not.toContain('marital_status')
  expect(names.length).toBeLessThan(records.recordType.attributes.length)
  const notes: string[] = []
  const unread = ({ name }: { readonly name: string }) => void notes.push(name)
  const whole = { unread, unlisted: () => undefined, readMember: () => undefined, unusable: () => undefined }
  const identifier = [{ identifier_type: 'UIN', identifier_value: 'A1' }]
  const person = { identifier, birth_date: 'no day', name: 'no object' }
  prepareRecord(kind, records.recordType, person, whole)
  const all = notes.splice(0)
  prepareRecord(kind, recordType, person, whole)
  expect(notes).toEqual(all)
})
