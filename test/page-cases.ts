/** The tables of a page whose rows link tests, and the file that names the cases of each row. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The cases that show the rule of a row, by file, from the root of the repository. */
export interface RowCases {
  readonly row: string
  readonly tests: Readonly<Record<string, readonly string[]>>
}

/**
 * @param file in this folder
 * @param member of its objects that is the first cell of a row
 */
export function readCases(file: string, member: 'attack' | 'clause'): RowCases[] {
  const objects: readonly (RowCases & Record<typeof member, string>)[] = JSON.parse(
    readFileSync(join(import.meta.dirname, file), 'utf8'),
  )
  return objects.map(({ [member]: row, tests }) => ({ row, tests }))
}

/** The names that their files do not have; one that says so where there is no name. */
export function missingCases({ row, tests }: RowCases): string[] {
  const cases = Object.entries(tests).flatMap(([file, names]) => names.map((name) => [file, name] as const))
  if (cases.length === 0) return [`${row} has no case`]
  return cases.flatMap(([file, name]) => (hasCase(file, name) ? [] : [`${file}: ${name}`]))
}

function hasCase(file: string, name: string): boolean {
  const path = join(root, file)
  if (!existsSync(path)) return false
  const source = readFileSync(path, 'utf8').replaceAll("\\'", "'")
  return source.includes(`'${name}'`) || source.includes(`"${name}"`)
}

/** The rows of a page's tables with this first heading: their cells, and the files of tests that the last one links. */
export function linkedTests(page: string, heading: string): { cells: readonly string[]; files: readonly string[] }[] {
  const rows: { cells: readonly string[]; files: readonly string[] }[] = []
  let inTable = false
  for (const line of page.split('\n')) {
    if (line.startsWith(`| ${heading} |`)) inTable = true
    else if (!line.startsWith('|')) inTable = false
    else if (inTable && !line.startsWith('|---')) {
      const cells = line.slice(2, -2).split(' | ')
      const links = [...(cells.at(-1) ?? '').matchAll(/\]\(\.\.\/(\S+\.test\.ts)\)/g)]
      rows.push({ cells, files: links.map(([, file = '']) => file) })
    }
  }
  return rows
}
