import type { Attribute, RecordType } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import { columnName, joinNameParts, MOST_NAME_CHARACTERS, quoteName, recordTableName, snakeCase } from './names.ts'

const recordType = (name: string) => ({ name }) as RecordType

test.each(['r1_person', '_x', 'birth_date_from'])('%s is quoted', (name) => {
  expect(quoteName(name)).toBe(`"${name}"`)
})

test.each(['', 'Person', '1st', 'a b', 'a"b', 'a;drop', 'é', 'a\0', 'x'.repeat(MOST_NAME_CHARACTERS + 1)])(
  '%j is no name for a database object',
  (name) => {
    expect(() => quoteName(name)).toThrow(`not a name for a database object: ${JSON.stringify(name)}`)
  },
)

test.each([
  ['Person', 'person'],
  ['DisabledPerson', 'disabled_person'],
  ['SRPerson', 'sr_person'],
  ['Group2Member', 'group2_member'],
])('%s becomes %s', (name, expected) => {
  expect(snakeCase(name)).toBe(expected)
})

describe('joinNameParts', () => {
  test('joins what fits', () => {
    expect(joinNameParts('r1', 'person', 'index')).toBe('r1_person_index')
    expect(joinNameParts('x'.repeat(MOST_NAME_CHARACTERS))).toHaveLength(MOST_NAME_CHARACTERS)
  })

  test('long names that begin alike stay different, and the same each time', () => {
    const stem = 'x'.repeat(MOST_NAME_CHARACTERS)
    expect(joinNameParts(stem, 'a')).toHaveLength(MOST_NAME_CHARACTERS)
    expect(joinNameParts(stem, 'a')).not.toBe(joinNameParts(stem, 'b'))
    expect(joinNameParts(stem, 'a')).toBe(joinNameParts(stem, 'a'))
    expect(quoteName(joinNameParts(stem, 'a'))).toMatch(/^"x{54}_[0-9a-f]{8}"$/)
  })
})

test('a record table is named by registry and record type', () => {
  expect(recordTableName(7, recordType('DisabledPerson'))).toBe('r7_disabled_person')
  expect(() => recordTableName(0, recordType('Person'))).toThrow('not a registry id: 0')
  expect(() => recordTableName(1.5, recordType('Person'))).toThrow('not a registry id: 1.5')
})

test('a column is named by attribute and suffix', () => {
  expect(columnName({ name: 'birth_date' } as Attribute, '_from')).toBe('birth_date_from')
})
