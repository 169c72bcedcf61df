import type { Predicate } from '@rollcall/core/model/predicate'
import type { Attribute, Compound } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import {
  and,
  area,
  crop,
  cropType,
  days,
  exists,
  hasIdentifier,
  is,
  not,
  note,
  oneOf,
  or,
  score,
  some,
  sown,
  surname,
  tag,
} from '../../../test/query-fixture.ts'
import { missingIndexes, predicateText } from './explain.ts'

const { indexed: _, ...unindexed } = crop
const farm: Compound = { ...unindexed, name: 'farm' }
const nick: Attribute = { name: 'nick', paths: ['nick'], type: 'text', many: true }
const seven = is(note, 'eq', '7')

const CASES: readonly (readonly [Predicate, readonly string[]])[] = [
  [is(surname, 'eq', 'a'), []],
  [seven, ['note']],
  [oneOf(note, '7'), ['note']],
  [and(seven, is(surname, 'starts_with', 'a')), []],
  [or(seven, is(surname, 'eq', 'a')), ['note']],
  [and(seven, is(note, 'contains', 'x')), ['note']],
  [and(or(seven, hasIdentifier(['UIN', '1'])), not(is(surname, 'eq', 'a'))), ['note']],
  [not(or(is(score, 'lt', 3), seven)), []],
  [not(and(is(score, 'lt', 3), is(note, 'lt', '7'))), ['note']],
  // No index answers these.
  [is(note, 'contains', 'x'), []],
  [is(surname, 'contains', 'x'), []],
  [not(seven), []],
  [not(oneOf(note, '7')), []],
  [not(hasIdentifier(['UIN', '1'])), []],
  [exists(note), ['note']],
  [{ is: 'identifier_type', types: ['UIN'] }, []],
  [exists(area, crop), []],
  [some(tag, is(tag, 'eq', 'a')), []],
  [some(nick, is(nick, 'eq', 'a')), ['nick']],
  [some(nick, is(nick, 'starts_with', 'a')), []],
  [some(crop, is(cropType, 'eq', 'rice')), []],
  [some(farm, and(is(cropType, 'eq', 'rice'), is(area, 'gt', 2))), ['farm']],
  [some(farm, or(is(cropType, 'eq', 'rice'), is(area, 'gt', 2))), []],
  [and(seven, some(farm, oneOf(area, 2))), ['farm', 'note']],
]

test.each(CASES)('%o misses %o', (predicate, expected) => {
  expect(missingIndexes(predicate)).toEqual(expected)
})

test('a predicate as text', () => {
  const all = and(
    is(surname, 'starts_with', 'a'),
    not(or(oneOf(score, 1, 2), exists(note))),
    some(crop, and(is(cropType, 'eq', 'rice'), is(sown, 'lt', days('2024-01-01')))),
    some(tag, is(tag, 'eq', 'b')),
    hasIdentifier(['UIN', '1'], ['BRN', '2']),
    { is: 'identifier_type', types: ['BRN', 'MOBILE'] },
  )
  expect(predicateText(all)).toBe(`and
  surname starts_with "a"
  not
    or
      score in [1,2]
      note exists
  some crop
    and
      crop_type eq "rice"
      sown lt {"from":"2024-01-01","to":"2024-01-01"}
  some tag value
    tag eq "b"
  identifier UIN "1" or BRN "2"
  identifier of type BRN or MOBILE`)
})
