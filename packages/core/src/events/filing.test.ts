import { KINDS, kindNamed } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documents, named } from '../../test/agreement/documents.ts'
import { everything } from '../../test/agreement/everything.ts'
import { predicates } from '../../test/agreement/predicates.ts'
import { TODAYS } from '../../test/agreement/raw-values.ts'
import type { Predicate } from '../model/predicate.ts'
import { readRecordValues } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { replaceAgesByDates } from '../query/resolve-ages.ts'
import { keysOfChange, keysOfFilter } from './filing.ts'

const recordTypes = [...KINDS, everything].flatMap((kind) =>
  kind.record_types.map((recordType) => ({ kind, recordType, name: `${kind.name} ${recordType.name}` })),
)

const hexOf = (keys: readonly Uint8Array[]): ReadonlySet<string> => new Set(keys.map((key) => Buffer.from(key).toString('hex')))

describe.each(recordTypes)('$name', ({ kind, recordType }) => {
  test('who fulfils a filter bears one of its keys, and who bears a whole one fulfils it', () => {
    const record = documents(kind, recordType).map((document) =>
      readRecordValues(kind, recordType, named(recordType, document, 7)),
    )
    const today = fc.constantFrom(...TODAYS)
    const holds = fc.property(predicates(kind, recordType), record, today, (predicate, extracted, day) => {
      const borne = hexOf(keysOfChange(null, extracted).map(({ key }) => key))
      const common = keysOfFilter(predicate).filter(({ key }) => borne.has(Buffer.from(key).toString('hex')))
      const fulfilled = matches(replaceAgesByDates(predicate, recordType, day), extracted)
      if (fulfilled) expect(common.length).toBeGreaterThan(0)
      if (common.some(({ whole }) => whole)) expect(fulfilled).toBe(true)
    })
    fc.assert(holds, { numRuns: 300 })
  })
})

describe('the most selective equality', () => {
  const attribute = (name: string) => {
    const found = kindNamed('civil')?.record_types[0].attributes.find((one) => one.name === name)
    if (found === undefined) throw new Error(`no attribute ${name}`)
    return found
  }
  const is = (name: string, value: string | number): Predicate => {
    return { is: 'compare', attribute: attribute(name), operator: 'eq', value }
  }
  const and = (...of: Predicate[]): Predicate => ({ is: 'and', of })
  const or = (...of: Predicate[]): Predicate => ({ is: 'or', of })
  const not = (of: Predicate): Predicate => ({ is: 'not', of })
  const uin: Predicate = { is: 'identifier', identifiers: [{ type: 'UIN', value: 'U-44' }] }
  const sex = is('sex', 'female')
  const surname = is('surname', 'okoro')
  const later: Predicate = { is: 'compare', attribute: attribute('surname'), operator: 'gt', value: 'b' }
  const part = ({ key }: { key: Uint8Array }) => ({ key, whole: false })

  test.each<[string, Predicate, readonly { key: Uint8Array; whole: boolean }[]]>([
    ['an identifier before a text', and(surname, uin), keysOfFilter(uin).map(part)],
    ['a text before a code', and(sex, surname), keysOfFilter(surname).map(part)],
    ['a code before none', and(later, sex), keysOfFilter(sex).map(part)],
    ['within parts', and(later, and(sex, or(uin, surname))), keysOfFilter(or(uin, surname)).map(part)],
    ['one condition is all of it', and(surname), keysOfFilter(surname)],
    ['each of several', or(uin, sex), [...keysOfFilter(uin), ...keysOfFilter(sex)]],
    ['the same twice', or(and(sex, later), sex), keysOfFilter(sex)],
    ['none, where one of several has none', or(uin, later), keysOfFilter(later)],
    ['none of a negation', not(uin), keysOfFilter(later)],
  ])('%s', (_, predicate, keys) => {
    expect(keysOfFilter(predicate)).toEqual(keys)
  })

  test('is stored by the first half of its SHA-256, which no version may change', () => {
    expect(hexOf(keysOfFilter(uin).map(({ key }) => key))).toEqual(new Set(['10bc822d05754859f2a9e60f79ea005e']))
  })

  test('what has none is under the key that every record bears', () => {
    expect(keysOfFilter(later)).toEqual([{ key: new Uint8Array(0), whole: false }])
    expect(keysOfFilter(null)).toEqual([{ key: new Uint8Array(0), whole: true }])
  })
})

test('a key of a change says whether the record had it before, after it, or both', () => {
  const recordOf = (...values: string[]) => ({
    values: new Map(),
    elements: new Map(),
    identifiers: new Map([['UIN', new Set(values)]]),
  })
  const keyOf = (value: string) =>
    keysOfFilter({ is: 'identifier', identifiers: [{ type: 'UIN', value }] }).map(({ key }) => key)[0]
  const every = new Uint8Array(0)
  expect(keysOfChange(recordOf('a', 'b'), recordOf('b', 'c'))).toEqual([
    { key: every, before: true, after: true },
    { key: keyOf('a'), before: true, after: false },
    { key: keyOf('b'), before: true, after: true },
    { key: keyOf('c'), before: false, after: true },
  ])
  expect(keysOfChange(null, recordOf())).toEqual([{ key: every, before: false, after: true }])
  expect(keysOfChange(recordOf(), null)).toEqual([{ key: every, before: true, after: false }])
})
