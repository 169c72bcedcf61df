/** Work without a database: compiling a typical search, refusing a hostile one, asking a record in memory. */

import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { readRecordValues } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { ItemRejection, kindNamed, parseJson } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { generate } from '@rollcall/synthetic'
import { predicateToSql } from '../../packages/records/src/records/sql/to-sql.ts'
import type { Row } from '../shared/results.ts'
import { microseconds } from './measure.ts'
import { KIND } from './populations.ts'

const kind = kindNamed(KIND)
if (kind === undefined) throw new Error(`there is no kind ${KIND}`)

const DAY = new Date().toISOString().slice(0, 10)

const limits = DEFAULT_LIMITS

/** Five conditions: a code, a range of days, a name, an age, one enrolment with its status. */
const TYPICAL = {
  query_type: 'expression',
  query: {
    type: 'ns:org:QueryType:expression',
    value: {
      expression: {
        query: {
          $and: [
            { sex: 'F' },
            { birth_date: { $gte: '1960', $lt: '1990-06-15' } },
            { surname: { $gte: 'a' } },
            { $not: { marital_status: { $in: ['D', 'W'] } } },
            { enrolment: { programme_identifier: 'PRG-06', enrolment_status: 'Active' } },
          ],
        },
      },
    },
  },
}

const graphql = (expression: string) => ({
  query_type: 'graphql',
  query: { type: 'ns:org:QueryType:graphql', value: { expression } },
})

const expression = (query: unknown) => ({
  query_type: 'expression',
  query: { type: 'ns:org:QueryType:expression', value: { expression: { query } } },
})

const nested = (depth: number): unknown => (depth === 0 ? { sex: 'F' } : { $not: nested(depth - 1) })

/** Each must be refused, and how long that takes has a bar. */
const HOSTILE: Readonly<Record<string, object>> = {
  '100,000 values in one `in`': expression({
    surname: { $in: Array.from({ length: 100_000 }, (_, number) => `name ${number}`) },
  }),
  '100,000 conditions': expression({ $or: Array.from({ length: 100_000 }, (_, number) => ({ surname: `name ${number}` })) }),
  'depth 1,000': expression(nested(1_000)),
  '10,000 aliases': graphql(
    `{ member(sex: female) { ${Array.from({ length: 10_000 }, (_, number) => `a${number}: sex`).join(' ')} } }`,
  ),
  'fragments that double 30 times': graphql(
    `{ member(sex: female) { ...f0 } } ${Array.from(
      { length: 30 },
      (_, number) => `fragment f${number} on Member { ...f${number + 1} ...f${number + 1} }`,
    ).join(' ')} fragment f30 on Member { sex }`,
  ),
  'a text of 1 MB': graphql(`{ member(sex: ${'"'}${'x'.repeat(1_000_000)}${'"'}) { sex } }`),
}

const COMPILE_BAR_US = 50
const MATCHES_BAR_US = 1
const REFUSAL_BAR_MS = 50

/** @param share of the work that is measured */
export function measurePure(share: number): { figures: object; rows: Row[] } {
  const of = (count: number) => Math.ceil(count * share)
  if (kind === undefined) throw new Error('no kind')
  const registry = { id: 1, kind }
  const read = (criteria: object) => readSearchCriteria(kind, { search_criteria: criteria }, limits)
  const table = recordTable(registry, kind.record_types[0])
  const compile_us = microseconds(
    () => {
      const criteria = read(TYPICAL)
      predicateToSql(replaceAgesByDates(criteria.predicate, criteria.recordType, DAY), table)
    },
    { rounds: of(50), calls: of(1_000) },
  )
  const asked = read(TYPICAL)
  const predicate = replaceAgesByDates(asked.predicate, asked.recordType, DAY)
  const records = [...generate(KIND, { count: of(1_000), seed: 2 })].map((document) =>
    readRecordValues(kind, asked.recordType, parseJson(JSON.stringify(document))),
  )
  let next = 0
  let matched = 0
  const matches_us = microseconds(
    () => {
      next = (next + 1) % records.length
      const record = records[next]
      if (record !== undefined && matches(predicate, record)) matched += 1
    },
    { rounds: of(50), calls: of(20_000) },
  )
  if (matched === 0 && share === 1) throw new Error('no record matches')
  const refusals = Object.fromEntries(
    Object.entries(HOSTILE).map(([name, criteria]) => [name, refusalTime(() => read(criteria), name, of(9))]),
  )
  const [slowest = '', refusal_ms = 0] = Object.entries(refusals).reduce((one, other) => (other[1] > one[1] ? other : one))
  const most = (what: string, figure: number, bar: number, unit: string): Row => {
    const wanted = `at most ${bar} ${unit}`
    return { what: `query, ${what}`, ours: '', floor: '', figure: `${figure} ${unit}`, wanted, passed: figure <= bar }
  }
  return {
    figures: { compile_us, matches_us, refusals_ms: refusals },
    rows: [
      most('reading and compiling a search of five conditions', compile_us, COMPILE_BAR_US, 'µs'),
      most('matching five conditions in memory', matches_us, MATCHES_BAR_US, 'µs'),
      most(`the slowest refusal: ${slowest}`, refusal_ms, REFUSAL_BAR_MS, 'ms'),
    ],
  }
}

/** The median of so many refusals, in milliseconds. */
function refusalTime(read: () => unknown, name: string, rounds: number): number {
  const refuse = (): void => {
    try {
      read()
    } catch (error) {
      if (error instanceof ItemRejection) return
      throw error
    }
    throw new Error(`not refused: ${name}`)
  }
  return microseconds(refuse, { rounds, calls: 1 }) / 1_000
}
