/** A command loads its subject alone: each module that it loads costs time at every start. */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { start } from './command.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const NOTE = new URL('./loaded-modules.ts', import.meta.url).href

/** The modules of our packages that a command loads, such as `core/src/limits.ts`, and how many it loads in all. */
async function loadedBy(words: readonly string[]): Promise<{ own: readonly string[]; all: number }> {
  const { code, stderr } = await start(words, { NODE_OPTIONS: `--import ${NOTE}` }, MAIN).ended
  expect(code).toBe(0)
  const urls = stderr.split('\n')
  // Each change of the tables adds a migration.
  const isCounted = (url: string): boolean => !/\/node_modules\/|\/migrations\/\d/.test(url)
  const own = urls.filter((url) => url.startsWith('file:') && isCounted(url))
  return { own: own.map((url) => url.replace(/.*\/packages\//, '')), all: urls.length }
}

/** The most modules, a few more than today: a command that loads a hundred more is noticed. */
it.each([
  { words: ['--help'], most: { own: 10, all: 30 } },
  { words: ['grant', '--help'], most: { own: 15, all: 35 } },
  { words: ['grant', 'list', '--help'], most: { own: 200, all: 1_095 } },
  { words: ['serve', '--help'], most: { own: 298, all: 1_290 } },
])('rollcall $words loads not more than this', async ({ words, most }) => {
  const { own, all } = await loadedBy(words)
  expect(own).toContain('cli/src/program.ts')
  expect(own.length).toBeLessThanOrEqual(most.own)
  expect(all).toBeLessThanOrEqual(most.all)
  expect(own.filter((path) => path.startsWith('server/'))).toEqual([])
})
