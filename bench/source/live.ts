/**
 * Live records beside SQL written by hand with the same driver, on the same tables in the same run: a look-up by an identifier, and a
 * search of two conditions. Both make the same records of the rows, one statement has the children too, and both statements are
 * prepared once on a connection. Ours reads the question, runs in a transaction that only reads and has its limit of time, and judges
 * each record in memory; the hand knows what its statement does and leaves that to the settings of its session. The hand uses the
 * driver with its usual options.
 */

import { deepStrictEqual } from 'node:assert'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { RecordReader } from '@rollcall/core/model/record-source'
import { makeRecordQuery } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria } from '@rollcall/core/query/search-criteria'
import { dayIn, type Kind, kindNamed } from '@rollcall/protocol'
import { readConfig } from '@rollcall/settings/config'
import { openEngine } from '@rollcall/source/engines'
import { readSourceFile } from '@rollcall/source/source-file'
import { createLiveRecordAccess } from '../../packages/source/src/live-records.ts'
import { beside } from '../query/measure.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { type Row, ratioRow } from '../shared/results.ts'
import type { SourcePlan } from '../source.ts'
import { type EngineName, type HandRow, type LiveOffice, mariadbOffice, postgresqlOffice } from './live-offices.ts'

/** The least share of the rate of the hand-written statement. */
const BAR = 0.75

interface Question {
  readonly criteria: object
  readonly values: readonly string[]
}

interface Case {
  readonly name: string
  /** The condition that a hand would write. */
  readonly where: Readonly<Record<EngineName, string>>
  /** @param n number of a person */
  readonly question: (n: number) => Question
}

const bornOf = (n: number): string => new Date(Date.UTC(1950, 0, 1) + (n % 20_000) * 86_400_000).toISOString().slice(0, 10)

const CASES: readonly Case[] = [
  {
    name: 'live look-up',
    where: { PostgreSQL: 'national_no = $1', MariaDB: 'national_no = ?' },
    question: (n) => {
      const value = `U${String(n).padStart(9, '0')}`
      return { criteria: { query_type: 'idtype-value', query: { type: 'UIN', value } }, values: [value] }
    },
  },
  {
    name: 'live search of two conditions',
    where: { PostgreSQL: 'born = $1::date and lower(family_name) = lower($2)', MariaDB: 'born = ? and family_name = ?' },
    question: (n) => {
      const values = [bornOf(n), `name ${n % 1_000}`]
      const [birth_date, surname] = values
      return { criteria: { query_type: 'expression', query: { birth_date, surname } }, values }
    },
  },
]

/** The record as our mapping makes it. */
const documentOf = ({ national_no, family_name, given_name, gender, born, births }: HandRow): string =>
  JSON.stringify({
    birth_date: born,
    birth_place: { name: births[0]?.[1] },
    identifier: [
      { identifier_type: 'UIN', identifier_value: national_no },
      ...births.map(([birth_no]) => ({ identifier_type: 'BRN', identifier_value: birth_no })),
    ],
    name: { given_name, surname: family_name },
    sex: gender === 1 ? 'male' : 'female',
  })

type Measured = Promise<{ readonly rows: readonly Row[]; readonly result: object }>

export const live = async (database: BenchDatabase, plan: SourcePlan): Measured =>
  besideHand(database, plan, await postgresqlOffice(database, plan.records))

/** No rows where MariaDB is not installed. */
export async function liveMariadb(database: BenchDatabase, plan: SourcePlan): Measured {
  const office = await mariadbOffice(plan.records)
  return office === null ? { rows: [], result: { skipped: 'mariadbd is not installed' } } : besideHand(database, plan, office)
}

async function besideHand({ env }: BenchDatabase, plan: SourcePlan, office: LiveOffice): Measured {
  const kind = kindNamed('civil') as Kind
  const file = readSourceFile(office.source, kind)
  const engine = openEngine(file, { OFFICE: office.address })
  try {
    const { source } = createLiveRecordAccess(kind, file, engine, async () => NOBODY_PROTECTED)
    const asked = { kind, office, reader: source.reader('sync'), limits: readConfig(env).limits }
    const rows: Row[] = []
    const measured = []
    for (const one of CASES) {
      const result = await measure(asked, one, plan)
      measured.push({ case: one.name, ...result })
      const told = ({ p50_ms, p99_ms }: typeof result.ours) => `p50 ${p50_ms} ms, p99 ${p99_ms} ms`
      const what = `source, ${one.name}, ${office.name}, ${plan.records} records`
      rows.push(ratioRow(what, result.ratio, BAR, told(result.ours), `${told(result.floor)} by hand`))
    }
    return { rows, result: { engine: office.name, bar: BAR, measured } }
  } finally {
    await engine.close()
    await office.close()
  }
}

interface Asked {
  readonly kind: Kind
  readonly office: LiveOffice
  readonly reader: RecordReader
  readonly limits: ReturnType<typeof readConfig>['limits']
}

async function measure(
  { kind, office, reader, limits }: Asked,
  { name, where, question }: Case,
  { records, times, questions }: SourcePlan,
) {
  const registry = { id: 1, kind }
  const ours = ({ criteria }: Question) => {
    const read = readSearchCriteria(kind, { search_criteria: criteria }, limits)
    return reader.find(registry, makeRecordQuery(read, dayIn('UTC', Date.now()), { cap: limits.search_results }))
  }
  const floor = async ({ values }: Question) => (await office.hand({ name, where: where[office.name], values })).map(documentOf)
  const all = Array.from({ length: questions }, (_, at) => question(1 + ((at * 7_919) % records)))
  for (const one of all) {
    const [found, documents] = [(await ours(one)).records, await floor(one)]
    if (found.length === 0) throw new Error(`${name}: found nobody`)
    deepStrictEqual(
      found.map(({ document }) => JSON.parse(document)),
      documents.map((document) => JSON.parse(document)),
    )
  }
  return beside(all, times, { ours: async (one) => void (await ours(one)), floor: async (one) => void (await floor(one)) })
}
