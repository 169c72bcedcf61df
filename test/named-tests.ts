/** Tests that a page names: a link to a file of tests, a colon, and names of cases. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const REFERENCE = /\]\((\S+\.test\.ts)\): (`[^`]+`(?:, `[^`]+`)*)/g

/** @returns each file with one case, in the order of the page */
export const namedTests = (page: string): [file: string, name: string][] =>
  [...page.matchAll(REFERENCE)].flatMap(([, file = '', cases = '']) =>
    [...cases.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, string] => [file, name]),
  )

/** Links to tests that name no case. */
export const unnamedTests = (page: string): number =>
  [...page.matchAll(/\]\(\S+\.test\.ts\)/g)].length - [...page.matchAll(REFERENCE)].length

/** @param folder that of the page */
export function hasCase(folder: string, file: string, name: string): boolean {
  const path = join(folder, file)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
  return source.includes(`'${name}'`) || source.includes(`"${name}"`)
}
