import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { KINDS } from '../kinds/index.ts'
import type { Compound } from '../kinds/kind.ts'
import { readElements } from './read-elements.ts'

const stay: Compound = {
  name: 'stay',
  paths: ['a.stays', 'stays', ''],
  members: [
    { name: 'place', paths: ['place.name', 'place', ''], type: 'text', fold: true },
    { name: 'since', paths: ['since'], record_paths: ['since', 'more.since'], type: 'date' },
    { name: 'rooms', paths: ['rooms'], type: 'number' },
  ],
}
const year = (text: string) => ({ from: `${text}-01-01`, to: `${text}-12-31` })

describe('readElements', () => {
  it('reads every object on the way, in the order of the document, and bare values', () => {
    const stays = [{ place: 'North' }, [{ place: 'lost' }], 'South', { place: { name: 'East' }, rooms: '2' }]
    expect(readElements(stay, { stays })).toEqual([{ place: 'north' }, { place: 'south' }, { place: 'east', rooms: 2 }])
  })

  it('reads a single object where a list is meant, under any spelling of a key', () => {
    expect(readElements(stay, { 'x:a': { 'x:stays': { 'x:place': 'North' } } })).toEqual([{ place: 'north' }])
  })

  it('takes the first path that has an element with a value', () => {
    const both = { a: { stays: [{ place: 'one' }] }, stays: [{ place: 'two' }] }
    expect(readElements(stay, both)).toEqual([{ place: 'one' }])
    const first = { a: { stays: [{}, { place: '' }, null] }, stays: [{ place: 'two' }], since: 1990 }
    expect(readElements(stay, first)).toEqual([{ place: 'two', since: year('1990') }])
  })

  it('leaves out what says nothing, and what was said before', () => {
    const stays = [{ rooms: 1 }, { rooms: 'one' }, {}, { rooms: '1' }, { rooms: 2 }]
    expect(readElements(stay, { stays })).toEqual([{ rooms: 1 }, { rooms: 2 }])
  })

  it('takes from the record what elements do not say, where it says one thing', () => {
    const stays = [{ place: 'North', since: '1980' }, { place: 'South' }]
    const expected = [
      { place: 'north', since: year('1980') },
      { place: 'south', since: year('1990') },
    ]
    expect(readElements(stay, { stays, more: { since: 1990 } })).toEqual(expected)
    expect(readElements(stay, { stays, more: [{ since: 1990 }, { since: '1990' }] })).toEqual(expected)
  })

  it('gives no element what may belong to another: several things said of the record stand alone', () => {
    const stays = [{ place: 'North' }, { place: 'South' }]
    expect(readElements(stay, { stays, more: [{ since: 1990 }, { since: 2000 }] })).toEqual([
      { place: 'north' },
      { place: 'south' },
      { since: year('1990') },
      { since: year('2000') },
    ])
  })

  it('reads the record itself as one element', () => {
    expect(readElements(stay, { place: 'North', rooms: 3 })).toEqual([{ place: 'north', rooms: 3 }])
    expect(readElements(stay, { more: { since: 1990 } })).toEqual([{ since: year('1990') }])
    expect(readElements(stay, { since: [1990, 2000] })).toEqual([{ since: year('1990') }, { since: year('2000') }])
  })

  it.each<[JsonValue]>([[{}], [[]], [null], [7], [{ stays: [] }], [{ stays: [{ rooms: {} }], since: '' }]])(
    'there is none in %j',
    (document) => {
      expect(readElements(stay, document)).toEqual([])
    },
  )

  it('reads many elements in time proportional to them', () => {
    const stays = Array.from({ length: 100_000 }, (_, rooms) => ({ rooms }))
    expect(readElements(stay, { stays, since: 1990 })).toHaveLength(100_000)
  })
})

it('reads every compound of every kind from any document without failing, and never changes the document', () => {
  const compounds = KINDS.flatMap(({ record_types }) => record_types.flatMap(({ compounds = [] }) => compounds))
  const paths = compounds.flatMap((compound) => [
    ...compound.paths,
    ...compound.members.flatMap((member) => [...member.paths, ...(member.record_paths ?? [])]),
  ])
  const keys = [...new Set(paths.flatMap((path) => path.split('.')))].filter((key) => key !== '')
  const { document } = fc.letrec<{ document: JsonValue }>((tie) => ({
    document: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.bigInt().map(String), fc.boolean(), fc.constant(null)),
      fc.array(tie('document'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys, '__proto__'), tie('document'), { maxKeys: 8 }),
    ),
  }))
  fc.assert(
    fc.property(document, (value) => {
      const before = structuredClone(value)
      for (const compound of compounds) {
        const names = compound.members.map(({ name }) => name)
        const elements = readElements(compound, value)
        for (const element of elements) {
          expect(Object.keys(element).length).toBeGreaterThan(0)
          expect(names).toEqual(expect.arrayContaining(Object.keys(element)))
        }
        const texts = elements.map((element) => JSON.stringify(names.map((name) => element[name])))
        expect(new Set(texts).size).toBe(texts.length)
      }
      expect(value).toEqual(before)
    }),
    { numRuns: 200 },
  )
})
