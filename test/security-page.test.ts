/** docs/security.md says which tests show what; security-cases.json names the cases, and each of them is there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hasCase } from './named-tests.ts'

interface Tested {
  readonly attack: string
  /** By file, from the root of the repository. */
  readonly tests: Readonly<Record<string, readonly string[]>>
}

const root = join(import.meta.dirname, '..')
const tested: readonly Tested[] = JSON.parse(readFileSync(join(import.meta.dirname, 'security-cases.json'), 'utf8'))
const page = readFileSync(join(root, 'docs/security.md'), 'utf8')

it.each(tested)('each case is there: $attack', ({ tests }) => {
  const cases = Object.entries(tests).flatMap(([file, names]) => names.map((name) => [file, name] as const))
  expect(cases.length).toBeGreaterThan(0)
  expect(cases.filter(([file, name]) => !hasCase(root, file, name))).toEqual([])
})

/** The rows of the tables of attacks: the attack, and the tests that it links. */
function attacksOf(text: string): { attack: string; files: readonly string[] }[] {
  const rows: { attack: string; files: readonly string[] }[] = []
  let inTable = false
  for (const line of text.split('\n')) {
    if (line.startsWith('| Attack |')) inTable = true
    else if (!line.startsWith('|')) inTable = false
    else if (inTable && !line.startsWith('|---')) {
      const cells = line.slice(2, -2).split(' | ')
      const links = [...(cells.at(-1) ?? '').matchAll(/\]\(\.\.\/(\S+\.test\.ts)\)/g)]
      rows.push({ attack: cells[0] ?? '', files: links.map(([, file = '']) => file) })
    }
  }
  return rows
}

it('every attack has its cases, in the same order, and links their files', () => {
  const attacks = attacksOf(page)
  expect(attacks.length).toBeGreaterThan(100)
  const cases = tested.filter(({ attack }) => !attack.startsWith('mutated messages'))
  expect(attacks).toEqual(
    cases.map(({ attack, tests }) => ({ attack, files: Object.entries(tests).map(([file]) => file) })),
  )
})
