import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { civil } from '../kinds/civil.ts'
import { UNLISTED } from '../kinds/identifier-types.ts'
import { KINDS } from '../kinds/index.ts'
import { normaliseIdentifier } from '../kinds/normalisers.ts'
import { social } from '../kinds/social.ts'
import { identifierValue, readIdentifiers } from './read-identifiers.ts'

const ofPerson = (document: JsonValue) => readIdentifiers(civil, civil.record_types[0], document)
const uin = (value: string, names: 'record' | 'part' = 'record') => ({ type: 'UIN', value, names })

describe('readIdentifiers', () => {
  it('reads an array of identifier objects and a single one', () => {
    const identifier = { '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'u-44' }
    expect(ofPerson({ identifier })).toEqual([uin('U-44')])
    expect(ofPerson({ identifier: [identifier, { identifier_type: 'BIRTH_REG_NO', identifier_value: '0012' }] })).toEqual([
      uin('U-44'),
      { type: 'BRN', value: '0012', names: 'record' },
    ])
  })

  it('reads bare values as the type of their place, and objects that name no type', () => {
    expect(ofPerson({ identifier: 'U-44', phone_number: ['0700 12', '0700 12'], email: 'A@b.c' })).toEqual([
      uin('U-44'),
      { type: 'MOBILE', value: '070012', names: 'record' },
      { type: 'EMAIL', value: 'a@b.c', names: 'record' },
    ])
    expect(ofPerson({ identifier: { identifier_value: 'U-45' } })).toEqual([uin('U-45')])
  })

  it('finds prefixed keys and prefixed types', () => {
    const identifier = { 'spdci:identifier_type': 'spdci:UIN', ':identifier_value': 'U-44' }
    expect(ofPerson({ 'spdci:identifier': [identifier] })).toEqual([uin('U-44')])
  })

  it('keeps leading zeros, and reads integers by their digits', () => {
    expect(ofPerson({ identifier: [{ identifier_type: 'UIN', identifier_value: '0007' }] })).toEqual([uin('0007')])
    expect(ofPerson({ identifier: 4100 })).toEqual([uin('4100')])
    expect(ofPerson({ identifier: 9007199254740992 })).toEqual([uin('9007199254740992')])
    expect(ofPerson({ identifier: 1e20 })).toEqual([uin('100000000000000000000')])
  })

  it.each([
    [{ identifier_type: 7, identifier_value: '9' }],
    [{ identifier_type: 'UIN', identifier_value: '' }],
    [{ identifier_type: 'UIN', identifier_value: { value: '9' } }],
    [{ identifier_type: 'UIN' }],
    [1.5],
    [1e21],
    [true],
    [null],
  ])('leaves out what is no usable identifier: %j', (identifier) => {
    expect(ofPerson({ identifier: [identifier] })).toEqual([])
  })

  it.each(['SHOE_SIZE', 'spdci:passport'])('reads one of the type %s, which the kind does not list', (type) => {
    const identifier = [{ identifier_type: type, identifier_value: ' 9 b' }]
    expect(ofPerson({ identifier })).toEqual([{ type: UNLISTED.name, value: '9B', names: 'record' }])
  })

  it('names each identifier once, and as the record’s own if it is that too', () => {
    const group = social.record_types[1]
    const identifiers =
      group &&
      readIdentifiers(social, group, {
        group_identifier: [
          { identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' },
          { identifier_type: 'UIN', identifier_value: 'U-1' },
        ],
        group_head_info: { member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-1' }] },
        member_list: [{ member_identifier: 'U-1' }, { member_identifier: 'u-2' }, { member_identifier: 'U-2' }],
      })
    expect(identifiers).toEqual([{ type: 'HOUSEHOLD_ID', value: 'H-1', names: 'record' }, uin('U-1'), uin('U-2', 'part')])
  })

  it('reads any document without failing, and only normalised values', () => {
    const names = ['identifier', 'member_identifier', 'demographic_info', 'person', 'member', 'member_list']
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.bigInt().map(Number),
      fc.constantFrom<JsonValue>(null, true, 'UIN', 'NID'),
    )
    const { document } = fc.letrec<{ document: JsonValue }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.record({ identifier_type: leaf, identifier_value: leaf }, { requiredKeys: [] }),
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('document'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(document, fc.constantFrom(...KINDS), (value, kind) => {
        for (const recordType of kind.record_types) {
          for (const identifier of readIdentifiers(kind, recordType, value)) {
            const types = [...kind.identifier_types, UNLISTED]
            const type = types.find(({ name }) => name === identifier.type)
            expect(type && normaliseIdentifier(type, identifier.value)).toBe(identifier.value)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})

it('identifierValue refuses numbers that are not written as digits', () => {
  const [type] = civil.identifier_types
  expect(type && identifierValue(type, 1e21)).toBeNull()
  expect(type && identifierValue(type, 0.5)).toBeNull()
  expect(type && identifierValue(type, 2 ** 53)).toBe('9007199254740992')
  expect(type && identifierValue(type, undefined)).toBeNull()
})
