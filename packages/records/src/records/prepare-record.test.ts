import { type JsonValue, type KINDS, kindNamed, parseJson, type RecordType } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { recordType, registry } from '../../test/query-fixture.ts'
import { InvalidRecord, prepareRecord } from './prepare-record.ts'
import { recordTable } from './record-tables.ts'

const [civil, social] = ['civil', 'social'].map((name) => {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`no kind ${name}`)
  return kind
}) as [(typeof KINDS)[number], (typeof KINDS)[number]]
const [person] = civil.record_types

const uin = (identifier_value: JsonValue) => ({ identifier_type: 'UIN', identifier_value })
const identified = (value: string) => ({ identifier: [uin(value)] })

/** Columns by name, those without a value left out. */
function columnsOf(kind: typeof civil, recordType: RecordType, document: JsonValue) {
  const { columns } = prepareRecord(kind, recordType, document)
  const names = recordTable({ id: 1, kind }, recordType).columns.map(({ name }) => name)
  expect(columns).toHaveLength(names.length)
  return Object.fromEntries(names.map((name, at) => [name, columns[at]]).filter(([, value]) => value !== null))
}

test('a record is its canonical text, its identifiers and its columns', () => {
  const document = {
    sex: 'female',
    name: { surname: 'Okafor', given_name: '' },
    identifier: [uin(' ab 0012'), { identifier_type: 'BIRTH_REG_NO', identifier_value: 'b-7' }],
    birth_date: '1985-06',
    phone_number: ['+1 555 0100', '+15550100'],
  }
  const { primary_identifier, document: text, identifiers } = prepareRecord(civil, person, document)
  expect(primary_identifier).toBe('AB0012')
  expect(text).toBe(
    '{"birth_date":"1985-06","identifier":[{"identifier_type":"UIN","identifier_value":" ab 0012"},{"identifier_type":"BIRTH_REG_NO","identifier_value":"b-7"}],"name":{"given_name":"","surname":"Okafor"},"phone_number":["+1 555 0100","+15550100"],"sex":"female"}',
  )
  expect(identifiers).toEqual([
    { type: 'UIN', value: 'AB0012', names: 'record' },
    { type: 'BRN', value: 'B-7', names: 'record' },
    { type: 'MOBILE', value: '15550100', names: 'record' },
  ])
  expect(columnsOf(civil, person, document)).toMatchObject({
    surname: 'okafor',
    sex: 'female',
    birth_date_from: '1985-06-01',
    birth_date_to: '1985-06-30',
  })
  expect(columnsOf(civil, person, document)).not.toHaveProperty('given_name')
})

test('the same number twice is one primary identifier; an integer counts by its digits', () => {
  expect(prepareRecord(civil, person, { identifier: [uin('a1'), uin('A 1')] }).primary_identifier).toBe('A1')
  expect(prepareRecord(civil, person, { identifier: [uin(42)] }).primary_identifier).toBe('42')
})

test('a number of somebody inside a record does not name the record', () => {
  const group = social.record_types.find(({ name }) => name === 'Group') as RecordType
  const member = { demographic_info: { identifier: [uin('M1')] } }
  const household = { identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H1' }
  const { primary_identifier, identifiers } = prepareRecord(social, group, {
    group_identifier: [household],
    member_list: [member],
  })
  expect(primary_identifier).toBe('H1')
  expect(identifiers).toContainEqual({ type: 'UIN', value: 'M1', names: 'part' })
})

test.each([
  ['[]', 'a record is a JSON object'],
  ['null', 'a record is a JSON object'],
  ['"x"', 'a record is a JSON object'],
  ['{}', 'no usable UIN, by which a Person is known'],
  ['{"identifier":[{"identifier_type":"UIN","identifier_value":" "}]}', 'no usable UIN, by which a Person is known'],
  ['{"identifier":[{"identifier_type":"BRN","identifier_value":"7"}]}', 'no usable UIN, by which a Person is known'],
  [
    `{"identifier":[{"identifier_type":"UIN","identifier_value":"${'9'.repeat(257)}"}]}`,
    'no usable UIN, by which a Person is known',
  ],
  [
    '{"identifier":[{"identifier_type":"UIN","identifier_value":"1"},{"identifier_type":"UIN","identifier_value":"2"}]}',
    'more than one UIN, by which a Person is known',
  ],
])('%s is no record', (text, reason) => {
  expect(() => prepareRecord(civil, person, parseJson(text))).toThrow(new InvalidRecord(reason))
})

test('a document that was not parsed from JSON may have no canonical text', () => {
  expect(() => prepareRecord(civil, person, { identifier: [uin('1')], note: '\ud800' })).toThrow(
    new InvalidRecord('the document cannot be written as canonical JSON (RFC 8785)'),
  )
})

test.each<JsonValue>(['\0', 'a\\\0', { deep: ['\\\\\0'] }, { '\0': 1 }])(
  'a NUL character, which JSON may escape and nobody reads back, is refused: %j',
  (note) => {
    expect(() => prepareRecord(civil, person, { ...identified('1'), note })).toThrow(
      new InvalidRecord('the document has a NUL character, which no column can hold'),
    )
  },
)

test('the letters of such an escape are no NUL character', () => {
  const { document } = prepareRecord(civil, person, { ...identified('1'), note: ['\\u0000', '\\\\u0000'] })
  expect(parseJson(document)).toMatchObject({ note: ['\\u0000', '\\\\u0000'] })
})

test('the elements of a compound are one column, dates as two days', () => {
  const document = {
    ...identified('U1'),
    crop: [{ crop_type: 'a"b', area: 2.5, sown: '1985-06', watered: '2024-01-01T12:00:00+02:00' }, { area: '3' }, {}],
  }
  const { columns } = prepareRecord(registry.kind, recordType, document)
  expect(JSON.parse(columns.at(-1) ?? '')).toEqual([
    { crop_type: 'a"b', area: 2.5, sown_from: '1985-06-01', sown_to: '1985-06-30', watered: '2024-01-01T10:00:00.000Z' },
    { area: 3 },
  ])
  expect(prepareRecord(registry.kind, recordType, identified('U1')).columns.at(-1)).toBeNull()
})
