/**
 * Protected persons, merged records and conditions mean the same to our own tables, which ask SQL, and to core, which judges the
 * records of any source: for random people, merges, protections and questions, both find the same records in the same order.
 */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import type { Predicate } from '@rollcall/core/model/predicate'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { RecordReader } from '@rollcall/core/model/record-source'
import type { SortKey } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { withTransaction } from '@rollcall/database/transaction'
import type { JsonObject, RecordType } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { protectPerson } from '@rollcall/records/records/protect-person'
import { readProtection } from '@rollcall/records/records/protection'
import { OWN_TABLES_SINK } from '@rollcall/records/records/record-sink'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../../test/property-seed.ts'
import { makeSourceReader, type SearchCandidateSource, type SourceRecord } from '../../../core/src/policy/guarded-records.ts'
import { predicates } from '../../../core/test/agreement/predicates.ts'
import { TODAYS } from '../../../core/test/agreement/raw-values.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'

const PEOPLE = 40
const QUESTIONS = 120
const MERGES = [
  { survivor: 1, retired: 30 },
  { survivor: 2, retired: 31 },
  { survivor: 3, retired: 32 },
]
/** Some of them survivors, and one of them under the identifier of a record that was merged. */
const PROTECTED = [1, 4, 5, 6, 7]

const uin = (n: number) => ({ identifier_type: 'UIN', identifier_value: `U-${n}` })
const nid = (n: number) => ({ identifier_type: 'NID', identifier_value: `N-${n}` })
const someone = fc.integer({ min: 0, max: PEOPLE - 1 })
const person = fc.record(
  {
    sex: fc.constantFrom('male', 'female'),
    name: fc.record({ surname: fc.constantFrom('Obi', 'Okoro', 'Abara') }, { requiredKeys: [] }),
    birth_date: fc.constantFrom('1985', '1985-06', '1990-05-05', '2999-01-01'),
    phone_number: fc.array(fc.constantFrom('+15550100', '+15550101', '+15550102'), { maxLength: 2 }),
    parent1_identifier: someone.map(nid),
    spouse_identifier: someone.map(uin),
  },
  { requiredKeys: [] },
)

let database: TestDatabase
let registry: Registry
let recordType: RecordType
let own: RecordReader
let guarded: RecordReader
let ids: readonly string[]

beforeAll(async () => {
  database = await testDatabase()
  const { db } = database
  registry = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  recordType = registry.kind.record_types[0]
  const documents = fc
    .sample(person, { numRuns: PEOPLE, seed: PROPERTY_SEED })
    .map((more, n): JsonObject => ({ '@type': 'Person', identifier: [uin(n), nid(n)], ...(more as never as JsonObject) }))
  ids = await withTransaction(db.pool, async (client) => {
    const prepared = documents.map((document) => prepareRecord(registry.kind, recordType, document))
    const { inserted } = await writeRecords(client, registry, recordType, prepared)
    return inserted.map(({ id }) => id)
  })
  const idOf = (n: number): string => ids[n] ?? ''
  for (const { survivor, retired } of MERGES.slice(0, 2)) await merge(idOf(survivor), idOf(retired))
  for (const [at, n] of PROTECTED.entries()) {
    const [record] = await recordsOf(db, registry)
      .source.reader('sync')
      .named(registry, recordType, [`U-${n}`])
    if (record === undefined) throw new Error('a person without a record')
    const identifiers = [...identifiersNamingRecord(registry.kind, recordType, JSON.parse(record.document)), ...record.aliases]
    const category = PROTECTION_CATEGORIES[at % 2 === 0 ? 0 : 1]
    const identifier = { type: 'UIN', value: `U-${n}` }
    const bearer = { recordType, id: record.id, identifiers }
    await withTransaction(db.pool, (client) => protectPerson(client, registry, { identifier, category, reason: 'test', bearer }))
  }
  // A record that is merged later is protected as its survivor is, and the other way round.
  for (const { survivor, retired } of MERGES.slice(2)) await merge(idOf(survivor), idOf(retired))
  await merge(idOf(8), idOf(7))
  own = recordsOf(db, registry).source.reader('sync')
  const protection = await protectionNow()
  guarded = makeSourceReader(await ownCandidates(own), async () => protection)
})
afterAll(() => database.close())

const merge = (survivor: string, retired: string) =>
  withTransaction(database.db.pool, (client) =>
    OWN_TABLES_SINK.retireRecord(client, registry, recordType, { survivor, retired, event: 0, now: new Date() }),
  )

const protectionNow = () => withTransaction(database.db.pool, (client) => readProtection(client, registry.id))

/** All records of our own tables, read once, as a source that knows nothing of a query. */
async function ownCandidates(reader: RecordReader): Promise<SearchCandidateSource> {
  const all = { recordType, predicate: null, since: null, after: null, limit: 2 * PEOPLE }
  const page = await reader.page(registry, all)
  const merged = await reader.merged(
    registry,
    recordType,
    page.map(({ id }) => id),
  )
  const records = page.map((record): SourceRecord => ({ ...record, merged: merged.get(record.id) ?? [] }))
  return {
    async *candidates(_registry, _recordType, _predicate, after) {
      for (let at = records.findIndex(({ id }) => id === after) + 1; at < records.length; at += 7) {
        const some = records.slice(at, at + 7)
        yield { records: some, rows: some.length }
      }
    },
    read: async (_registry, _recordType, wanted) => wanted.flatMap((id) => records.find((one) => one.id === id) ?? []),
  }
}

const identifiers: fc.Arbitrary<Predicate> = fc
  .uniqueArray(fc.tuple(fc.constantFrom('UIN', 'NID'), someone), { minLength: 1, maxLength: 3, selector: String })
  .map((named): Predicate => {
    return { is: 'identifier', identifiers: named.map(([type, n]) => ({ type, value: `${type === 'UIN' ? 'U' : 'N'}-${n}` })) }
  })
const SORTS: readonly (readonly SortKey[])[] = [
  [],
  [{ attribute: 'surname', descending: true }],
  [
    { attribute: 'birth_date', descending: false, until: TODAYS[0] },
    { attribute: 'UIN', descending: true },
  ],
]
const categories = fc.subarray([...PROTECTION_CATEGORIES])

test('a search finds the same', { timeout: 600_000 }, async () => {
  expect(await total(PROTECTION_CATEGORIES)).toBe(PEOPLE - MERGES.length - 1)
  expect(await total([])).toBeLessThan(PEOPLE - MERGES.length - 4)
  const asked = fc
    .oneof(identifiers, predicates(registry.kind, recordType))
    .map((one) => replaceAgesByDates(one, recordType, TODAYS[0]))
  const conditioned = fc.tuple(asked, asked).map(([one, other]): Predicate => ({ is: 'and', of: [one, other] }))
  const negated = asked.map((of): Predicate => ({ is: 'not', of }))
  const page = fc.record({
    sort: fc.constantFrom(...SORTS),
    limit: fc.integer({ min: 1, max: PEOPLE }),
    offset: fc.nat(10),
    cap: fc.integer({ min: 1, max: 2 * PEOPLE }),
    ids: fc.constantFrom(0, 2 * PEOPLE),
    categories,
  })
  const agree = fc.asyncProperty(fc.oneof(asked, conditioned, negated), page, async (predicate, page) => {
    const query = { recordType, predicate, page }
    const [one, other] = [await own.find(registry, query), await guarded.find(registry, query)]
    expect(other.total).toBe(one.total)
    // Above the cap nothing is answered.
    if (one.total <= page.cap) expect(other).toEqual(one)
  })
  await fc.assert(agree, { numRuns: QUESTIONS })
})

const total = async (seen: readonly string[]): Promise<number> => {
  const predicate: Predicate = { is: 'identifier_type', types: ['UIN'] }
  const page = { sort: [], limit: 1, offset: 0, cap: PEOPLE, categories: seen }
  const found = await Promise.all([own, guarded].map((one) => one.find(registry, { recordType, predicate, page })))
  expect(found[1]).toEqual(found[0])
  return found[0]?.total ?? 0
}

test('records are read again, named, and paged alike', { timeout: 600_000 }, async () => {
  const asked = fc.option(predicates(registry.kind, recordType).map((one) => replaceAgesByDates(one, recordType, TODAYS[0])))
  const chosen = fc.shuffledSubarray([...Array(PEOPLE).keys()], { minLength: 1, maxLength: 6 })
  const agree = fc.asyncProperty(asked, chosen, categories, async (predicate, numbers, seen) => {
    const wanted = numbers.map((n) => ids[n] ?? '')
    expect(await guarded.read(registry, recordType, wanted, seen)).toEqual(await own.read(registry, recordType, wanted, seen))
    const primaries = numbers.map((n) => `U-${n}`)
    expect(await guarded.named(registry, recordType, primaries)).toEqual(await own.named(registry, recordType, primaries))
    const after = wanted[0] ?? null
    const paged = { recordType, predicate, since: null, limit: 5, after: numbers.length > 3 ? null : after }
    const isThere =
      paged.after === null || (await own.read(registry, recordType, [paged.after], PROTECTION_CATEGORIES)).length > 0
    if (isThere) expect(await guarded.page(registry, paged)).toEqual(await own.page(registry, paged))
  })
  await fc.assert(agree, { numRuns: QUESTIONS / 3 })
})
