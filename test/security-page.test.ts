/** docs/security-tests.md says which test shows what; each of them is there, and each attack of docs/security.md has one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hasCase, namedTests, unnamedTests } from './named-tests.ts'

const docs = join(import.meta.dirname, '../docs')
const security = readFileSync(join(docs, 'security.md'), 'utf8')
const page = readFileSync(join(docs, 'security-tests.md'), 'utf8')

it.each(namedTests(page))('%s has: %s', (file, name) => {
  expect(hasCase(docs, file, name)).toBe(true)
})

it('every link to a test names a case', () => {
  expect(unnamedTests(page)).toBe(0)
  expect(security).not.toContain('.test.ts')
})

/** The first cells of the tables of attacks, below their section. */
function attacksOf(text: string): string[] {
  const attacks: string[] = []
  let section = ''
  let inTable = false
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) section = line
    if (line.startsWith('| Attack |')) inTable = true
    else if (!line.startsWith('|')) inTable = false
    else if (inTable && !line.startsWith('|---')) attacks.push(`${section}: ${line.split(' | ')[0]}`)
  }
  return attacks
}

it('every attack has a test, in the same order', () => {
  const attacks = attacksOf(security)
  expect(attacks.length).toBeGreaterThan(100)
  const tested = attacksOf(page).filter((attack) => !attack.startsWith('## Error texts and logs'))
  expect(tested).toEqual(attacks)
  const rows = page.split('\n').filter((line) => /^\| (?!Attack \|)/.test(line))
  expect(rows.filter((row) => !row.includes('.test.ts): `'))).toEqual([])
})
