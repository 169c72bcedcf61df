import { isJsonObject, type JsonValue, KINDS, type Kind, type RecordType, recordTypesOf } from '@rollcall/protocol'
import { generate, KIND_GENERATORS } from '@rollcall/synthetic'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../../test/processor-time.ts'
import { type Query, QueryProblem } from '../query.ts'
import { readGraphql } from './graphql.ts'
import { membersOfSchema, type ObjectOfSchema, objectType } from './types.ts'

const DAY = '2024-06-30'
const LIMITS = { query_depth: 20, query_terms: 200, query_values: 1000 }
const RECORD_TYPES = KINDS.flatMap((kind) => kind.record_types.map((recordType) => ({ kind, recordType })))

function read(kind: Kind, text: string, variables?: JsonValue): Query {
  const scope = { kind, recordType: undefined, limits: LIMITS }
  return readGraphql(scope, { text, variables, operationName: undefined }, 'q')
}

/** Reads or refuses: every other error is a failure, and so is a query that takes long. */
function readOrRefuse(kind: Kind, text: string, variables?: JsonValue): Query | null {
  const started = processorTime()
  try {
    return read(kind, text, variables)
  } catch (error) {
    if (error instanceof QueryProblem) return null
    throw error
  } finally {
    expect(processorTime() - started).toBeLessThan(2_500)
  }
}

const VALID = [
  'query Q($n: String = "a", $no: Boolean = false) { person(surname: $n, sex: F) { ...P BRN @skip(if: $no) } } fragment P on Person { name { surname } ... on Person { b: birth_date } }',
  '{ group(poverty_score: {lt: 4, gte: 1.5}, or: [{group_size: 3}, {not: {group_type: family}}]) { group_size member_list { surname __typename } } }',
  '{ a: farmer(crop: {crop_type: "1"}, where: {farm_size: {in: [1, 2]}}) { farm_size parcel { farm_size } } b: farmer(UIN: """7""") { UIN } }',
  '{ members(UIN: {exists: true}, enrolment_date: {gt: "2020", lt: "2021"}) { enrolment { programme_identifier } assistance_unit } }',
] as const

const WORDS = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  ':',
  '...',
  '@skip',
  '@include(if: true)',
  '$n',
  '!',
  '=',
  '"',
  '"""',
  '#',
  '\n',
  ' on ',
  'query',
  'mutation',
  'fragment P on Person',
  '__typename',
  '__schema',
  '__proto__',
  'constructor',
  'person',
  'member',
  'UIN',
  'sex',
  'surname',
  'where',
  'and',
  'or',
  'not',
  'in',
  'null',
  'true',
  '-1',
  '1e999',
  '99999999999999999999',
  '\\u0000',
  '\uD800',
]

describe('any text', () => {
  const kind = fc.constantFrom(...KINDS)

  it('reads or is refused, soon', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...WORDS), { maxLength: 40 }).map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(kind, text, (kind, text) => void readOrRefuse(kind, text)),
      { numRuns: 2_000 },
    )
  })

  it('a query with words put in, left out and exchanged reads or is refused, soon', () => {
    const change = fc.record({ at: fc.nat(400), out: fc.nat(20), put: fc.constantFrom('', ...WORDS) })
    const changes = fc.array(change, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(kind, fc.constantFrom(...VALID), changes, fc.jsonValue(), (kind, valid, changes, variables) => {
        let text: string = valid
        for (const { at, out, put } of changes) text = text.slice(0, at) + put + text.slice(at + out)
        readOrRefuse(kind, text, variables as JsonValue)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(VALID)('%s reads in some kind', (text) => {
    expect(KINDS.some((kind) => readOrRefuse(kind, text) !== null)).toBe(true)
  })

  it('what is read shapes any record', () => {
    const names = fc.constantFrom(
      'name',
      'spdci:name',
      'surname',
      'identifier',
      'identifier_type',
      'identifier_value',
      'member',
      'member_list',
      '__proto__',
      'group_size',
      'land_details',
    )
    const { document } = fc.letrec<{ document: JsonValue }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom<JsonValue>(null, '', 'UIN', 7, true),
        fc.array(tie('document'), { maxLength: 4 }),
        fc.dictionary(names, tie('document'), { maxKeys: 5, noNullPrototype: false }),
      ),
    }))
    const queries = VALID.flatMap((text) => KINDS.flatMap((kind) => readOrRefuse(kind, text) ?? []))
    fc.assert(
      fc.property(fc.constantFrom(...queries), document, ({ shape }, record) => {
        const shaped = shape?.(record, DAY) ?? null
        expect(isJsonObject(shaped)).toBe(isJsonObject(record))
        if (!isJsonObject(record)) expect(shaped).toBeNull()
      }),
      { numRuns: 1_000 },
    )
  })
})

/** Everything that a record type documents, as a selection. */
function everything({ members }: Pick<ObjectOfSchema, 'members'>): string {
  return members.map(({ name, object }) => (object === undefined ? name : `${name} { ${everything(object)} }`)).join(' ')
}

/** The members that a selection of everything keeps: the documented ones, with null for a missing one. */
function kept(shape: Pick<ObjectOfSchema, 'members'>, value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map((element) => kept(shape, element))
  if (!isJsonObject(value)) return null
  return Object.fromEntries(
    shape.members.map(({ name, object }) => {
      const held = value[name] === '' ? null : (value[name] ?? null)
      return [name, object === undefined ? held : kept(object, held)]
    }),
  )
}

function samples(kind: Kind, recordType: RecordType, count: number): JsonValue[] {
  const records = [...generate(kind.name, { count: 60, seed: 7 })] as JsonValue[]
  const own = records.filter((record) => recordTypesOf(kind, record).includes(recordType))
  return own.slice(0, count)
}

const GENERATED = RECORD_TYPES.filter(({ kind }) => KIND_GENERATORS.some((made) => made.kind === kind.name))

describe.each(GENERATED)('generated records of $kind.name $recordType.name', ({ kind, recordType }) => {
  const records = samples(kind, recordType, 10)
  const root = recordType.name.charAt(0).toLowerCase() + recordType.name.slice(1)

  it('everything that is documented can be selected, within the bounds', () => {
    const members = membersOfSchema(recordType.schema)
    const { shape } = read(kind, `{ ${root}(${recordType.primary_identifier}: "1") { ${everything({ members })} } }`)
    expect(records.length).toBeGreaterThan(0)
    for (const record of records) {
      const shaped = shape?.(record, DAY)
      // Other spellings of members are read as well: what is documented and there is answered as it is there.
      expect(shaped).toMatchObject(withoutNulls(kept({ members }, record)))
    }
  })

  it('every other name answers what the record holds', () => {
    const { names } = objectType(kind, recordType)
    const scalars = names.filter((name) => objectType(kind, recordType).fields.get(name.toLowerCase())?.whole)
    const { shape } = read(kind, `{ ${root}(${recordType.primary_identifier}: "1") { ${scalars.join(' ')} } }`)
    for (const record of records) {
      const shaped = shape?.(record, DAY)
      expect(Object.keys(shaped as object).sort()).toEqual([...scalars].sort())
      expect(shaped).toMatchObject({ [recordType.primary_identifier]: expect.anything(), last_updated: expect.any(String) })
    }
  })
})

function withoutNulls(value: JsonValue): object {
  return JSON.parse(JSON.stringify(value, (_, member) => (member === null ? undefined : member)))
}
