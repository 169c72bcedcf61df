/** Every spelling that docs/kinds lists is read as a key of a record, at every place that it lists. */
import { describe, expect, it } from 'vitest'
import { readAttribute } from '../attributes/read-attribute.ts'
import { readElements } from '../attributes/read-elements.ts'
import { KEY_SPELLINGS, namesOf, searchKey } from '../attributes/record-keys.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { KINDS } from './index.ts'
import type { Attribute, AttributeType, Compound, CompoundMember, RecordType } from './kind.ts'

const SAMPLES: Readonly<Record<AttributeType, JsonValue>> = {
  text: 'Some Text',
  code: 'some code',
  date: '1990-01-02',
  datetime: '2024-05-02T08:30:00Z',
  number: 3.5,
  boolean: true,
  age: null,
}

/** The path once for each spelling of those of its keys that are names of the attribute; none where no key is one. */
function spelled(path: string, attribute: Attribute): string[] {
  const names = namesOf(attribute)
  const keys = path.split('.')
  if (!keys.some((key) => names.includes(key))) return []
  return names.map((name) => keys.map((key) => (names.includes(key) ? name : key)).join('.'))
}

/** A document that has the value at the path and nothing else. */
function documentWith(path: string, value: JsonValue): JsonObject {
  const [key = '', ...rest] = path.split('.')
  return { [key]: rest.length === 0 ? value : documentWith(rest.join('.'), value) }
}

function memberPlaces(compound: Compound, member: CompoundMember): string[] {
  const inElements = compound.paths
    // A member that both the record and its elements may have is at `record_paths` of the record.
    .filter((place) => place !== '' || member.record_paths === undefined)
    .flatMap((place) => member.paths.filter((path) => path !== '').map((path) => joined(place, path)))
  const inRecord = compound.paths.includes('') ? (member.record_paths ?? []) : []
  return [...inElements, ...inRecord]
}

const joined = (place: string, path: string): string => [place, path].filter((part) => part !== '').join('.')

interface Row {
  readonly attribute: Attribute
  readonly places: readonly string[]
  readonly read: (document: JsonObject) => JsonValue | object | null | undefined
}

function rowsOf({ attributes, compounds = [] }: RecordType): Row[] {
  return [
    ...attributes
      .filter(({ since }) => since === undefined)
      .map((attribute) => ({
        attribute,
        places: attribute.paths,
        read: (document: JsonObject) => {
          const value = readAttribute(attribute, document)
          return Array.isArray(value) ? value[0] : value
        },
      })),
    ...compounds.flatMap((compound) =>
      compound.members.map((member) => ({
        attribute: member,
        places: memberPlaces(compound, member),
        read: (document: JsonObject) => readElements(compound, document)[0]?.[member.name],
      })),
    ),
  ]
}

const RECORD_TYPES = KINDS.flatMap((kind) =>
  kind.record_types.map((recordType) => ({ name: `${kind.name} ${recordType.name}`, recordType })),
)

describe.each(RECORD_TYPES)('$name', ({ recordType }) => {
  const rows = rowsOf(recordType)

  it.each(rows.map((row) => [row.attribute.name, row] as const))('%s', (_, { attribute, places, read }) => {
    const sample = SAMPLES[attribute.type]
    const expected = readAttribute({ ...attribute, paths: ['x'] }, { x: sample })
    const paths = places.flatMap((place) => spelled(place, attribute))
    const first = Array.isArray(expected) ? expected[0] : expected
    for (const path of paths) expect(read(documentWith(path, sample)), path).toEqual(first)
    // At some place each of its names is read.
    const keys = new Set(paths.flatMap((path) => path.split('.')))
    expect([...keys]).toEqual(expect.arrayContaining(namesOf(attribute)))
  })

  it('reads one attribute from one place, however it is spelled', () => {
    const readers = new Map<string, string>()
    for (const { attribute, places } of rows) {
      for (const key of new Set(places.map(searchKey))) {
        expect(readers.get(key) ?? attribute.name, key).toBe(attribute.name)
        readers.set(key, attribute.name)
      }
    }
  })
})

it('every spelling is one of one member', () => {
  const all = Object.entries(KEY_SPELLINGS).flat(2)
  expect(new Set(all).size).toBe(all.length)
  const firsts = new Map<string, string>()
  for (const [key, spellings] of Object.entries(KEY_SPELLINGS)) {
    for (const spelling of [key, ...spellings].map((name) => name.toLowerCase())) {
      expect(firsts.get(spelling) ?? key, spelling).toBe(key)
      firsts.set(spelling, key)
    }
  }
})
