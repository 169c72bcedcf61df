/**
 * One meaning, two evaluators: for random trees and random records of every kind, SQL on a real database, the
 * evaluation in memory and the slow, obvious reference give the same answer. With more trees than usual:
 * `AGREEMENT_TREES=1000 npx vitest run packages/server/test/agreement`.
 */

import type { Predicate } from '@rollcall/core/model/predicate'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { KINDS, readIdentifiers } from '@rollcall/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../../test/property-seed.ts'
import { everything } from '../../../core/test/agreement/everything.ts'
import { predicates } from '../../../core/test/agreement/predicates.ts'
import { TODAYS } from '../../../core/test/agreement/raw-values.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { findMatchingRecords, statementRunnersByMode } from '../../../records/src/records/own-records.ts'
import { predicateToSql } from '../../../records/src/records/sql/to-sql.ts'
import { columnsHeld, columnsOf } from './columns.ts'
import { compareRecords } from './order.ts'
import { type HeldRecord, type Population, populate } from './population.ts'
import { answer } from './reference.ts'
import type { Answer } from './truth.ts'

/** Trees for each record type: 8 of them with 100 trees over 120 records are 96,000 questions. */
const TREES = Number(process.env.AGREEMENT_TREES ?? 100)
const RECORDS = 120

const kinds = [...KINDS, everything]

let database: TestDatabase
const populations = new Map<string, readonly Population[]>()
beforeAll(async () => {
  database = await testDatabase()
  for (const [index, kind] of kinds.entries()) {
    const registry = { id: index + 1, kind }
    populations.set(kind.name, await populate(database.db, registry, RECORDS, PROPERTY_SEED))
  }
})
afterAll(() => database.close())

const recordTypes = kinds.flatMap((kind) => kind.record_types.map(({ name }) => [kind.name, name] as const))

describe.each(recordTypes)('%s %s', (kindName, recordTypeName) => {
  const population = (): Population => {
    const found = populations.get(kindName)?.find(({ recordType }) => recordType.name === recordTypeName)
    if (found === undefined) throw new Error(`no population of ${kindName} ${recordTypeName}`)
    return found
  }

  test('SQL, memory and reference agree', { timeout: 600_000 }, async () => {
    const { kind, recordType, table, records, select } = population()
    const days = fc.constantFrom(...TODAYS)
    const agree = fc.asyncProperty(predicates(kind, recordType), days, async (predicate, today) => {
      const expected = records.map(({ extracted }) => answer(predicate, extracted, today))
      const idsOf = (wanted: Answer) => records.filter((_, at) => expected[at] === wanted).map(({ id }) => id)
      const bound = replaceAgesByDates(predicate, recordType, today)
      const negated: Predicate = { is: 'not', of: bound }
      const inMemory = (asked: Predicate) => records.filter(({ readable }) => matches(asked, readable)).map(({ id }) => id)

      same('memory, true', inMemory(bound), idsOf('yes'), records)
      same('memory, false', inMemory(negated), idsOf('no'), records)
      same('SQL, true', await select(predicateToSql(bound, table)), idsOf('yes'), records)
      same('SQL, false', await select(predicateToSql(negated, table)), idsOf('no'), records)
    })
    await fc.assert(agree, { numRuns: TREES })
  })

  test('a page in order, and the count up to the cap', { timeout: 600_000 }, async () => {
    const { kind, recordType, table, records } = population()
    const keys = recordType.attributes.filter(({ sortable, type }) => sortable && type !== 'age').map(({ name }) => name)
    const sorts = fc
      .shuffledSubarray(keys, { maxLength: Math.min(3, keys.length) })
      .chain((names) =>
        fc.tuple(...names.map((attribute) => fc.record({ attribute: fc.constant(attribute), descending: fc.boolean() }))),
      )
    const numbers = fc.record({ limit: fc.integer({ min: 1, max: RECORDS }), offset: fc.nat(RECORDS), cap: fc.nat(2 * RECORDS) })
    const agree = fc.asyncProperty(
      predicates(kind, recordType),
      sorts,
      numbers,
      async (predicate, sort, { limit, offset, cap }) => {
        const hits = records.filter(({ extracted }) => answer(predicate, extracted, TODAYS[0]) === 'yes')
        const condition = predicateToSql(replaceAgesByDates(predicate, recordType, TODAYS[0]), table)
        const found = await findMatchingRecords(statementRunnersByMode(database.db).sync, table, condition, {
          sort,
          limit,
          offset,
          cap,
        })
        expect(found.total).toBe(Math.min(hits.length, cap + 1))
        if (hits.length > cap) return
        const page = hits.toSorted(compareRecords(sort)).slice(offset, offset + limit)
        expect(found.records.map(({ document }) => document)).toEqual(page.map(({ document }) => document))
      },
    )
    await fc.assert(agree, { numRuns: Math.ceil(TREES / 4) })
  })

  test('columns hold what is extracted from the document', async () => {
    const { kind, table, records } = population()
    const held = await columnsHeld(database.db, table)
    expect(held.size).toBe(RECORDS)
    for (const { id, document, extracted } of records) {
      const identifiers = readIdentifiers(kind, table.recordType, JSON.parse(document))
      expect(held.get(Number(id))).toEqual(columnsOf(table.recordType, extracted, identifiers))
    }
  })
})

/** Shows the first record about which the two do not agree. */
function same(who: string, found: string[], expected: string[], records: readonly HeldRecord[]): void {
  const wrong = records.find(({ id }) => found.includes(id) !== expected.includes(id))
  if (wrong === undefined) return
  const { id, document, extracted } = wrong
  const says = found.includes(id) ? 'yes, the reference no' : 'no, the reference yes'
  const elements = JSON.stringify(Object.fromEntries(extracted.elements))
  const values = JSON.stringify(Object.fromEntries(extracted.values))
  throw new Error(`${who}: ${says}: ${document}; values ${values}; elements ${elements}`)
}
