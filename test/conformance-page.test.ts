/** docs/conformance.md has every number once; conformance-cases.json names the cases, and each of them is there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { linkedTests, missingCases, readCases } from './page-cases.ts'

const cases = readCases('conformance-cases.json', 'clause')
const clauses = linkedTests(readFileSync(join(import.meta.dirname, '../docs/conformance.md'), 'utf8'), 'Clause')

it.each(cases)('each case is there: $row', (clause) => {
  expect(missingCases(clause)).toEqual([])
})

it('every clause has a standing, and links the files of its cases', () => {
  expect(clauses.length).toBeGreaterThan(80)
  expect(new Set(clauses.map(({ cells }) => cells[2]))).toEqual(new Set(['followed', 'decided', 'otherwise']))
  expect(clauses.map(({ cells, files }) => ({ row: cells[0], files }))).toEqual(
    cases.map(({ row, tests }) => ({ row, files: Object.keys(tests) })),
  )
})

/** `D13 to D15` is three numbers. */
const numbersOf = (letter: string): number[] =>
  clauses.flatMap(({ cells: [clause = ''] }) => {
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
