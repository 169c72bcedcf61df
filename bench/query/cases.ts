/**
 * What is asked of every population: each case with the search as a peer writes it, and beside it the SQL that a
 * hand would write for the same answer, prepared once by `pg`.
 */

import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { type Population, RARE_PROGRAMMES, rareProgramme, someIdentifiers, windows } from './populations.ts'

export interface Question {
  /** search_criteria. */
  readonly criteria: { readonly [member: string]: unknown }
  /** Parameters of the case's hand-written SQL. */
  readonly values: readonly unknown[]
}

export interface Case {
  readonly name: string
  /** Times of the largest population against the smallest that are accepted; null: it has a bar of its own. */
  readonly growth: number | null
  /** The number of records that each question finds; `more`: more than the cap. */
  readonly hits: readonly [least: number, most: number] | 'more'
  /** People in the smallest population that it is asked of. */
  readonly least?: number
  /** Milliseconds at every size, median. */
  readonly bar_ms?: number
  questions(db: Database, population: Population): Promise<readonly Question[]>
  sql(population: Population): string
}

const QUESTIONS = 64

const expression = (query: object) => ({
  query_type: 'expression',
  query: { type: 'ns:org:QueryType:expression', value: { expression: { query } } },
})

/** The frame of every hand-written statement: at most 10,001 hits are counted, one page of them is read. */
function paged(
  population: Population,
  { where, keys = [], order = 'hits.id', size }: { where: string; keys?: string[]; order?: string; size: number },
): string {
  const table = quoteName(population.table.table)
  const columns = ['id', ...keys].map((key) => `record.${key}`).join(', ')
  return `with hits as materialized (select ${columns} from ${table} as record where ${where} limit 10001),
    page as (select * from hits order by ${order} limit ${size})
    select (select count(*) from hits) as total, found.document
    from page as hits join ${table} as found on found.id = hits.id order by ${order}`
}

export const CASES: readonly Case[] = [
  {
    name: 'identifier',
    growth: 1.5,
    hits: [1, 1],
    async questions(db, population) {
      const identifiers = await someIdentifiers(db, population, QUESTIONS)
      return identifiers.map((value) => ({
        criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } },
        values: ['UIN', value],
      }))
    },
    sql: ({ table }) => `select counted.total, found.document
      from (select count(*) as total from ${quoteName(table.identifierTable)} where type = $1 and value = $2) as counted
      left join (
        select document from ${quoteName(table.identifierTable)} as identifier
        join ${quoteName(table.table)} as record on record.id = identifier.record
        where identifier.type = $1 and identifier.value = $2 order by identifier.record limit 10
      ) as found on true`,
  },
  {
    name: 'two attributes, page of 20',
    growth: 2,
    hits: [10, 55],
    async questions(db, population) {
      const found = await windows(db, population, 'last_updated', { count: QUESTIONS, wide: 60 })
      return found.map(({ from, to }) => ({
        criteria: {
          ...expression({ last_updated: { $gte: from, $lt: to }, sex: 'F' }),
          pagination: { page_size: 20, page_number: 1 },
        },
        values: [from, to, 'female'],
      }))
    },
    sql: (population) =>
      paged(population, { where: 'record.last_updated >= $1 and record.last_updated < $2 and record.sex = $3', size: 20 }),
  },
  {
    name: 'range, sorted, page of 50',
    growth: 2,
    hits: [40, 60],
    async questions(db, population) {
      const found = await windows(db, population, 'registration_date', { count: QUESTIONS, wide: 50 })
      return found.map(({ from, to }) => ({
        criteria: {
          ...expression({ registration_date: { $gte: from, $lt: to } }),
          sort: [{ attribute_name: 'surname' }, { attribute_name: 'birth_date', sort_order: 'desc' }],
          pagination: { page_size: 50, page_number: 1 },
        },
        values: [from, to],
      }))
    },
    sql: (population) =>
      paged(population, {
        where: 'record.registration_date >= $1 and record.registration_date < $2',
        keys: ['surname', 'birth_date_from'],
        order: 'hits.surname asc nulls last, hits.birth_date_from desc nulls last, hits.id',
        size: 50,
      }),
  },
  {
    name: 'one array element',
    growth: 2,
    hits: [20, 50],
    async questions() {
      return Array.from({ length: RARE_PROGRAMMES }, (_, number) => ({
        criteria: {
          ...expression({ enrolment: { programme_identifier: rareProgramme(number), enrolment_status: 'Active' } }),
          pagination: { page_size: 20, page_number: 1 },
        },
        values: [JSON.stringify([{ programme_identifier: rareProgramme(number).toLowerCase(), enrolment_status: '1' }])],
      }))
    },
    sql: (population) => paged(population, { where: 'record.enrolment @> $1::jsonb', size: 20 }),
  },
  {
    name: 'count at the cap',
    growth: null,
    least: 100_000,
    bar_ms: 100,
    hits: 'more',
    async questions() {
      return [{ criteria: expression({ sex: 'F' }), values: ['female'] }]
    },
    sql: (population) => paged(population, { where: 'record.sex = $1', size: 10 }),
  },
]
