/** The rooms of the registry's side import from each other as ARCHITECTURE.md says; files import in no circle and are short; SQL is written, not built. */
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { registryPackages, registrySources } from './registry-side.ts'

/** The files below all rooms. */
const BELOW = /^(?:core\/)?limits(?:-of-[a-z]+)?\.ts$/

/** The arrows that the last column of the table allows, by package. */
const drawn = new Map(
  [...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^\| `([a-z/]+)\/` \|.*\|([^|]*)\|$/gm)]
    .filter(([row]) => row.split('|').length === 5)
    .map(([, room = '', uses = '']) => [
      room,
      uses
        .split(',')
        .map((use) => use.trim())
        .filter(Boolean),
    ]),
)

/** A source as the table names it: `core/model/grant.ts`, and those of the server without its name. */
const placeOf = (source: string): string =>
  source.replace(/^packages\/([^/]+)\/src\//, (_, name: string) => (name === 'server' ? '' : `${name}/`))

/** The row of a file: that of its folder, or of the nearest folder around it. A folder without a row is a room that is missing. */
function roomOf(place: string): string {
  const folder = dirname(place)
  for (let room = folder; room !== '.'; room = dirname(room)) if (drawn.has(room)) return room
  return folder
}

/** The places that a file imports from, within its package and by the names of others. */
function importsOf(source: string): readonly string[] {
  const names = [...readFileSync(source, 'utf8').matchAll(/(?:\bfrom|\bimport\() ?'([^']+)'/g)]
  return names.flatMap(([, name = '']) => {
    if (name.startsWith('.')) return placeOf(normalize(join(dirname(source), name)))
    const [, other = '', path = ''] = /^@rollcall\/([^/]+)(?:\/(.+))?$/.exec(name) ?? []
    return registryPackages.includes(other) ? placeOf(`packages/${other}/src/${path}.ts`) : []
  })
}

const places = new Map(registrySources.map((source) => [placeOf(source), source]))
const hasRoom = (place: string): boolean => places.has(place) && !BELOW.test(place)

/** Every import from one room into another, with the file that has it. */
const arrows = [...places]
  .filter(([place]) => hasRoom(place))
  .flatMap(([place, source]) =>
    importsOf(source)
      .filter(hasRoom)
      .map((target) => ({ file: place, from: roomOf(place), to: roomOf(target) }))
      .filter(({ from, to }) => from !== to),
  )

it('every room is in the table', () => {
  expect(arrows.length).toBeGreaterThan(300)
  const rooms = new Set([...places.keys()].filter(hasRoom).map(roomOf))
  expect([...rooms].toSorted()).toEqual([...drawn.keys()].toSorted())
})

it('no import goes where no arrow is drawn', () => {
  const wrong = arrows.filter(({ from, to }) => !drawn.get(from)?.includes(to))
  expect(wrong.map(({ file, to }) => `${file} imports from ${to}`)).toEqual([])
})

it('no arrow is drawn that nothing follows', () => {
  const used = new Set(arrows.map(({ from, to }) => `${from} -> ${to}`))
  const unused = [...drawn].flatMap(([from, uses]) => uses.map((to) => `${from} -> ${to}`))
  expect(unused.filter((arrow) => !used.has(arrow))).toEqual([])
})

/** The lines of the drawing of packages from top to bottom, each with the packages that stand in it. */
const levels = (/in\nthis drawing[\s\S]*?```\n([\s\S]*?)```/.exec(readFileSync('ARCHITECTURE.md', 'utf8'))?.[1] ?? '')
  .trimEnd()
  .split('\n')
  .map((line) => line.slice(0, 45).trim().split(/\s+/))

it('the drawing has every package of the registry side, and each imports only from lines below its own', () => {
  expect(levels.flat().toSorted()).toEqual(['cli', 'protocol', ...registryPackages].toSorted())
  const lineOf = (name: string): number => levels.findIndex((line) => line.includes(name))
  const upwards = registryPackages.flatMap((name) => {
    const { dependencies = {} } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'))
    return (
      Object.keys(dependencies)
        .filter((other) => other.startsWith('@rollcall/'))
        .map((other) => other.slice('@rollcall/'.length))
        // The server serves the files of the console, which is not in the drawing.
        .filter((other) => other !== 'console' && lineOf(other) <= lineOf(name))
        .map((other) => `${name} imports from ${other}`)
    )
  })
  expect(upwards).toEqual([])
})

it('the arrows make no circle', () => {
  const above = new Map(drawn)
  for (;;) {
    const free = [...above].filter(([, uses]) => uses.every((use) => !above.has(use)))
    if (free.length === 0) break
    for (const [room] of free) above.delete(room)
  }
  expect([...above.keys()]).toEqual([])
})

it.each(['protocol', 'client', 'cli', 'synthetic', 'console', ...registryPackages])(
  'the files of %s import in no circle',
  (name) => {
    const root = `packages/${name}/src`
    const imports = new Map(
      globSync('**/*.{ts,tsx}', { cwd: root })
        .filter((file) => !/\.test\.tsx?$/.test(file))
        .map((file) => [
          file,
          [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport\() ?'(\.[^']+\.tsx?)'/g)]
            .map(([, path = '']) => normalize(join(dirname(file), path)))
            .filter((target) => !target.startsWith('..')),
        ]),
    )
    expect(imports.size).toBeGreaterThan(5)
    // A file that imports nothing that is left is in no circle.
    for (let before = Number.NaN; before !== imports.size; ) {
      before = imports.size
      for (const [file, targets] of imports) {
        if (targets.every((target) => !imports.has(target))) imports.delete(file)
      }
    }
    expect([...imports.keys()]).toEqual([])
  },
)

it('no source has more than 350 lines', () => {
  const long = globSync('packages/*/src/**/*.{ts,tsx}')
    .filter((file) => !/\.(?:test\.tsx?|d\.ts)$/.test(file))
    .filter((file) => readFileSync(file, 'utf8').split('\n').length - 1 > 350)
  expect(long).toEqual([])
})

it('core does no I/O: digests and random values are all that it has of Node, and it knows neither pg nor Buffer', () => {
  const sources = registrySources
    .filter((source) => source.startsWith('packages/core/'))
    .map((source) => [source, withoutComments(readFileSync(source, 'utf8'))] as const)
  expect(sources.length).toBeGreaterThan(80)
  const imports = sources.flatMap(([source, text]) =>
    [...text.matchAll(/(?:\bfrom|\bimport\(?|\brequire\(|\bgetBuiltinModule\S*\() ?'([^']+)'/g)]
      .map(([, name = '']) => name)
      .filter((name) => isBuiltin(name) || /^pg\b/.test(name))
      .map((name) => `${source} imports ${name}`),
  )
  expect(imports).toEqual(['packages/core/src/model/digests.ts imports node:crypto'])
  expect(sources.filter(([, text]) => /\bBuffer\b/.test(text)).map(([source]) => source)).toEqual([])
  expect(readFileSync('packages/core/package.json', 'utf8')).not.toContain('"pg"')
})

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

it('statements are written as SQL, not built', () => {
  const built = globSync('packages/*/src/**/*.ts')
    .filter((file) => !file.includes('/migrations/'))
    .filter((file) => /\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/.test(readFileSync(file, 'utf8')))
  expect(built).toEqual([])
})
