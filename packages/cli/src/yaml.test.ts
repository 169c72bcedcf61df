import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { afterAll, expect, test } from 'vitest'
import { CommandError } from './failure.ts'
import { readYaml } from './yaml.ts'

const folder = await mkdtemp(join(tmpdir(), 'rollcall-yaml-'))
const path = join(folder, 'file.yaml')
afterAll(() => rm(folder, { recursive: true }))

async function read(text: string) {
  await writeFile(path, text)
  return readYaml(path)
}

test('words and times are texts, and JSON is read too', async () => {
  const { value } = await read('a: no\nb: 2026-01-01\nc: 2026-01-01T00:00:00Z\nd: 0012\ne: "1"\nf: ~\n')
  expect(value).toEqual({ a: 'no', b: '2026-01-01', c: '2026-01-01T00:00:00Z', d: 12, e: '1', f: null })
  expect((await read('{"a": [true, 1.5, null]}')).value).toEqual({ a: [true, 1.5, null] })
})

test('a member may be called as what every object has', async () => {
  const { value } = await read('__proto__:\n  a: 1\nconstructor: 2\n')
  expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor'])
})

const bomb = [...Array(9).keys()].map((n) => `a${n}: &a${n} [${Array(9).fill(n === 0 ? 'x' : `*a${n - 1}`)}]`).join('\n')

test.each([
  ['a: 1\na: 2\n', ' line 2: Map keys must be unique'],
  ['a: 1\n---\nb: 2\n', ' line 2: Source contains multiple documents; please use YAML.parseAllDocuments()'],
  ['a: !!set {b}\n', ' line 1: Unresolved tag: tag:yaml.org,2002:set'],
  ['a: *b\n', ': Unresolved alias (the anchor must be set before the alias): b'],
  ['a: &a\n  b: *a\n', ': an alias stands in what it names'],
  ['a: .inf\n', ': a: must be a finite number'],
  ['a: .nan\n', ': a: must be a finite number'],
  ['a: 1e400\n', ': a: must be a finite number'],
  ['a: "\\0"\n', ': a: the text has a NUL character'],
  ['a: "\\ud800"\n', ': a: the text has a lone surrogate'],
  [bomb, ': Excessive alias count indicates a resource exhaustion attack'],
])('%j is refused', async (text, message) => {
  await expect(read(text)).rejects.toThrow(new CommandError(`${path}${message}`))
})

const FILE = `one: &one
  list:
    - a: 1
    - b: 2
two: *one
three:
  - *one
`

test.each<[readonly (string | number)[], number]>([
  [['one'], 1],
  [['one', 'list', 1], 4],
  [['one', 'list', 1, 'b'], 4],
  [['one', 'list', 7], 2],
  [['one', 'nothing', 'below'], 1],
  [['two', 'list', 0, 'a'], 3],
  [['three', 0, 'list'], 2],
  [['nothing'], 1],
])('a refusal of %j names line %i', async (at, line) => {
  const { refusedWithLine } = await read(FILE)
  const refuse = () => Promise.reject(new AdminRefusal('wrong', { at: ['within', ...at] }))
  await expect(refusedWithLine(refuse, ['within'])).rejects.toThrow(`${path} line ${line}: wrong`)
})

test.each([
  ['within.one: must be a text', 'one: must be a text'],
  ['within: must be an object', 'must be an object'],
  ['withinone: is not known', 'withinone: is not known'],
])('a refusal names the member as the file has it: %s', async (message, named) => {
  const { refusedWithLine } = await read(FILE)
  const refuse = () => Promise.reject(new AdminRefusal(message, { at: ['within', 'one'] }))
  await expect(refusedWithLine(refuse, ['within'])).rejects.toThrow(`${path} line 1: ${named}`)
})

test('a refusal that is about something else stays as it is', async () => {
  const { refusedWithLine } = await read(FILE)
  const refusals = [new AdminRefusal('a', { at: ['other'] }), new AdminRefusal('b'), new RangeError('c')]
  for (const refusal of refusals) {
    await expect(refusedWithLine(() => Promise.reject(refusal), ['within'])).rejects.toBe(refusal)
  }
})
