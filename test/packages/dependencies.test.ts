/**
 * Dependencies of the running code without the packages for development: `npm ci --omit=dev` in a clone, and published
 * packages.
 */
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { expect, it } from 'vitest'

interface Manifest {
  readonly name: string
  /** Patterns of its running files: all sources and programs unless it says otherwise. */
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const manifestAt = (directory: string): Manifest => JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as Manifest

/** Imports of values; the name of the package alone. */
function importedPackages(directory: string): ReadonlySet<string> {
  const { files: patterns = ['src/**/*.ts', 'bin/*.mjs'] } = manifestAt(directory)
  const files = globSync(patterns.map((pattern) => `${directory}/${pattern}`)).filter(
    (file) => /\.(?:ts|mjs)$/.test(file) && !file.endsWith('.test.ts'),
  )
  const names = files.flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) (?!type )(?:[\w*{}\s,]*? from )?'([^'.][^']*)'|\bimport\('([^'.][^']*)'\)|\.resolve\('([^'.][^']*)'\)/gm,
      ),
    ].map(([, first, second, third]) => first ?? second ?? third ?? ''),
  )
  const packages = names
    .filter((name) => !isBuiltin(name))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
  return new Set(packages)
}

it.each(globSync('packages/*'))('%s depends on every package that it imports', (directory) => {
  const { name, dependencies = {} } = manifestAt(directory)
  const imported = importedPackages(directory)
  // The launcher uses the package `node` where somebody has installed it.
  const missing = [...imported].filter((one) => one !== name && one !== 'node' && !(one in dependencies))
  expect(missing).toEqual([])
})

it('Node itself is not for development alone', () => {
  expect(Object.keys(manifestAt('.').dependencies ?? {})).toEqual(['node'])
})
