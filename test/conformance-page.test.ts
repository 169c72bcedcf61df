/** docs/conformance.md names every number once, and cases that there are. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hasCase, namedTests, unnamedTests } from './named-tests.ts'

const docs = join(import.meta.dirname, '../docs')
const page = readFileSync(join(docs, 'conformance.md'), 'utf8')

const clauses = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('.test.ts)'))
  .map((line) => line.slice(2, -2).split(' | '))

it.each(namedTests(page))('%s has: %s', (file, name) => {
  expect(hasCase(docs, file, name)).toBe(true)
})

it('every clause has a standing and a test', () => {
  expect(unnamedTests(page)).toBe(0)
  expect(clauses.length).toBeGreaterThan(80)
  const standings = clauses.map(([, , standing]) => standing)
  expect(new Set(standings)).toEqual(new Set(['followed', 'decided', 'otherwise']))
})

/** `D13 to D15` is three numbers. */
const numbersOf = (letter: string): number[] =>
  clauses.flatMap(([clause = '']) => {
    const [, first, last = first] = new RegExp(`^${letter}(\\d+)(?: to ${letter}(\\d+))?, `).exec(clause) ?? []
    if (first === undefined) return []
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at)
  })

it.each([
  ['N', 23],
  ['D', 35],
])('every number of %s is there once', (letter, count) => {
  expect(numbersOf(letter)).toEqual(Array.from({ length: count }, (_, at) => at + 1))
})
