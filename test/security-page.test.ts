/** docs/security.md says which tests show what; security-cases.json names the cases, and each of them is there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { linkedTests, missingCases, readCases } from './page-cases.ts'

const tested = readCases('security-cases.json', 'attack')
const page = readFileSync(join(import.meta.dirname, '../docs/security.md'), 'utf8')

it.each(tested)('each case is there: $row', (attack) => {
  expect(missingCases(attack)).toEqual([])
})

it('every attack has its cases, in the same order, and links their files', () => {
  const attacks = linkedTests(page, 'Attack')
  expect(attacks.length).toBeGreaterThan(100)
  const cases = tested.filter(({ row }) => !row.startsWith('mutated messages'))
  expect(attacks.map(({ cells, files }) => ({ row: cells[0], files }))).toEqual(
    cases.map(({ row, tests }) => ({ row, files: Object.keys(tests) })),
  )
})
