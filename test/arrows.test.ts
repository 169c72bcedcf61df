/** The rooms of the server import from each other as ARCHITECTURE.md says, and in no circle; the store writes SQL. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const SOURCE = 'packages/server/src'
/** The files below all rooms, and the public faces that stand above them. */
const BELOW = ['limits.ts', 'limits-of-operators.ts', 'limits-of-requests.ts', 'limits-of-service.ts']
const FACES = ['index.ts', 'serve.ts']

/** What the last column of the table allows, by room. */
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

/** Rooms are folders; those of the store are rooms of their own. */
function roomOf(file: string): string {
  const [first = '', second = '', third] = file.split('/')
  return first === 'store' && third !== undefined ? `store/${second}` : first
}

/** Every import from one room into another, with the file that has it. */
const arrows = globSync('**/*.ts', { cwd: SOURCE })
  .filter((file) => !file.endsWith('.test.ts') && !FACES.includes(file) && !BELOW.includes(file))
  .flatMap((file) =>
    [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/(?:\bfrom|\bimport\() ?'(\.[^']+)'/g)]
      .map(([, path = '']) => normalize(join(dirname(file), path)))
      .filter((target) => !BELOW.includes(target) && !target.startsWith('..'))
      .map((target) => ({ file, from: roomOf(file), to: roomOf(target) }))
      .filter(({ from, to }) => from !== to),
  )

it('every room is in the table', () => {
  expect(arrows.length).toBeGreaterThan(300)
  expect([...new Set(arrows.flatMap(({ from, to }) => [from, to]))].toSorted()).toEqual(
    [...drawn.keys()].toSorted(),
  )
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

it('the arrows make no circle', () => {
  const above = new Map(drawn)
  for (;;) {
    const free = [...above].filter(([, uses]) => uses.every((use) => !above.has(use)))
    if (free.length === 0) break
    for (const [room] of free) above.delete(room)
  }
  expect([...above.keys()]).toEqual([])
})

it.each(['protocol', 'client', 'server', 'cli', 'synthetic'])(
  'the files of %s import in no circle',
  (name) => {
    const root = `packages/${name}/src`
    const imports = new Map(
      globSync('**/*.ts', { cwd: root })
        .filter((file) => !file.endsWith('.test.ts'))
        .map((file) => [
          file,
          [...readFileSync(join(root, file), 'utf8').matchAll(/(?:\bfrom|\bimport\() ?'(\.[^']+\.ts)'/g)]
            .map(([, path = '']) => normalize(join(dirname(file), path)))
            .filter((target) => !target.startsWith('..')),
        ]),
    )
    expect(imports.size).toBeGreaterThan(5)
    // What imports nothing that is left is in no circle.
    for (let before = Number.NaN; before !== imports.size; ) {
      before = imports.size
      for (const [file, targets] of imports) {
        if (targets.every((target) => !imports.has(target))) imports.delete(file)
      }
    }
    expect([...imports.keys()]).toEqual([])
  },
)

it('statements are written as SQL, not built', () => {
  const built = globSync('packages/*/src/**/*.ts')
    .filter((file) => !file.includes('/migrations/'))
    .filter((file) => /\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/.test(readFileSync(file, 'utf8')))
  expect(built).toEqual([])
})
