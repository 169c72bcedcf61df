/** Registries of generated people of three sizes in one database, and questions that find the same number in each. */
import { Readable } from 'node:stream'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { importFile } from '@rollcall/import/import-file'
import { countRecords } from '@rollcall/records/records/record-counts'
import { type RecordTable, recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry, findRegistry } from '@rollcall/records/registries/registries'
import { generateLines } from '@rollcall/synthetic'

export const KIND = 'ibr'
/** Programmes that hardly anybody is in, and how many people each has. */
export const RARE_PROGRAMMES = 64
export const PEOPLE_OF_A_PROGRAMME = 30
const LINES_OF_CHUNK = 200

export interface Population {
  readonly registry: Registry
  readonly table: RecordTable
  readonly records: number
}

/** The registry of so many people; those that are missing are imported, memory is told. */
export async function population(db: Database, records: number): Promise<Population> {
  const namespace = `bench-query-${records}`
  const registry =
    (await findRegistry(db, namespace)) ?? (await addRegistry(db, { namespace, kind: KIND, sender_id: `${namespace}.example` }))
  const [recordType] = registry.kind.record_types
  const table = recordTable(registry, recordType)
  const held = (await countRecords(db, registry))[recordType.name] ?? 0
  if (held < records) {
    await fill(db, registry, records)
    await db.pool.query(`vacuum analyze ${quoteName(table.table)}, ${quoteName(table.identifierTable)}`)
    await db.pool.query('checkpoint')
  }
  return { registry, table, records }
}

async function fill(db: Database, registry: Registry, records: number): Promise<void> {
  const start = performance.now()
  const before = process.memoryUsage.rss()
  let peak = before
  let told = 0
  const { written } = await importFile(db, registry, Readable.from(ndjson(records)), {
    format: 'ndjson',
    rejectsPath: null,
    onProgress: ({ lines }) => {
      peak = Math.max(peak, process.memoryUsage.rss())
      if (lines < told + records / 10) return
      told = lines
      console.log(`  ${lines} of ${records} after ${seconds(start)} s, ${megabytes(peak - before)} MB more memory`)
    },
  })
  if (written !== records) throw new Error(`only ${written} of ${records} records were written`)
  console.log(`imported ${records} in ${seconds(start)} s, at most ${megabytes(peak - before)} MB more memory`)
}

const seconds = (start: number): number => Math.round((performance.now() - start) / 1_000)
const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20)

/** People in file order; every so-many-th is in a rare programme beside their own, spread over the whole file. */
function* ndjson(count: number): Generator<Buffer> {
  const step = Math.floor(count / (RARE_PROGRAMMES * PEOPLE_OF_A_PROGRAMME))
  let lines: string[] = []
  let number = 0
  for (const line of generateLines(KIND, { count, seed: 1 })) {
    const rare = number % step === 0 ? number / step : Number.POSITIVE_INFINITY
    number += 1
    lines.push(rare < RARE_PROGRAMMES * PEOPLE_OF_A_PROGRAMME ? enrolled(line, rare % RARE_PROGRAMMES) : line)
    if (lines.length < LINES_OF_CHUNK) continue
    yield Buffer.from(`${lines.join('\n')}\n`)
    lines = []
  }
  yield Buffer.from(lines.join('\n'))
}

export const rareProgramme = (number: number): string => `RARE-${number}`

function enrolled(line: string, programme: number): string {
  const document = JSON.parse(line)
  const { member } = document
  const enrolment = {
    programme: { programme_identifier: rareProgramme(programme), programme_name: 'Rare programme' },
    enrolment_date: '2024-05-01',
    enrolment_status: '1',
  }
  member.programme_identifier = [...[member.programme_identifier ?? []].flat(), enrolment]
  return JSON.stringify(document)
}

/** A value of an indexed column, and the one that so many records later stands in its order. */
export interface Window {
  readonly from: string
  readonly to: string
}

/** Windows of time anywhere in the population, each holding so many records: `from` included, `to` excluded. */
export async function windows(
  db: Database,
  { table, records }: Population,
  column: 'last_updated' | 'registration_date',
  { count, wide }: { readonly count: number; readonly wide: number },
): Promise<readonly Window[]> {
  const [name, from] = [quoteName(column), quoteName(table.table)]
  const { rows: anchors } = await db.pool.query<{ at: Date }>(
    `select ${name} as at from ${from} where id in (select (random() * $1)::bigint from generate_series(1, $2))
     and ${name} is not null limit $3`,
    [records - 1, count * 3, count],
  )
  const found: Window[] = []
  for (const { at } of anchors) {
    const { rows } = await db.pool.query<{ at: Date }>(
      `select ${name} as at from ${from} where ${name} >= $1 order by ${name} offset $2 limit 1`,
      [at, wide],
    )
    const [end] = rows
    if (end !== undefined) found.push({ from: at.toISOString(), to: end.at.toISOString() })
  }
  return found
}

/** Identifiers of people anywhere in the population. */
export async function someIdentifiers(db: Database, { table, records }: Population, count: number): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ primary_identifier: string }>(
    `select primary_identifier from ${quoteName(table.table)}
     where id in (select (random() * $1)::bigint + 1 from generate_series(1, $2))`,
    [records - 1, count],
  )
  return rows.map(({ primary_identifier }) => primary_identifier)
}
