/** What costs no database: compiling a typical search, refusing a hostile one, asking a record in memory. */

import { LIMITS, type LimitName, type Limits } from '@rollcall/core/limits'
import { atDay } from '@rollcall/core/query/at-day'
import { extractRecord } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { ItemRejection, kindNamed, parseJson } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { toSql } from '@rollcall/records/records/sql/to-sql'
import { generate } from '@rollcall/synthetic'
import type { Bar } from './measure.ts'
import { microseconds } from './measure.ts'
import { KIND } from './populations.ts'

const kind = kindNamed(KIND)
if (kind === undefined) throw new Error(`there is no kind ${KIND}`)

const DAY = new Date().toISOString().slice(0, 10)

const limits = Object.fromEntries(Object.entries(LIMITS).map(([name, row]) => [name, row.default])) as {
  [name in LimitName]: number
} satisfies Limits

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
  '100,000 conditions': expression({
    $or: Array.from({ length: 100_000 }, (_, number) => ({ surname: `name ${number}` })),
  }),
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

/** Measures and prints. */
export function measurePure(): { figures: object; bars: Bar[] } {
  if (kind === undefined) throw new Error('no kind')
  const registry = { id: 1, kind }
  const read = (criteria: object) => readSearchCriteria(kind, { search_criteria: criteria }, limits)
  const table = recordTable(registry, kind.record_types[0])
  const compile_us = microseconds(
    () => {
      const criteria = read(TYPICAL)
      toSql(atDay(criteria.predicate, criteria.recordType, DAY), table)
    },
    { rounds: 50, calls: 1_000 },
  )
  const asked = read(TYPICAL)
  const predicate = atDay(asked.predicate, asked.recordType, DAY)
  const records = [...generate(KIND, { count: 1_000, seed: 2 })].map((document) =>
    extractRecord(kind, asked.recordType, parseJson(JSON.stringify(document))),
  )
  let next = 0
  let matched = 0
  const matches_us = microseconds(
    () => {
      next = (next + 1) % records.length
      const record = records[next]
      if (record !== undefined && matches(predicate, record)) matched += 1
    },
    { rounds: 50, calls: 20_000 },
  )
  if (matched === 0) throw new Error('no record matches')
  console.log(`compile ${compile_us} µs; matches ${matches_us} µs`)
  const refusals = Object.fromEntries(
    Object.entries(HOSTILE).map(([name, criteria]) => [name, refusalTime(() => read(criteria), name)]),
  )
  const slowest = Math.max(...Object.values(refusals))
  for (const [name, milliseconds] of Object.entries(refusals)) console.log(`refused in ${milliseconds} ms: ${name}`)
  return {
    figures: { compile_us, matches_us, refusals_ms: refusals },
    bars: [
      {
        what: 'compiling a typical search, microseconds',
        is: compile_us,
        bar: `at most ${COMPILE_BAR_US}`,
        passed: compile_us <= COMPILE_BAR_US,
      },
      {
        what: 'matching five conditions in memory, microseconds',
        is: matches_us,
        bar: `at most ${MATCHES_BAR_US}`,
        passed: matches_us <= MATCHES_BAR_US,
      },
      {
        what: 'the slowest refusal, milliseconds',
        is: slowest,
        bar: `at most ${REFUSAL_BAR_MS}`,
        passed: slowest <= REFUSAL_BAR_MS,
      },
    ],
  }
}

/** The median of nine refusals, in milliseconds. */
function refusalTime(read: () => unknown, name: string): number {
  const refuse = (): void => {
    try {
      read()
    } catch (error) {
      if (error instanceof ItemRejection) return
      throw error
    }
    throw new Error(`not refused: ${name}`)
  }
  return microseconds(refuse, { rounds: 9, calls: 1 }) / 1_000
}
