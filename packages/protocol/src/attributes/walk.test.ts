import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonValue, parseJson } from '../json.ts'
import { KEY_SPELLINGS } from './record-keys.ts'
import { compilePath, visitValuesAt } from './walk.ts'

function leaves(document: JsonValue, path: string): JsonValue[] {
  const found: JsonValue[] = []
  visitValuesAt(document, compilePath(path), (leaf) => {
    found.push(leaf)
    return false
  })
  return found
}

describe('walk', () => {
  it('follows a dotted path', () => {
    expect(leaves({ name: { surname: 'Okoro' } }, 'name.surname')).toEqual(['Okoro'])
  })

  it('takes an array and a single object alike, at any place', () => {
    const list = { member_list: [{ info: { email: ['a', 'b'] } }, { info: [{ email: 'c' }] }, {}, null, 'x'] }
    expect(leaves(list, 'member_list.info.email')).toEqual(['a', 'b', 'c'])
    expect(leaves([{ a: 1 }, { a: 2 }], 'a')).toEqual([1, 2])
  })

  it('finds nothing in an array that stands right inside an array', () => {
    expect(leaves({ a: [[{ b: 1 }], { b: 2 }] }, 'a.b')).toEqual([2])
  })

  it.each([null, '', [], {}, 'text', 7, true])('finds nothing below %j', (value) => {
    expect(leaves({ a: value }, 'a.b')).toEqual([])
  })

  it('takes null and "" for absent, and false and 0 for values', () => {
    expect(leaves({ a: [null, '', false, 0] }, 'a')).toEqual([false, 0])
  })

  it('stops where it is told to', () => {
    const seen: JsonValue[] = []
    const stopped = visitValuesAt({ a: [1, 2, 3] }, compilePath('a'), (leaf) => {
      seen.push(leaf)
      return leaf === 2
    })
    expect(stopped).toBe(true)
    expect(seen).toEqual([1, 2])
  })
})

describe('key spellings', () => {
  it.each(Object.entries(KEY_SPELLINGS))('%s is found under each of %j', (key, spellings) => {
    for (const spelling of spellings) expect(leaves({ [spelling]: 'x' }, key)).toEqual(['x'])
  })

  it.each(['spdci:identifier', ':identifier', 'a:b:identifier'])('%s is found as identifier', (key) => {
    expect(leaves({ [key]: 'x' }, 'identifier')).toEqual(['x'])
  })

  it('a prefixed key may be another spelling too', () => {
    expect(leaves({ 'spdci:gender': 'F' }, 'sex')).toEqual(['F'])
  })

  it('prefers the exact key, then another spelling, then a prefixed key, each only where it has a value', () => {
    expect(leaves({ 'p:sex': 1, gender: 2, sex: 3 }, 'sex')).toEqual([3])
    expect(leaves({ 'p:sex': 1, gender: 2, sex: '' }, 'sex')).toEqual([2])
    expect(leaves({ 'p:sex': 1, gender: null }, 'sex')).toEqual([1])
  })

  it('does not take one key for the end of another', () => {
    expect(leaves({ primary_identifier: 'x', 'identifier:other': 'y' }, 'identifier')).toEqual([])
  })
})

describe('hostile documents', () => {
  it('inherited members are no members', () => {
    for (const path of ['constructor', 'toString', '__proto__', '__proto__.constructor', 'constructor.name']) {
      expect(leaves({}, path)).toEqual([])
    }
  })

  it('__proto__ is a member where the document has one', () => {
    expect(leaves(parseJson('{"__proto__":{"sex":"F"}}'), 'sex')).toEqual([])
    expect(leaves(parseJson('{"__proto__":{"sex":"F"}}'), '__proto__.sex')).toEqual(['F'])
  })

  it('depth and breadth of the document do no harm', () => {
    let deep: JsonValue = 'x'
    for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? [deep] : { a: deep }
    expect(leaves(deep, 'a.a.b')).toEqual([])
    expect(leaves({ a: Array.from({ length: 100_000 }, () => ({ b: 1 })) }, 'a.b')).toHaveLength(100_000)
  })

  it('any JSON gives only scalars and objects that stand in it', () => {
    const names = fc.constantFrom('sex', 'gender', 'p:sex', 'name', ':name', '__proto__', 'constructor', '')
    const { document } = fc.letrec<{ document: JsonValue }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<JsonValue>(null, '', 'F', 0, 1e300, 1e30, true),
        fc.array(tie('document'), { maxLength: 4 }),
        fc.dictionary(names, tie('document'), { maxKeys: 5, noNullPrototype: false }),
      ),
    }))
    fc.assert(
      fc.property(document, fc.array(names, { minLength: 1, maxLength: 4 }), (value, path) => {
        for (const leaf of leaves(value, path.join('.'))) {
          expect(leaf === null || leaf === '' || leaf === undefined || Array.isArray(leaf)).toBe(false)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
