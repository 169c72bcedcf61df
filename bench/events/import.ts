/** An import whose changes are events beside one whose changes are none: of new records, and of records that change. */
import { Readable } from 'node:stream'
import { LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import type { EventMode } from '@rollcall/import/import-file'
import { importFile } from '@rollcall/import/import-file'
import { recordTable } from '@rollcall/records/records/record-tables'
import { generateLines } from '@rollcall/synthetic'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { median, rounded } from '../shared/statistics.ts'

/** The part of the rate without events that is wanted with them. */
const BAR = 0.5

const LOADS = ['new', 'changed'] as const
const MODES: readonly EventMode[] = ['none', 'changes']

export async function importWithEvents(
  { db }: BenchDatabase,
  registry: Registry,
  { records, rounds }: { readonly records: number; readonly rounds: number },
): Promise<{ readonly reached: boolean; readonly result: object }> {
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
  const result = Object.fromEntries(
    LOADS.map((name) => {
      const [none, changes] = MODES.map((mode) => Math.round(median(rates[name][mode])))
      return [name, { none, changes, ratio: rounded((changes ?? 0) / (none ?? 1), 2) }]
    }),
  )
  for (const [name, rate] of Object.entries(result)) console.log(name, JSON.stringify(rate))
  return { reached: Object.values(result).every(({ ratio }) => ratio >= BAR), result: { records, ...result } }
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
  const limits = { birth_span: LIMITS.birth_span.default, correction_time: LIMITS.correction_time.default }
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
