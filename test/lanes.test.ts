/** A test needs no more than the lane of its name offers. CONTRIBUTING.md has the rule. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

/** Helpers that give a test a database. */
const DATABASES = ['packages/keys/test/postgres.ts', 'packages/source/test/mariadb.ts']
/** Imports of a test, or of its helpers, that start a process: a command, a browser, a PostgreSQL of its own. */
const PROCESSES = /^node:child_process$|^playwright-core$|\/embedded\/postgres(?:\.ts)?$/

const files = globSync('{packages/*/{src,test},examples,test}/**/*.test.ts')

/** The files whose values a file imports, as paths from here; packages keep their names. */
function importsOf(file: string): readonly string[] {
  const source = readFileSync(file, 'utf8')
  return [...source.matchAll(/^(?:import|export) (?!type )[^'`;]*?'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    ([, first, second]) => {
      const path = first ?? second ?? ''
      return path.startsWith('.') ? normalize(join(dirname(file), path)) : path
    },
  )
}

/** Test code that a test runs: itself, and the helpers it imports, one through the other. */
function testCode(file: string, seen = new Set([file])): ReadonlySet<string> {
  for (const path of importsOf(file)) {
    if (seen.has(path) || !/(?:^|\/)test\/.*\.ts$/.test(path) || !existsSync(path)) continue
    seen.add(path)
    testCode(path, seen)
  }
  return seen
}

const deps = files.map((file) => {
  const code = [...testCode(file)]
  const processes = code.some((part) => importsOf(part).some((path) => PROCESSES.test(path)))
  return { file, processes, database: DATABASES.some((path) => code.includes(path)) }
})

it('reads the imports of tests', () => {
  expect(deps.filter(({ database }) => database).length).toBeGreaterThan(100)
  expect(deps.filter(({ processes }) => processes).length).toBeGreaterThan(30)
})

it('a test that starts processes is called .world.test.ts', () => {
  const wrong = deps.filter(({ file, processes }) => processes && !file.endsWith('.world.test.ts'))
  expect(wrong.map(({ file }) => file)).toEqual([])
})

it('a test that needs a database is called .db.test.ts, or .world.test.ts', () => {
  const wrong = deps.filter(({ file, database }) => database && !/\.(?:db|world)\.test\.ts$/.test(file))
  expect(wrong.map(({ file }) => file)).toEqual([])
})

it('a test is not called .db.test.ts without need', () => {
  const wrong = deps.filter(({ file, database }) => !database && file.endsWith('.db.test.ts'))
  expect(wrong.map(({ file }) => file)).toEqual([])
})
