/**
 * Live records beside SQL written by hand with the same driver, on the same tables in the same run: a look-up by an identifier, and a
 * search of two conditions. Ours begins a transaction that only reads, makes records of the rows and judges each; the floor sends
 * one statement and takes its rows.
 *
 *     npm run bench -- source
 */

import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { RecordReader } from '@rollcall/core/model/record-source'
import { recordQuery } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn, type Kind, kindNamed } from '@rollcall/protocol'
import { readConfig } from '@rollcall/settings/config'
import { openEngine } from '@rollcall/source/engines'
import { readSourceFile } from '@rollcall/source/source-file'
import pg from 'pg'
import { liveRecords } from '../packages/source/src/live-records.ts'
import { beside } from './query/measure.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { type Row, ratioRow, writeResult } from './shared/results.ts'

const NUMBERS = { records: [200_000, 200], times: [2_000, 2], questions: [200, 2] } as const
/** The least share of the rate of the hand-written statement. */
const BAR = 0.75

const SCHEMA = 'bench_office'
/** People of a registry office: a surname has a thousandth of them, a day of birth a twenty-thousandth. */
const tables = (records: number): string => `drop schema if exists ${SCHEMA} cascade; create schema ${SCHEMA};
  create table ${SCHEMA}.person as select n::int as person_no, 'U' || lpad(n::text, 9, '0') as national_no,
    'Name ' || n % 1000 as family_name, 'Given ' || n % 777 as given_name, (n % 2 + 1)::smallint as gender,
    date '1950-01-01' + (n % 20000)::int as born from generate_series(1, ${records}) as n;
  create table ${SCHEMA}.birth as select 'B' || lpad(n::text, 9, '0') as birth_no, n::int as person_no,
    'Place ' || n % 300 as place from generate_series(1, ${records}) as n;
  alter table ${SCHEMA}.person add primary key (person_no), add unique (national_no);
  create index on ${SCHEMA}.person (born); create index on ${SCHEMA}.birth (person_no);
  analyze ${SCHEMA}.person; analyze ${SCHEMA}.birth`

const SOURCE = {
  engine: 'postgresql',
  url: { env: 'OFFICE' },
  way: 'live',
  records: {
    Person: {
      from: `${SCHEMA}.person`,
      key: 'person_no',
      columns: {
        'identifier[UIN]': 'national_no',
        'name.surname': 'family_name',
        'name.given_name': 'given_name',
        sex: { column: 'gender', codes: { '1': 'male', '2': 'female' } },
        birth_date: 'born',
      },
      children: [
        {
          from: `${SCHEMA}.birth`,
          on: 'person_no',
          columns: { 'identifier[BRN]': 'birth_no', 'birth_place.name': 'place' },
        },
      ],
      compare: { surname: 'folded', given_name: 'folded', sex: 'code', birth_date: 'date' },
    },
  },
}

interface Question {
  readonly criteria: object
  readonly values: readonly string[]
}

interface Case {
  readonly name: string
  /** The condition that a hand would write. */
  readonly where: string
  /** @param n number of a person */
  readonly question: (n: number) => Question
}

const bornOf = (n: number): string =>
  new Date(Date.UTC(1950, 0, 1) + (n % 20_000) * 86_400_000).toISOString().slice(0, 10)

const CASES: readonly Case[] = [
  {
    name: 'live look-up',
    where: 'national_no = $1',
    question: (n) => {
      const value = `U${String(n).padStart(9, '0')}`
      return { criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } }, values: [value] }
    },
  },
  {
    name: 'live search of two conditions',
    where: 'born = $1::date and lower(family_name) = lower($2)',
    question: (n) => {
      const values = [bornOf(n), `name ${n % 1_000}`]
      const [birth_date, surname] = values
      return { criteria: { query_type: 'expression', query: { birth_date, surname } }, values }
    },
  },
]

const byHand = (where: string): string => `select person_no, national_no, family_name, given_name, gender, born::text,
    (select json_agg(json_build_array(birth_no, place)) from ${SCHEMA}.birth where birth.person_no = person.person_no)
  from ${SCHEMA}.person where ${where} order by person_no limit 1000`

/** Measures, prints and writes `source.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  return withBenchDatabase(place, async ({ owner, env }) => {
    await owner.pool.query(tables(plan.records))
    // Both sides connect as the same role, by the address of the pool that has made the tables.
    const address = addressOf(owner.pool.options)
    const kind = kindNamed('civil') as Kind
    const file = readSourceFile(SOURCE, kind)
    const engine = openEngine(file, { OFFICE: address })
    const hand = new pg.Pool({ connectionString: address })
    try {
      const { source } = liveRecords(kind, file, engine, async () => NOBODY_PROTECTED)
      const asked = { kind, hand, reader: source.reader('sync'), limits: readConfig(env).limits }
      const rows: Row[] = []
      const measured = []
      for (const one of CASES) {
        const result = await measure(asked, one, plan)
        measured.push({ case: one.name, ...result })
        const told = ({ p50_ms, p99_ms }: typeof result.ours) => `p50 ${p50_ms} ms, p99 ${p99_ms} ms`
        const what = `source, ${one.name}, ${plan.records} records`
        rows.push(ratioRow(what, result.ratio, BAR, told(result.ours), `${told(result.floor)} by hand`))
      }
      await writeResult('source', { ...plan, bar: BAR, measured })
      return rows
    } finally {
      await engine.close()
      await hand.end()
      await owner.pool.query(`drop schema ${SCHEMA} cascade`)
    }
  })
}

function addressOf({ connectionString, host, port, user, password, database }: pg.PoolOptions): string {
  if (connectionString !== undefined) return connectionString
  const url = new URL(`postgresql://localhost/${database}`)
  for (const [name, value] of Object.entries({ host, port, user, password })) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url.href
}

interface Asked {
  readonly kind: Kind
  readonly hand: pg.Pool
  readonly reader: RecordReader
  readonly limits: ReturnType<typeof readConfig>['limits']
}

async function measure(
  { kind, hand, reader, limits }: Asked,
  { name, where, question }: Case,
  { records, times, questions }: { readonly records: number; readonly times: number; readonly questions: number },
) {
  const registry = { id: 1, kind }
  const text = byHand(where)
  const ours = ({ criteria }: Question) => {
    const read = readSearchCriteria(kind, { search_criteria: criteria }, limits)
    return reader.find(registry, recordQuery(read, dayIn('UTC', Date.now()), { cap: limits.search_results }))
  }
  const floor = ({ values }: Question) => hand.query({ name, text, values: [...values] })
  const all = Array.from({ length: questions }, (_, at) => question(1 + ((at * 7_919) % records)))
  for (const one of all) {
    const [found, rows] = [(await ours(one)).total, (await floor(one)).rows.length]
    if (found !== rows || found === 0) throw new Error(`${name}: found ${found}, by hand ${rows}`)
  }
  return beside(all, times, {
    ours: async (one) => void (await ours(one)),
    floor: async (one) => void (await floor(one)),
  })
}
