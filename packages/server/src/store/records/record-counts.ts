/** How many records a registry holds. */
import type { RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { quoteName } from '../db/names.ts'
import { recordTable } from './record-tables.ts'

/** By record type. Counts row by row: for a person or a test that asks, not for a request. */
export async function countRecords(
  db: Database,
  registry: RegistryShape,
): Promise<Readonly<Record<string, number>>> {
  const counted = registry.kind.record_types.map(async (recordType) => {
    const { table } = recordTable(registry, recordType)
    const { rows } = await db.pool.query<{ count: number }>(
      `select count(*) as count from ${quoteName(table)}`,
    )
    return [recordType.name, rows[0]?.count ?? 0] as const
  })
  return Object.fromEntries(await Promise.all(counted))
}

/** Whether it holds any record, of whatever type. */
export async function hasRecords(db: Database, registry: RegistryShape): Promise<boolean> {
  const any = registry.kind.record_types.map(
    (recordType) => `exists (select 1 from ${quoteName(recordTable(registry, recordType).table)})`,
  )
  const { rows } = await db.pool.query<{ found: boolean }>(`select ${any.join(' or ')} as found`)
  return rows[0]?.found === true
}
