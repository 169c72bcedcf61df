import { expect, test } from 'vitest'
import { StatementNames } from './statement-names.ts'

const [ADA, BO, CAI] = [1, 2, 3] as const

/** The names that these shapes get, one after the other. */
const named = (names: StatementNames, participant: number, ...texts: readonly string[]) =>
  texts.map((text) => names.nameOf(text, participant))

test('a shape gets a name when it comes again, from whomever, and keeps it while it is used', () => {
  const names = new StatementNames(3)
  expect(named(names, ADA, 'a', 'b', 'a', 'b')).toEqual([undefined, undefined, 'search_1', 'search_2'])
  for (const other of ['c', 'd', 'e']) named(names, BO, 'a', other, other)
  expect(named(names, BO, 'a')).toEqual(['search_1'])
})

test('the shape that was not used for the longest time loses its name, which no other shape gets', () => {
  const names = new StatementNames(2)
  expect(named(names, ADA, 'a', 'a', 'b', 'b', 'a', 'c', 'c')).toEqual(
    [undefined, 'search_1', undefined, 'search_2', 'search_1', undefined, 'search_3'], // b was forgotten
  )
  expect(named(names, ADA, 'a', 'b', 'b')).toEqual(['search_1', undefined, 'search_4'])
})

test('a participant with many shapes does not push out those of others beyond an equal share', () => {
  const names = new StatementNames(6)
  const [many, few] = [Array.from({ length: 100 }, (_, n) => `many ${n}`), ['few 1', 'few 2']]
  named(names, ADA, ...many.flatMap((text) => [text, text]))
  const first = named(names, BO, ...few, ...few).slice(2)
  expect(first).toEqual(['search_101', 'search_102'])
  named(names, ADA, ...many.flatMap((text) => [text, text]))
  named(names, CAI, ...many.flatMap((text) => [text, text]))
  expect(named(names, BO, ...few)).toEqual(first)
})

test('a long statement has none', () => {
  const names = new StatementNames(2)
  const long = 'x'.repeat(4_001)
  expect(named(names, ADA, long, long)).toEqual([undefined, undefined])
})

test('a name under which a search was slow three times does not come back, and no other shape gets it', () => {
  const names = new StatementNames(2)
  named(names, ADA, 'a', 'a', 'b')
  for (const times of [1, 2]) {
    names.wasSlow('a')
    expect(named(names, ADA, 'a'), `slow ${times} times`).toEqual(['search_1'])
  }
  for (const _time of [1, 2, 3]) names.wasSlow('b')
  names.wasSlow('a')
  named(names, BO, 'd', 'd', 'e', 'e', 'f', 'f')
  // Slow runs without a name do not count.
  expect(named(names, ADA, 'a', 'a', 'b', 'b')).toEqual([undefined, undefined, 'search_5', 'search_5'])
})

test('a slow search counts for ten minutes, and its shape gets another name after an hour', () => {
  let now = 0
  const names = new StatementNames(2, () => now)
  named(names, ADA, 'a', 'a')
  for (const minutes of [0, 9, 10, 19, 21]) {
    now = minutes * 60_000
    names.wasSlow('a')
    expect(named(names, ADA, 'a'), `${minutes} minutes`).toEqual(['search_1'])
  }
  now += 60_000
  names.wasSlow('a')
  now += 3_599_000
  expect(named(names, ADA, 'a', 'a')).toEqual([undefined, undefined])
  now += 1_000
  expect(named(names, ADA, 'a', 'a')).toEqual([undefined, 'search_2'])
})

test('a connection is full when it has prepared twice as many names as there are', () => {
  const [names, connection] = [new StatementNames(2), {}]
  for (const name of ['search_1', 'search_1', 'search_2', 'documents_r1_person', undefined, 'search_3'])
    names.runs(connection, name)
  expect(names.isFull(connection)).toBe(false)
  names.runs(connection, 'search_4')
  expect([names.isFull(connection), names.isFull({})]).toEqual([true, false])
})
