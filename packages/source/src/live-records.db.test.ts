/**
 * The same people in our own tables, in a civil office's own database, and in a copy of it: for random people, conditions of
 * grants and queries, all find the same records, or the live source refuses with its reason.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { RecordReader, RecordSource } from '@rollcall/core/model/record-source'
import type { SortKey } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { withTransaction } from '@rollcall/database/transaction'
import type { JsonObject, RecordType } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { readProtection } from '@rollcall/records/records/protection'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../test/property-seed.ts'
import { predicates } from '../../core/test/agreement/predicates.ts'
import { TODAYS } from '../../core/test/agreement/raw-values.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { hasMariadb } from '../test/mariadb.ts'
import { mariadbOffice, mariadbOfficeSource } from '../test/mariadb-office.ts'
import { mirroredRegistry } from '../test/mirrored-office.ts'
import { addressOf, makeOffice, type OfficePerson, officeSource } from '../test/office.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { createLiveRecordAccess } from './live-records.ts'
import { startFollowers } from './mirror/followers.ts'
import { readSourceFile } from './source-file.ts'

const PEOPLE = 60
const QUESTIONS = 250

const day = fc.constantFrom('1985-06-12', '1985-06-30', '2004-02-29', '2008-11-21', '2008-11-22', '0001-06-15', '9999-12-31')
const writtenDay = fc.constantFrom('12/06/1985', '29/02/2004', '21/11/2008')
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const people = fc.record({
  family_name: fc.constantFrom('Okoro', 'OKORO ', 'Élodie', 'Straße', 'ı', "O'Brien", 'a  b'),
  given_name: optional(fc.constantFrom('', ' ', 'elodie', 'Σίσυφος', 'a b')),
  gender: optional(fc.constantFrom(1, 2)),
  born: optional(day),
  mobile: optional(fc.constantFrom('+1 555-0100', '15550100', '0155')),
  removed: fc.constantFrom(false, false, true),
  place: optional(fc.constantFrom('Moshi', '')),
  marriages: fc.array(fc.record({ married: writtenDay, divorced: optional(writtenDay) }), { maxLength: 2 }),
  died: optional(day),
})

/** Some have the numbers that random queries ask for. */
const NUMBERS = ['A1', 'B-2', '0012', '12']
const rows: readonly OfficePerson[] = fc
  .sample(people, { numRuns: PEOPLE, seed: PROPERTY_SEED })
  .map(({ place, marriages, died, ...own }, n): OfficePerson => {
    const number = NUMBERS[n] ?? `U${n}`
    return {
      ...own,
      person_no: n - 3,
      national_no: number,
      birth: n % 3 === 0 ? { no: n % 2 === 0 ? `B${n}` : `${NUMBERS[n % 4]}.${n}`, place } : undefined,
      marriages: marriages.map((one, at) => ({ no: `M${n}.${at}`, ...one })),
      death: died === undefined ? undefined : { no: `D${n}`, died },
    }
  })

/** The record of a row of the office, written by hand: the mapping must give the same. */
function documentOf(one: OfficePerson): JsonObject {
  const iso = (text: string): string => text.split('/').toReversed().join('-')
  const few = (values: readonly string[]) => (values.length === 1 ? values[0] : values)
  const identifier = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
  const marriages = (one.marriages ?? []).toSorted((a, b) => (a.no < b.no ? -1 : 1))
  const divorces = marriages.flatMap(({ divorced }) => (divorced === undefined ? [] : [iso(divorced)]))
  const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== ''
  return {
    identifier: [
      identifier('UIN', one.national_no),
      ...(one.birth ? [identifier('BRN', one.birth.no)] : []),
      ...marriages.map(({ no }) => identifier('MRN', no)),
      ...(one.death ? [identifier('DRN', one.death.no)] : []),
    ],
    name: { surname: one.family_name, ...(isGiven(one.given_name) && { given_name: one.given_name }) },
    ...(one.gender !== undefined && { sex: one.gender === 1 ? 'male' : 'female' }),
    ...(one.born !== undefined && { birth_date: one.born }),
    ...(one.mobile !== undefined && { phone_number: [one.mobile] }),
    ...(isGiven(one.birth?.place) && { birth_place: { name: one.birth.place } }),
    ...(marriages.length > 0 && { marriage_date: few(marriages.map(({ married }) => iso(married))) }),
    ...(divorces.length > 0 && { divorce_date: few(divorces) }),
    ...(one.death && { death_date: one.death.died }),
  } as unknown as JsonObject
}

let database: TestDatabase
let registry: Registry
let recordType: RecordType
let own: RecordReader

beforeAll(async () => {
  database = await testDatabase()
  const { db } = database
  registry = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  recordType = registry.kind.record_types[0]
  const prepared = rows.filter(({ removed }) => !removed).map((one) => prepareRecord(registry.kind, recordType, documentOf(one)))
  await withTransaction(db.pool, (client) => writeRecords(client, registry, recordType, prepared))
  own = recordsOf(db, registry).source.reader('sync')
})
afterAll(() => database.close())

interface Office {
  readonly source: object
  readonly address: string
  drop(): Promise<void>
}

const ENGINES: readonly { readonly name: string; readonly isHere: () => boolean; open(): Promise<Office> }[] = [
  {
    name: 'PostgreSQL',
    isHere: () => true,
    async open() {
      const office = await emptyDatabase()
      await makeOffice(office.connection, rows)
      return { source: officeSource({ env: 'OFFICE' }), address: addressOf(office.connection), drop: office.drop }
    },
  },
  {
    name: 'MariaDB',
    isHere: hasMariadb,
    async open() {
      const { address, drop } = await mariadbOffice(rows)
      return { source: mariadbOfficeSource({ env: 'OFFICE' }), address, drop }
    },
  },
]

const SORTS: readonly (readonly SortKey[])[] = [
  [],
  [{ attribute: 'surname', descending: true }],
  [
    { attribute: 'birth_date', descending: false, until: TODAYS[0] },
    { attribute: 'UIN', descending: true },
  ],
]

/** A registry with a copy of the office's people. */
async function copyOf({ source, address }: Office, namespace: string): Promise<Registry> {
  const { records, ...file } = source as { readonly records: { readonly Person: { readonly compare: object } } }
  const { compare: _, ...person } = records.Person
  const mirror = { ...file, way: 'mirror', follow: 'poll', records: { Person: { ...person, changed: 'removed_at' } } }
  const { db } = database
  await mirroredRegistry(db, mirror, namespace)
  const copied = () => requireRegistry(db, namespace)
  const log = { warn: () => undefined, info: () => undefined }
  const registries = async () => [await copied()]
  const followers = startFollowers({ db, env: { OFFICE: address }, limits: DEFAULT_LIMITS, log, registries })
  try {
    while ((await copied()).awaits_records) await sleep(50)
  } finally {
    await followers.stop()
  }
  return copied()
}

describe.each(ENGINES.filter(({ isHere }) => isHere()))('records of a $name', ({ name, open }) => {
  let office: Office
  let copied: Registry
  let copies: RecordReader
  let engine: OpenEngine
  let live: RecordReader
  let source: RecordSource

  beforeAll(async () => {
    office = await open()
    const file = readSourceFile(JSON.parse(JSON.stringify(office.source)), registry.kind)
    engine = openEngine(file, { OFFICE: office.address })
    const records = createLiveRecordAccess(registry.kind, file, engine, ({ id }) => readProtection(database.db.pool, id))
    source = records.source
    live = source.reader('sync')
    copied = await copyOf(office, name.toLowerCase())
    copies = recordsOf(database.db, copied).source.reader('sync')
  })
  afterAll(async () => {
    await engine.close()
    await office.drop()
  })

  test('all records are the same, in the same order', async () => {
    const all = { recordType, predicate: null, since: null, after: null, limit: 2 * PEOPLE }
    const documents = async (reader: RecordReader, of = registry) => (await reader.page(of, all)).map(({ document }) => document)
    expect(await documents(live)).toEqual(await documents(own))
    expect(await documents(copies, copied)).toEqual(await documents(own))
    expect((await documents(own)).length).toBeGreaterThan(PEOPLE / 3)
  })

  test('a search finds the same, live and in the copy, or is refused live with its reason', { timeout: 600_000 }, async () => {
    const compared = ['surname', 'given_name', 'sex', 'birth_date', 'age', 'marriage_date', 'death_date', 'birth_place']
    const asked: RecordType = { ...recordType, attributes: recordType.attributes.filter(({ name }) => compared.includes(name)) }
    const query = predicates(registry.kind, asked).map((one) => replaceAgesByDates(one, recordType, TODAYS[0]))
    const rows = fc.option(query)
    const page = fc.record({
      sort: fc.constantFrom(...SORTS),
      limit: fc.integer({ min: 1, max: PEOPLE }),
      offset: fc.nat(10),
      cap: fc.integer({ min: 1, max: 2 * PEOPLE }),
    })
    const seen = { answered: 0, found: 0, refused: new Set<string>() }
    const agree = fc.asyncProperty(query, rows, page, async (predicate, conditions, page) => {
      const refusal = await source.refusal?.(registry, { recordType, predicate })
      const whole: Predicate = conditions === null ? predicate : { is: 'and', of: [predicate, conditions] }
      const given = { recordType, predicate: whole, page }
      const one = await own.find(registry, given)
      const others = [await live.find(registry, given), await copies.find(copied, given)]
      // A refused query is read all the same here: its answer would be equal, too.
      if (refusal != null) seen.refused.add(refusal.replace(/^\w+/, '...'))
      else {
        seen.answered += 1
        if (one.total > 0) seen.found += 1
      }
      expect(others.map(({ total }) => total)).toEqual([one.total, one.total])
      if (one.total > page.cap) return
      const documents = one.records.map(({ document }) => document)
      for (const { records } of others) expect(records.map(({ document }) => document)).toEqual(documents)
    })
    await fc.assert(agree, { numRuns: QUESTIONS })
    expect(seen.answered).toBeGreaterThan(QUESTIONS / 5)
    expect(seen.found).toBeGreaterThan(QUESTIONS / 20)
    expect([...seen.refused].length).toBeGreaterThan(1)
  })
})
