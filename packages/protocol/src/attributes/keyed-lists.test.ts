import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { kindNamed } from '../kinds/index.ts'
import { elementKeys, keyedListAt, keysInList } from './keyed-lists.ts'

function recordTypeOf(kindName: string, at = 0) {
  const kind = kindNamed(kindName)
  const recordType = kind?.record_types[at]
  if (kind === undefined || recordType === undefined) throw new Error(`no kind ${kindName}`)
  return { kind, recordType }
}

function keysAt(kindName: string, at: number, path: string, element: JsonValue): readonly string[] {
  const { kind, recordType } = recordTypeOf(kindName, at)
  const list = keyedListAt(recordType, path)
  if (list === undefined) throw new Error(`no list at ${path}`)
  return elementKeys(kind, recordType, list, path, element)
}

const id = (identifier_type: string, identifier_value: JsonValue) => ({ identifier_type, identifier_value })

describe('two elements with a key in common are the same', () => {
  it.each<[string, number, string, JsonValue, JsonValue]>([
    ['civil', 0, 'identifier', id('BRN', 'b-1'), id('BIRTH_REG_NO', ' B-1')],
    ['civil', 0, 'identifier', id('UIN', 7), '7'],
    ['civil', 0, 'identifier', id('X', '1'), { ...id('ns:x', '1'), note: 1 }],
    ['social', 1, 'member_list', { member_identifier: ['1'] }, { household_member: { member_identifier: '1' } }],
    [
      'social',
      1,
      'member_list',
      { member_identifier: [id('UIN', '1'), id('NID', '9')] },
      { demographic_info: { identifier: id('NIN', '9') } },
    ],
    ['ibr', 0, 'member.programme_identifier', 'prg-7', { programme: { program_identifier: 'PRG-7' } }],
    ['farmer', 0, 'land_details', { farm_id: 'F-1' }, { farm_id: 'f-1', land_size: 2 }],
  ])('%s %i, %s: %j and %j', (kind, at, path, one, other) => {
    const keys = keysAt(kind, at, path, one)
    expect(keysAt(kind, at, path, other).filter((key) => keys.includes(key))).toHaveLength(1)
  })
})

describe('and others are not', () => {
  it.each<[string, number, string, JsonValue, JsonValue]>([
    ['civil', 0, 'identifier', id('BRN', '1'), id('MRN', '1')],
    ['civil', 0, 'identifier', id('X', '1'), id('Y', '1')],
    ['ibr', 0, 'programme_identifier', 'PRG-7', 'PRG-8'],
    ['social', 1, 'member_list', { member_identifier: ['1'] }, { member_identifier: ['2'] }],
  ])('%s %i, %s: %j and %j', (kind, at, path, one, other) => {
    const keys = keysAt(kind, at, path, one)
    expect(keys).toHaveLength(1)
    expect(keysAt(kind, at, path, other).filter((key) => keys.includes(key))).toEqual([])
  })
})

it.each<[JsonValue]>([[{}], [{ identifier_type: 'UIN' }], [''], [null], [true]])('%j is known by nothing', (element) => {
  expect(keysAt('civil', 0, 'identifier', element)).toEqual([])
})

it('a list is found at its path in any spelling, and at no other', () => {
  const { recordType } = recordTypeOf('civil')
  expect(keyedListAt(recordType, 'spdci:identifier')?.name).toBe('identifier')
  expect(keyedListAt(recordType, 'name')).toBeUndefined()
})

it('one object in place of a list is its element', () => {
  const { kind, recordType } = recordTypeOf('civil')
  const [list] = recordType.keyed_lists
  if (list === undefined) throw new Error('no list')
  expect(keysInList(kind, recordType, list, { identifier: id('UIN', '1') })).toHaveLength(1)
  expect(keysInList(kind, recordType, list, { identifier: [id('UIN', '1'), {}] })).toHaveLength(2)
  expect(keysInList(kind, recordType, list, {})).toEqual([])
})
