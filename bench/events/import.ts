/** An import whose changes are events beside one whose changes are none: of new records, and of records that change. */
import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import type { EventMode } from '@rollcall/import/import-file'
import { importFile } from '@rollcall/import/import-file'
import { recordTable } from '@rollcall/records/records/record-tables'
import { generateLines } from '@rollcall/synthetic'
import type { EventsPlan } from '../events.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { type Row, ratioRow } from '../shared/results.ts'
import { median, rounded } from '../shared/statistics.ts'

/** The part of the rate without events that is wanted with them. */
const BAR = 0.5

const LOADS = ['new', 'changed'] as const
const MODES: readonly EventMode[] = ['none', 'changes']

export async function importWithEvents(
  { db }: BenchDatabase,
  registry: Registry,
  { records, rounds }: EventsPlan,
): Promise<{ readonly rows: readonly Row[]; readonly result: object }> {
  const lines = [...generateLines(registry.kind.name, { count: records, seed: 1 })]
  const changed = lines.map((line) => line.replace('{', '{"note":"changed",'))
  const rates = { new: { none: [], changes: [] }, changed: { none: [], changes: [] } } as Record<
    (typeof LOADS)[number],
    Record<EventMode, number[]>
  >
  for (let round = 0; round < rounds; round += 1) {
    for (const mode of MODES) {
      await empty(db, registry)
      rates.new[mode].push(await load(db, registry, lines, mode))
      rates.changed[mode].push(await load(db, registry, changed, mode))
    }
  }
  const found = LOADS.map((name) => {
    const [none = 0, changes = 0] = MODES.map((mode) => Math.round(median(rates[name][mode])))
    return { name, none, changes, ratio: rounded(changes / none, 2) }
  })
  const rows = found.map(({ name, none, changes, ratio }) =>
    ratioRow(`events, import of ${name} records`, ratio, BAR, `${changes} lines/s`, `${none} lines/s without events`),
  )
  return { rows, result: { records, found } }
}

async function empty(db: Database, registry: Registry): Promise<void> {
  for (const recordType of registry.kind.record_types) {
    const { table, identifierTable } = recordTable(registry, recordType)
    await db.pool.query(`truncate ${quoteName(table)}, ${quoteName(identifierTable)}, event cascade`)
  }
  await db.pool.query('checkpoint')
}

/** Lines a second. */
async function load(db: Database, registry: Registry, lines: readonly string[], mode: EventMode): Promise<number> {
  const limits = DEFAULT_LIMITS
  const source = Readable.from([Buffer.from(lines.join('\n'))])
  const start = performance.now()
  const { written } = await importFile(db, registry, source, {
    format: 'ndjson',
    rejectsPath: null,
    events: { mode, limits, now: () => new Date() },
  })
  if (written !== lines.length) throw new Error(`only ${written} of ${lines.length} lines were written`)
  return lines.length / ((performance.now() - start) / 1_000)
}
