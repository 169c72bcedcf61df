import { type JsonObject, KINDS, keysInList, kindNamed } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { documents, named } from '../../test/agreement/documents.ts'
import { type ElementsToRemoveByPath, MergeProblem, mergePatchIntoRecord } from './merge.ts'

function scopeOf(name: string, at = 0) {
  const kind = kindNamed(name)
  const recordType = kind?.record_types[at]
  if (kind === undefined || recordType === undefined) throw new Error(`no kind ${name}`)
  return { kind, recordType }
}
const civil = scopeOf('civil')

const id = (identifier_type: string, identifier_value: string): JsonObject => ({ identifier_type, identifier_value })
const merge = (record: JsonObject, patch: JsonObject, remove?: ElementsToRemoveByPath, scope = civil) =>
  mergePatchIntoRecord(scope, record, patch, remove)

describe('identifiers', () => {
  const three = [id('UIN', 'U-44'), id('BRN', 'B-1'), id('NID', 'N-1')]

  test('the public example of a death leaves all three', () => {
    const death = { identifier: [id('UIN', 'U-44')], death_date: '2026-02-02T11:00:00Z' }
    const record = { identifier: three, name: { surname: 'Okoro' } }
    expect(merge(record, death)).toEqual({ ...record, death_date: '2026-02-02T11:00:00Z' })
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['a new one joins them', { identifier: [id('DRN', 'D-1')] }, { identifier: [...three, id('DRN', 'D-1')] }],
    [
      'one known by another name of its type',
      { identifier: [{ ...id('NationalID', 'n-1'), note: 'x' }] },
      { identifier: [three[0], three[1], { ...id('NationalID', 'n-1'), note: 'x' }] as JsonObject[] },
    ],
    ['under another spelling of the member', { 'spdci:identifier': [id('UIN', 'U-44')] }, { identifier: three }],
    [
      'of types that the kind does not know',
      { identifier: [id('X', '1'), id('Y', '1')] },
      { identifier: [...three, id('X', '1'), id('Y', '1')] },
    ],
    ['an empty list', { identifier: [] }, { identifier: three }],
    ['one alone', { identifier: id('UIN', 'U-44') }, { identifier: three }],
  ])('%s', (_, patch, merged) => {
    expect(merge({ identifier: three }, patch)).toEqual(merged)
  })

  test.each<[string, JsonObject]>([['null', { identifier: null }]])('%s would take them out', (_, patch) => {
    expect(() => merge({ identifier: three }, patch)).toThrow(
      new MergeProblem('record: would take elements out of identifier; name them in remove, or set replace'),
    )
  })

  test('what is named is taken out', () => {
    const record = { identifier: three }
    expect(merge(record, {}, { identifier: [id('BIRTH_REG_NO', 'b-1')] })).toEqual({ identifier: [three[0], three[2]] })
    expect(merge(record, {}, { identifier: [id('BRN', 'another')] })).toEqual(record)
  })

  test.each<[ElementsToRemoveByPath, string]>([
    [{ name: ['x'] }, 'remove: each member must be one of the lists identifier'],
    [{ identifier: [{ identifier_type: 'UIN' }] }, 'remove.identifier[0]: must identify its element'],
  ])('a removal of %j is refused', (remove, message) => {
    expect(() => merge({ identifier: three }, {}, remove)).toThrow(new MergeProblem(message))
  })
})

describe('members and programmes', () => {
  const person = (uin: string, more: JsonObject = {}): JsonObject => ({ member_identifier: [id('UIN', uin)], ...more })
  const group = scopeOf('social', 1)
  const ibr = scopeOf('ibr')

  test('a member is merged with the member that has an identifier in common, and with its identifiers', () => {
    const stored = { member_list: [person('1', { sex: 'F' }), { household_member: person('2') }] }
    const patch = { member_list: [{ member_identifier: [id('UIN', '1'), id('NID', '9')], marital_status: 'M' }, person('3')] }
    expect(merge(stored, patch, {}, group)).toEqual({
      member_list: [
        { member_identifier: [id('UIN', '1'), id('NID', '9')], sex: 'F', marital_status: 'M' },
        { household_member: person('2') },
        person('3'),
      ],
    })
  })

  test('a programme beside the only one makes a list of both', () => {
    const one = { programme: { programme_identifier: 'PRG-7' }, enrolment_status: '1' }
    const two = { programme: { programme_identifier: 'PRG-8' }, enrolment_status: '1' }
    const stored = { member: { programme_identifier: one } }
    expect(merge(stored, { member: { programme_identifier: { ...one, enrolment_status: '3' } } }, {}, ibr)).toEqual({
      member: { programme_identifier: { ...one, enrolment_status: '3' } },
    })
    expect(merge(stored, { member: { programme_identifier: two } }, {}, ibr)).toEqual({
      member: { programme_identifier: [one, two] },
    })
  })

  test('a patch that writes over what a list stands in is refused', () => {
    const stored = { member: { programme_identifier: ['PRG-7'] } }
    expect(() => merge(stored, { member: 'x' }, {}, ibr)).toThrow(
      new MergeProblem(
        'record: would take elements out of member.programme_identifier or programme_identifier; name them in remove, or set replace',
      ),
    )
  })
})

describe('everything else as RFC 7396 has it', () => {
  test.each<[JsonObject, JsonObject, JsonObject]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [{ sex: 'male' }, { gender: 'female' }, { sex: 'female' }],
    [{}, JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
  ])('%j and %j', (record, patch, merged) => {
    expect(JSON.parse(JSON.stringify(merge(record, patch)))).toEqual(merged)
  })
})

const recordTypes = KINDS.flatMap((kind) =>
  kind.record_types.map((recordType) => ({ kind, recordType, name: `${kind.name} ${recordType.name}` })),
)

describe.each(recordTypes)('$name', ({ kind, recordType }) => {
  const document = documents(kind, recordType).map((one) => named(recordType, one, 7))
  const keys = (record: JsonObject) =>
    recordType.keyed_lists.flatMap((list) =>
      keysInList(kind, recordType, list, record)
        .filter((one) => one.length > 0)
        .map((one) => one.map((key) => `${list.name} ${key}`)),
    )

  test('no element leaves a list, and each that is published is in one', () => {
    const holds = fc.property(document, document, (record, patch) => {
      let merged: JsonObject
      try {
        merged = mergePatchIntoRecord({ kind, recordType }, record, patch)
      } catch (error) {
        expect(error).toBeInstanceOf(MergeProblem)
        return
      }
      const left = new Set(keys(merged).flat())
      for (const one of keys(record)) expect(one.some((key) => left.has(key))).toBe(true)
    })
    fc.assert(holds, { numRuns: 150 })
  })

  test('a record merged into itself, or into nothing, is the record', () => {
    const holds = fc.property(document, (record) => {
      const once = mergePatchIntoRecord({ kind, recordType }, {}, record)
      expect(mergePatchIntoRecord({ kind, recordType }, once, record)).toEqual(once)
    })
    fc.assert(holds, { numRuns: 100 })
  })
})

describe('many elements are merged in time that grows with their number', () => {
  /** The number of readings of a key: each reading of an element reads the types that it may have. */
  function readings(count: number, of: (count: number) => readonly [JsonObject, JsonObject]): number {
    let reads = 0
    const kind = new Proxy(civil.kind, {
      get(target, name, receiver) {
        reads += 1
        return Reflect.get(target, name, receiver)
      },
    })
    const [record, patch] = of(count)
    mergePatchIntoRecord({ ...civil, kind }, record, patch)
    return reads
  }
  const ids = (count: number, offset = 0) => Array.from({ length: count }, (_, at) => id('UIN', `U-${at + offset}`))

  test.each<[string, (count: number) => readonly [JsonObject, JsonObject]]>([
    ['found', (count) => [{ identifier: ids(count) }, { identifier: ids(count) }]],
    ['added', (count) => [{ identifier: [] }, { identifier: ids(count) }]],
    ['found and added', (count) => [{ identifier: ids(count) }, { identifier: ids(count, count / 2) }]],
  ])('%s', (_, of) => {
    expect(readings(400, of)).toBeLessThanOrEqual(4 * readings(100, of))
  })
})
