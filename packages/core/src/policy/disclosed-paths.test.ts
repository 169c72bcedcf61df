import { describe, expect, it } from 'vitest'
import { PathCollector } from './disclosed-paths.ts'

describe('the paths of records', () => {
  it('equal lists are one object, whatever the values are', () => {
    const names = new PathCollector()
    const first = names.collect({ a: [{ b: 1 }, { b: 2, c: [] }], d: { '@type': 'x', e: null } })
    expect(first).toEqual(['a.b', 'a.c', 'd.e'])
    expect(names.collect({ a: [{ b: 3 }, { c: {} }], d: { e: 'y' } })).toBe(first)
    expect(names.collect({ a: [{ c: {} }, { b: 3 }], d: { e: 'y' } })).toEqual(['a.c', 'a.b', 'd.e'])
  })

  it('names without an end are forgotten, and paths stay right', () => {
    const names = new PathCollector()
    const before = names.collect({ a: 1 })
    for (let number = 0; number < 10_000; number += 1) expect(names.collect({ [`n${number}`]: 1 })).toEqual([`n${number}`])
    expect(names.collect({ a: 1 })).toEqual(before)
    expect(names.collect({ a: 1 })).not.toBe(before)
  })
})
