/** A package of the registry's side shows what others import, and nothing more; its dependencies are what it imports. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { registryPackages, registrySources } from './registry-side.ts'

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  /** The console is bundled, so what it imports is needed while it is built. */
  readonly devDependencies?: Readonly<Record<string, string>>
}

const manifestOf = (name: string): Manifest => JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
const ownerOf = (path: string): string => path.split('/')[1] ?? ''

/** Every import by name of a package of the registry's side, in sources of all packages. */
const imports = globSync('packages/*/{src,bin}/**/*.{ts,tsx,js}')
  .filter((path) => !/\.test\.tsx?$/.test(path))
  .flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?:\bfrom|\bimport\(?) ?'@rollcall\/([^'/]+)(\/[^']+)?'/g)].map(
      ([, to = '', entry = '']) => ({ path, from: ownerOf(path), to, entry: `.${entry}` }),
    ),
  )
  .filter(({ to }) => registryPackages.includes(to))

it('a test that needs the whole server stands in packages/server/test: the packages below are tested without it', () => {
  const below = registryPackages.filter((name) => name !== 'server')
  const tests = below.flatMap((name) => globSync(`packages/${name}/{src,test}/**/*.{ts,tsx}`))
  expect(tests.length).toBeGreaterThan(700)
  const naming = tests.filter((path) => /'(?:@rollcall\/server|(?:\.\.\/)+server)\//.test(readFileSync(path, 'utf8')))
  expect(naming).toEqual([])
})

it('reads the imports', () => {
  expect(imports.length).toBeGreaterThan(1_500)
})

it.each(registryPackages)('every entry of %s has an importer', (name) => {
  const used = new Set(imports.filter(({ from, to }) => to === name && from !== name).map(({ entry }) => entry))
  expect(Object.keys(manifestOf(name).exports ?? {}).filter((entry) => !used.has(entry))).toEqual([])
})

it.each(registryPackages)('every import from %s has an entry, and a dependency', (name) => {
  const { name: dependency, exports = {} } = manifestOf(name)
  const wrong = imports.filter(({ from, to, entry }) => {
    const { dependencies, devDependencies } = manifestOf(from)
    const isNeeded = { ...devDependencies, ...dependencies }[dependency] !== undefined
    return to === name && !(isNeeded && exports[entry] !== undefined)
  })
  expect(wrong.map(({ path, entry }) => `${path}: ${entry}`)).toEqual([])
})

it.each(registryPackages)('the README of %s names entries and rooms that are there', (name) => {
  const text = readFileSync(`packages/${name}/README.md`, 'utf8')
  const entries = [...text.matchAll(/^\| `@rollcall\/[a-z]+(\/[^`]+)` \|/gm)].map(([, entry = '']) => `.${entry}`)
  const rooms = [...text.matchAll(/^\| `(src\/[^`]*)` \|/gm)].map(([, room = '']) => room)
  const { exports = {} } = manifestOf(name)
  expect(entries.length).toBeGreaterThan(0)
  expect(entries.filter((entry) => exports[entry] === undefined)).toEqual([])
  expect(rooms.filter((room) => !existsSync(`packages/${name}/${room}`))).toEqual([])
  expect(rooms.length).toBeGreaterThan(0)
})

it('packages depend on each other in no circle', () => {
  const left = new Map(
    registryPackages.map((name) => [
      name,
      Object.keys(manifestOf(name).dependencies ?? {}).map((dependency) => dependency.replace('@rollcall/', '')),
    ]),
  )
  for (let before = Number.NaN; before !== left.size; ) {
    before = left.size
    for (const [name, uses] of left) if (uses.every((use) => !left.has(use))) left.delete(name)
  }
  expect([...left.keys()]).toEqual([])
})

it('no package has more than 17,000 lines', () => {
  const lines = new Map<string, number>()
  for (const path of registrySources) {
    const owner = ownerOf(path)
    lines.set(owner, (lines.get(owner) ?? 0) + readFileSync(path, 'utf8').split('\n').length - 1)
  }
  expect([...lines].filter(([, count]) => count > 17_000)).toEqual([])
})
