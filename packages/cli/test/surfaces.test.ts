/** Within a major version the public surfaces only grow: they are compared with those of the last release. */
import { describe, expect, test } from 'vitest'
import { lost, type Surface, surfaceOf } from '../../../build/surface.ts'
import { lostSurfaces, readSurfaces } from '../../../build/surfaces.ts'

test('nothing that the last release offered is removed, narrowed or made uncertain', async () => {
  expect(Object.keys(readSurfaces())).toEqual([
    ...['admin-api', 'command-output', 'configuration-file', 'outbox'],
    ...['peers-civil', 'peers-disability', 'peers-ess', 'peers-farmer', 'peers-ibr', 'peers-social'],
  ])
  // An intended break needs a new major version, which stores its surfaces: CONTRIBUTING.md, "Public surfaces".
  expect(await lostSurfaces()).toEqual([])
})

const object = <Members extends object>(
  properties: Members,
  required: readonly string[] = [],
  more: object = {},
) => ({
  ...{ type: 'object', properties, required },
  ...more,
})
const string = { type: 'string' }
const compared = (direction: 'input' | 'output', was: object, is: object): readonly string[] =>
  lost(surfaceOf(was, 'x', direction), surfaceOf(is, 'x', direction))

describe('what is sent', () => {
  const was = object({ a: { type: 'string', maxLength: 10 }, b: { anyOf: [string, { type: 'null' }] } }, [
    'a',
  ])

  test.each<[string, object, readonly string[]]>([
    ['may get a further optional member', object({ ...was.properties, c: string }, ['a']), []],
    ['may be less strict', object({ ...was.properties, a: { type: 'string', maxLength: 20 } }), []],
    ['may take further types', object({ ...was.properties, a: { type: ['string', 'number'] } }, ['a']), []],
    ['loses no member', object({ a: was.properties.a }, ['a']), ['x.b was removed']],
    ['demands nothing more', object(was.properties, ['a', 'b']), ['x.b was optional and is required']],
    [
      'demands nothing new',
      object({ ...was.properties, c: string }, ['a', 'c']),
      ['x.c is new and required'],
    ],
    [
      'takes what it took',
      object({ ...was.properties, b: string }, ['a']),
      ['x.b does not take null any more'],
    ],
    [
      'takes as much as it took',
      object({ ...was.properties, a: { type: 'string', maxLength: 9 } }, ['a']),
      ['x.a is narrower: maxLength'],
    ],
    [
      'takes what it did not know',
      object(was.properties, ['a'], { additionalProperties: false }),
      ['x is narrower: closed'],
    ],
  ])('%s', (_, is, lines) => expect(compared('input', was, is)).toEqual(lines))
})

describe('what is answered', () => {
  const was = object(
    { a: string, b: { enum: ['x', 'y'] }, c: { type: 'array', items: object({ d: string }) } },
    ['a'],
  )

  test.each<[string, object, readonly string[]]>([
    ['may get a further member', object({ ...was.properties, e: string }, ['a', 'e']), []],
    ['may get a further value', object({ ...was.properties, b: { enum: ['x', 'y', 'z'] } }, ['a']), []],
    ['may always be there', object(was.properties, ['a', 'b']), []],
    ['loses no member', object({ a: string, b: was.properties.b }, ['a']), ['x.c was removed']],
    ['is still there', object(was.properties), ['x.a was always there and may be missing']],
    [
      'is nothing else',
      object({ ...was.properties, a: { type: ['string', 'null'] } }, ['a']),
      ['x.a may also be null'],
    ],
    [
      'loses no member of a list',
      object({ ...was.properties, c: { type: 'array', items: object({}) } }, ['a']),
      ['x.c[].d was removed'],
    ],
  ])('%s', (_, is, lines) => expect(compared('output', was, is)).toEqual(lines))
})

test('references are followed, also where a schema has itself as a part', () => {
  const document = {
    components: { schemas: { Node: object({ next: { $ref: '#/components/schemas/Node' }, name: string }) } },
  }
  const surface: Surface = surfaceOf({ $ref: '#/components/schemas/Node' }, 'node', 'output', document)
  expect(Object.keys(surface)).toEqual(['node', 'node.name'])
})
