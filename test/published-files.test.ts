/**
 * A compiled package has all files that its source reads at run time (ARCHITECTURE.md, "Files that are read at run
 * time").
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { unpublishedFiles, withCompiledNames } from '../build/published-files.ts'

const packages = globSync('packages/*')
const sources = packages.flatMap((directory) =>
  globSync([`${directory}/src/**/*.ts`, `${directory}/bin/*.mjs`])
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => ({ directory, file })),
)

it('every source names the files that it needs so that the build finds them', () => {
  expect(sources.length).toBeGreaterThan(300)
  const problems = sources.flatMap(({ directory, file }) => unpublishedFiles(file, readFileSync(file, 'utf8'), directory))
  expect(problems).toEqual([])
})

it.each([
  ["new URL('./thread.ts', import.meta.url)", []],
  ["new URL('../../package.json', import.meta.url)", []],
  ["new URL('../../../../node_modules/.cache', import.meta.url)", []],
  ['createRequire(import.meta.url).resolve(name)', []],
  ['/** import.meta.dirname is not used. */', []],
  ["new URL('./none.ts', import.meta.url)", ['./none.ts is not in src/ of its package']],
  ["new URL('../../test/postgres.ts', import.meta.url)", ['../../test/postgres.ts is not in src/ of its package']],
  [
    "join(import.meta.dirname, 'thread.ts')",
    ["import.meta.dirname, 'thread.ts'): write new URL('./file', import.meta.url) with a literal"],
  ],
  ['new URL(name, import.meta.url)', ["import.meta.url): write new URL('./file', import.meta.url) with a literal"]],
])('%s', (source, expected) => {
  const file = join('packages/participants', 'src/reading/threads.ts')
  expect(unpublishedFiles(file, source, 'packages/participants')).toEqual(expected.map((problem) => `${file}: ${problem}`))
})

it('compiled code names compiled files', () => {
  expect(withCompiledNames("new Worker(new URL('./thread.ts', import.meta.url))")).toBe(
    "new Worker(new URL('./thread.js', import.meta.url))",
  )
  expect(withCompiledNames("new URL('./demo.yaml', import.meta.url)")).toBe("new URL('./demo.yaml', import.meta.url)")
})
