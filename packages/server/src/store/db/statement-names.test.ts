import { expect, test } from 'vitest'
import { StatementNames } from './statement-names.ts'

test('a shape gets a name when it comes again, and keeps it', () => {
  const names = new StatementNames(3)
  expect(['a', 'b', 'a', 'b', 'a'].map((text) => names.nameOf(text))).toEqual([
    undefined,
    undefined,
    'search_1',
    'search_2',
    'search_1',
  ])
})

test('there are so many names and no more', () => {
  const names = new StatementNames(2)
  for (const text of ['a', 'b', 'c', 'd']) {
    names.nameOf(text)
    names.nameOf(text)
  }
  expect(['a', 'b', 'c', 'd'].map((text) => names.nameOf(text))).toEqual([
    'search_1',
    'search_2',
    undefined,
    undefined,
  ])
})

test('shapes that come once do not keep others from being remembered', () => {
  const names = new StatementNames(2)
  for (const text of ['a', 'b', 'c']) names.nameOf(text)
  // It was forgotten for the others; these are remembered.
  expect(names.nameOf('a')).toBeUndefined()
  expect(names.nameOf('c')).toBe('search_1')
})

test('a long statement has none', () => {
  const names = new StatementNames(2)
  const long = 'x'.repeat(4_001)
  expect([names.nameOf(long), names.nameOf(long)]).toEqual([undefined, undefined])
})

test('a name under which a search was slow three times never comes back, and no other shape gets it', () => {
  const names = new StatementNames(2)
  for (const text of ['a', 'a', 'b']) names.nameOf(text)
  for (const times of [1, 2]) {
    names.wasSlow('a')
    expect(names.nameOf('a'), `slow ${times} times`).toBe('search_1')
  }
  for (const _time of [1, 2, 3]) names.wasSlow('b')
  names.wasSlow('a')
  expect(['a', 'a', 'b', 'c', 'c'].map((text) => names.nameOf(text))).toEqual([
    undefined,
    undefined,
    'search_2',
    undefined,
    undefined,
  ])
})
