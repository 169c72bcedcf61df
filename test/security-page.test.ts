/** docs/security.md says which test shows what; each of them is there. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const docs = join(import.meta.dirname, '../docs')
const page = readFileSync(join(docs, 'security.md'), 'utf8')

/** A link to a file of tests, a colon, and names of cases. */
const REFERENCE = /\]\((\S+\.test\.ts)\): (`[^`]+`(?:, `[^`]+`)*)/g

const named = [...page.matchAll(REFERENCE)].flatMap(([, file = '', cases = '']) =>
  [...cases.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string] => [file, name]),
)

it.each(named)('%s has: %s', (file, name) => {
  const path = join(docs, file)
  expect(existsSync(path)).toBe(true)
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
  expect(source.includes(`'${name}'`) || source.includes(`"${name}"`)).toBe(true)
})

it('every link to a test names a case, and every row of attacks has one', () => {
  const links = [...page.matchAll(/\]\(\S+\.test\.ts\)/g)]
  expect(links.length).toBe([...page.matchAll(REFERENCE)].length)
  const rows = page.split('\n').filter((line) => /^\| [^|]+ \| [^|]+ \| [^|]+ \|$/.test(line))
  const attacks = rows.filter((row) => !/^\| (?:Attack \||---)/.test(row))
  expect(attacks.length).toBeGreaterThan(40)
  expect(attacks.filter((row) => !row.includes('.test.ts): `'))).toEqual([])
})
