/**
 * Mutations of valid messages. A message is a tree of raw JSON lexemes, so that a mutation can say what no
 * JavaScript value can: a name twice, 1e400, -0, a lone surrogate as an escape.
 */
import fc from 'fast-check'
import { HOSTILE_NAMES, HOSTILE_VALUES, KNOWN_VALUES, SOME_BYTES, SOME_TEXTS } from './mutation-values.ts'

/** A scalar as its lexeme, an array, or members as pairs of name lexeme and value. */
export type Tree = string | Tree[] | Members
interface Members {
  members: [name: string, value: Tree][]
}

/** A JavaScript value as a tree. */
export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(treeOf)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return {
    members: Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [JSON.stringify(name), treeOf(member)]),
  }
}

/** The tree as text, which need not be JSON. */
export function textOf(tree: Tree): string {
  if (typeof tree === 'string') return tree
  if (Array.isArray(tree)) return `[${tree.map(textOf).join(',')}]`
  return `{${tree.members.map(([name, value]) => `${name}:${textOf(value)}`).join(',')}}`
}

const someValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...HOSTILE_VALUES, ...KNOWN_VALUES) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.double().map(String) },
)
const someName: fc.Arbitrary<string> = fc.constantFrom(...HOSTILE_NAMES)

interface Step {
  readonly change: 'replace' | 'delete' | 'repeat' | 'escape' | 'rename' | 'insert' | 'wrap' | 'box' | 'graft' | 'unwrap'
  readonly at: number
  readonly to: number
  readonly name: string
  readonly value: string
}

const someStep: fc.Arbitrary<Step> = fc.record({
  change: fc.constantFrom<Step['change']>(
    ...(['replace', 'replace', 'replace', 'replace', 'delete', 'delete', 'repeat', 'escape'] as const),
    ...(['rename', 'insert', 'wrap', 'box', 'graft', 'unwrap'] as const),
  ),
  at: fc.nat(),
  to: fc.nat(),
  name: someName,
  value: someValue,
})

/** Makes one to three changes in the tree of a message. */
export const someTreeMutation: fc.Arbitrary<(message: Tree) => Tree> = fc
  .array(someStep, { minLength: 1, maxLength: 3 })
  .map((steps) => (message: Tree) => {
    const root: Tree = [structuredClone(message)]
    for (const step of steps) change(root, step)
    return root[0] ?? ''
  })

/** A place in the tree: a slot of an array or of a list of members. */
interface Place {
  readonly list: { [index: number]: unknown; splice(at: number, count: number, ...put: never[]): unknown }
  readonly index: number
  readonly name: string | undefined
  get(): Tree
  set(value: Tree): void
}

function placesOf(tree: Tree, found: Place[] = []): Place[] {
  if (typeof tree === 'string') return found
  const list = Array.isArray(tree) ? tree : tree.members
  list.forEach((element, index) => {
    const pair = Array.isArray(tree) ? undefined : (element as Members['members'][number])
    const value = pair === undefined ? (element as Tree) : pair[1]
    const set = (changed: Tree): void => {
      if (pair === undefined) (list as Tree[])[index] = changed
      else pair[1] = changed
    }
    found.push({ list, index, name: pair?.[0], get: () => value, set })
    placesOf(value, found)
  })
  return found
}

function change(root: Tree, step: Step): void {
  const places = placesOf(root)
  const place = places[step.at % places.length]
  const other = places[step.to % places.length]
  if (place !== undefined && other !== undefined) CHANGES[step.change](place, step, other)
}

const CHANGES: Record<Step['change'], (place: Place, step: Step, other: Place) => void> = {
  replace: (place, { value }) => place.set(value),
  delete: ({ list, index }) => list.splice(index, 1),
  repeat: ({ list, index }) => list.splice(index, 0, structuredClone(list[index]) as never),
  escape: ({ list, name }, { to, value }) => {
    if (name !== undefined) list.splice(to % 2, 0, [escaped(name), value] as never)
  },
  rename: (place, { name }) => {
    if (place.name !== undefined) place.list[place.index] = [name, place.get()]
  },
  insert: (place, { name, value }) =>
    place.list.splice(place.index, 0, (place.name === undefined ? value : [name, value]) as never),
  wrap: (place) => place.set([place.get()]),
  box: (place, { name }) => place.set({ members: [[name, place.get()]] }),
  graft: (place, _step, other) => place.set(structuredClone(other.get())),
  unwrap: (place) => {
    const inner = placesOf(place.get())[0]
    if (inner !== undefined) place.set(inner.get())
  },
}

/** The texts of a message with one value replaced: each hostile value in each place, and each known one in a query. */
export function* everyReplacement(message: Tree): Generator<string> {
  const places = placesOf(message)
  const query = places.findIndex(({ name }) => name === '"query"')
  const behind = query + 1 + placesOf(places[query]?.get() ?? '').length
  for (const [at, place] of places.entries()) {
    const value = place.get()
    const known = at >= query && at < behind ? KNOWN_VALUES : []
    for (const hostile of [...HOSTILE_VALUES, ...known]) {
      place.set(hostile)
      yield textOf(message)
    }
    place.set(value)
  }
}

/** Writes the member name with its first letter as an escape. */
function escaped(name: string): string {
  const letter = name.charCodeAt(1)
  return /^"[a-z]/.test(name) ? `"\\u${letter.toString(16).padStart(4, '0')}${name.slice(2)}` : name
}

const someBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(...SOME_BYTES),
  fc.constantFrom(...SOME_TEXTS).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
)

/** One to four changes of the bytes of a message: flip, insert, cut, repeat, end early, recode. */
export const someByteMutation: fc.Arbitrary<(message: Buffer) => Buffer> = fc
  .array(fc.tuple(fc.nat(5), fc.nat(), fc.nat(40), someBytes), { minLength: 1, maxLength: 4 })
  .map((steps) => (message: Buffer) => {
    let bytes = message
    for (const [kind, place, length, inserted] of steps) {
      const at = place % (bytes.length + 1)
      const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
      if (kind === 0) bytes = Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << (length % 8))]), after.subarray(1)])
      else if (kind === 1) bytes = Buffer.concat([before, inserted, after])
      else if (kind === 2) bytes = Buffer.concat([before, after.subarray(length)])
      else if (kind === 3) bytes = Buffer.concat([before, after.subarray(0, length), after])
      else if (kind === 4) bytes = length > 30 ? Buffer.from(bytes.toString(), 'utf16le') : before
      else bytes = Buffer.concat([inserted, bytes])
    }
    return bytes
  })

/** Headers that a sender might set or a proxy might mangle; `authorization` is made of a valid one. */
export const someHeaders: fc.Arbitrary<(authorization: string) => Record<string, string | string[]>> = fc
  .record(
    {
      'Content-Type': fc.constantFrom(
        ...['application/json', 'application/json; charset=UTF-8', 'application/json;charset="utf-8"', 'APPLICATION/JSON'],
        ...['text/json', 'application/json; charset=utf-16', 'application/json, text/html', ';', '', 'a/b; charset=utf-8'],
        ...['application/x-www-form-urlencoded', 'application/json\u00a0', 'application/json; charset=', '__proto__'],
      ),
      'Content-Encoding': fc.constantFrom('gzip', 'identity', 'br', '', 'identity, gzip', 'IDENTITY'),
      'Transfer-Encoding': fc.constantFrom('chunked'),
      Accept: fc.constantFrom('text/html', '*/*', '', 'application/xml'),
      'Accept-Language': fc.constant('xx'.repeat(500)),
      'X-HTTP-Method-Override': fc.constant('DELETE'),
      'X-Forwarded-For': fc.constant("127.0.0.1, '; --"),
      Cookie: fc.constant('__proto__=1; a=%00'),
      Host: fc.constantFrom('elsewhere.example', '', '[::1', 'a b'),
    },
    { requiredKeys: [] },
  )
  .chain((headers) =>
    fc
      .option(
        fc.oneof(
          fc.constantFrom<(valid: string) => string>(
            (valid) => valid.replace('Bearer', 'bearer'),
            (valid) => valid.replace(' ', '   '),
            (valid) => valid.replace('Bearer ', 'Bearer\t'),
            (valid) => `${valid}, ${valid}`,
            (valid) => valid.slice(0, -1),
            (valid) => `${valid}=`,
            (valid) => valid.split('.').slice(0, 2).join('.'),
            (valid) => valid.replace('Bearer', 'Basic'),
            () => `Bearer ${'a'.repeat(9_000)}`,
            () => 'Bearer __proto__',
            () => 'Bearer ..',
            () => 'Bearer é',
            () => '',
          ),
          fc.tuple(fc.nat(), fc.constantFrom('A', '.', '=', '/', '_', '%')).map(([place, letter]) => (valid: string) => {
            const at = 7 + (place % (valid.length - 7))
            return valid.slice(0, at) + letter + valid.slice(at + 1)
          }),
          fc
            .tuple(fc.json(), fc.json())
            .map((parts) => () => `Bearer ${parts.map((part) => Buffer.from(part).toString('base64url')).join('.')}.AA`),
        ),
        { freq: 2 },
      )
      .map((bend) => (valid: string) => ({
        Authorization: bend === null ? valid : bend(valid),
        'Content-Type': 'application/json',
        ...headers,
      })),
  )
