/** Generates random documents of any record type from the definition of its kind. */
import type { Attribute, Compound, IdentifierSource, JsonObject, JsonValue, Kind, RecordType } from '@rollcall/protocol'
import fc from 'fast-check'
import { NOTHING, rawIdentifiers, rawValues } from './raw-values.ts'

/** Puts a value into a document, if its place is free. */
type Placement = (document: Draft) => void
type Draft = { [member: string]: JsonValue }

/** Generates documents of a record type without a primary identifier, which `named` adds. */
export function documents(kind: Kind, recordType: RecordType): fc.Arbitrary<JsonObject> {
  const placements = [
    ...recordType.identifiers.map((source) => sparse(identifiers(kind, recordType, source), 3)),
    ...(recordType.compounds ?? []).map((compound) => sparse(elements(compound), 1)),
    ...recordType.attributes.filter(({ paths }) => paths.length > 0).map((attribute) => sparse(values(attribute), 1)),
  ]
  return fc.tuple(...placements).map((found) => {
    const document: Draft = {}
    for (const place of found) place?.(document)
    return document
  })
}

/** A copy of the document with the primary identifier `OWN-<number>`. */
export function named(recordType: RecordType, document: JsonObject, number: number): JsonObject {
  const { primary_identifier, identifiers } = recordType
  const source = identifiers.find(({ names }) => names === 'record')
  const copy: Draft = structuredClone(document) as Draft
  const own = { identifier_type: primary_identifier, identifier_value: `OWN-${number}` }
  put(copy, source?.path ?? '', [own], 'beside')
  return copy
}

function sparse(placements: fc.Arbitrary<Placement>, missing: number): fc.Arbitrary<Placement | null> {
  return fc.oneof({ weight: missing, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: placements })
}

function raw(attribute: Attribute): fc.Arbitrary<JsonValue> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...rawValues(attribute)) },
    { weight: 1, arbitrary: fc.constantFrom(...NOTHING) },
  )
}

function values(attribute: Attribute): fc.Arbitrary<Placement> {
  const one = raw(attribute)
  const found = attribute.many ? fc.oneof(fc.array(one, { maxLength: 4 }), one) : one
  return fc.tuple(fc.constantFrom(...attribute.paths), found).map(([path, value]) => (document) => {
    put(document, path, value)
  })
}

function elements(compound: Compound): fc.Arbitrary<Placement> {
  const element = fc.tuple(...compound.members.map((member) => sparse(values(member), 1))).map((members): JsonValue => {
    const holder: Draft = {}
    for (const place of members) place?.(holder)
    // The path "" names the element itself.
    return Object.hasOwn(holder, '') ? (holder[''] ?? null) : holder
  })
  const beside = compound.members
    .filter(({ record_paths }) => record_paths !== undefined)
    .map((member) => sparse(values({ ...member, paths: member.record_paths ?? [] }), 2))
  return fc
    .tuple(fc.constantFrom(...compound.paths), fc.oneof(fc.array(element, { maxLength: 4 }), element), fc.tuple(...beside))
    .map(([path, found, others]) => (document) => {
      if (path === '') Object.assign(document, structuredClone([found].flat().find((one) => typeof one === 'object')))
      else put(document, path, found)
      for (const place of others) place?.(document)
    })
}

/** Generates lists of identifiers. A list for the record itself has none of the primary type, which `named` adds. */
function identifiers(kind: Kind, recordType: RecordType, source: IdentifierSource): fc.Arbitrary<Placement> {
  const types = kind.identifier_types.filter(({ name }) => source.names === 'part' || name !== recordType.primary_identifier)
  if (types.length === 0) return fc.constant(() => undefined)
  const bare = types.find(({ name }) => name === source.type)
  const one = fc.oneof(
    ...types.map(({ name, aliases = [], ...type }) =>
      fc.record({
        identifier_type: fc.constantFrom(name, ...aliases),
        identifier_value: fc.constantFrom(...rawIdentifiers({ name, ...type })),
      }),
    ),
    ...(bare === undefined ? [] : [fc.constantFrom(...rawIdentifiers(bare))]),
  ) as fc.Arbitrary<JsonValue>
  return fc.array(one, { maxLength: 3 }).map((list) => (document) => put(document, source.path, list, 'beside'))
}

/**
 * Puts a copy of a value at a path of a document. If the place has a value, `beside` makes a list of both, and `free`
 * changes nothing.
 */
function put(document: Draft, path: string, shared: JsonValue, where: 'free' | 'beside' = 'free'): void {
  const value = structuredClone(shared)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  let holder = document
  for (const key of keys) {
    const next = [holder[key] ?? {}].flat()[0]
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return
    if (!Object.hasOwn(holder, key)) holder[key] = next
    holder = next as Draft
  }
  if (!Object.hasOwn(holder, last)) holder[last] = value
  else if (where === 'beside') holder[last] = [holder[last] ?? null, value].flat()
}
