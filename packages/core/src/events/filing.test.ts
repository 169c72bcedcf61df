import { KINDS, kindNamed } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documents, named } from '../../../server/test/agreement/documents.ts'
import { everything } from '../../../server/test/agreement/everything.ts'
import { predicates } from '../../../server/test/agreement/predicates.ts'
import { TODAYS } from '../../../server/test/agreement/raw-values.ts'
import type { Predicate } from '../model/predicate.ts'
import { atDay } from '../query/at-day.ts'
import { extractRecord } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { filingKeys, recordKeys } from './filing.ts'

const recordTypes = [...KINDS, everything].flatMap((kind) =>
  kind.record_types.map((recordType) => ({ kind, recordType, name: `${kind.name} ${recordType.name}` })),
)

const hexOf = (keys: readonly Buffer[]): ReadonlySet<string> =>
  new Set(keys.map((key) => key.toString('hex')))

describe.each(recordTypes)('$name', ({ kind, recordType }) => {
  test('who fulfils a filter bears one of its keys, and who bears a whole one fulfils it', () => {
    const record = documents(kind, recordType).map((document) =>
      extractRecord(kind, recordType, named(recordType, document, 7)),
    )
    const today = fc.constantFrom(...TODAYS)
    const holds = fc.property(predicates(kind, recordType), record, today, (predicate, extracted, day) => {
      const borne = hexOf(recordKeys(extracted))
      const common = filingKeys(predicate).filter(({ key }) => borne.has(key.toString('hex')))
      const fulfilled = matches(atDay(predicate, recordType, day), extracted)
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
  const part = ({ key }: { key: Buffer }) => ({ key, whole: false })

  test.each<[string, Predicate, readonly { key: Buffer; whole: boolean }[]]>([
    ['an identifier before a text', and(surname, uin), filingKeys(uin).map(part)],
    ['a text before a code', and(sex, surname), filingKeys(surname).map(part)],
    ['a code before none', and(later, sex), filingKeys(sex).map(part)],
    ['within parts', and(later, and(sex, or(uin, surname))), filingKeys(or(uin, surname)).map(part)],
    ['one condition is all of it', and(surname), filingKeys(surname)],
    ['each of several', or(uin, sex), [...filingKeys(uin), ...filingKeys(sex)]],
    ['the same twice', or(and(sex, later), sex), filingKeys(sex)],
    ['none, where one of several has none', or(uin, later), filingKeys(later)],
    ['none of a negation', not(uin), filingKeys(later)],
  ])('%s', (_, predicate, keys) => {
    expect(filingKeys(predicate)).toEqual(keys)
  })

  test('what has none is under the key that every record bears', () => {
    expect(filingKeys(later)).toEqual([{ key: Buffer.alloc(0), whole: false }])
    expect(filingKeys(null)).toEqual([{ key: Buffer.alloc(0), whole: true }])
  })
})
