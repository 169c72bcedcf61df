/** Compares the indexes in the database with the indexes that a registry declares. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { RecordType } from '@rollcall/protocol'
import { readIndexes } from './catalog.ts'
import { type DeclaredIndex, declaredIndexes, recordTable, recordTypesWithTables } from './record-tables.ts'

/** How the columns and indexes of one record table differ from what its registry declares. */
export interface IndexPlan {
  readonly namespace: string
  readonly record_type: string
  /** What still needs a backfill, as in `Registry.unfilled`: column groups, the identifier rows, and added identifier types. */
  readonly unfilled: readonly string[]
  /** Declared indexes that do not exist, or that no search uses because their build goes on or was interrupted. */
  readonly missing: readonly IndexToBuild[]
  /** The names of superfluous indexes: neither the registry nor a constraint needs them. Each slows down writes of records. */
  readonly foreign: readonly string[]
}

interface IndexToBuild {
  readonly index: string
  /** The attribute or compound that the index is for. */
  readonly of: string
  readonly state: 'missing' | 'invalid'
}

/** Returns one plan for each record type that has tables, in the order of the kind. Changes nothing. */
export async function planIndexes(db: Database, registry: Registry): Promise<readonly IndexPlan[]> {
  return Promise.all(
    recordTypesWithTables(registry).map(async (recordType) => ({
      namespace: registry.namespace,
      record_type: recordType.name,
      unfilled: [...(registry.unfilled.get(recordType.name) ?? [])].sort(),
      ...(await listMissingAndForeignIndexes(db, registry, recordType)),
    })),
  )
}

/** True when all columns are backfilled and all declared indexes can be used. Foreign indexes are allowed. */
export function isIndexPlanApplied({ unfilled, missing }: IndexPlan): boolean {
  return unfilled.length === 0 && missing.length === 0
}

async function listMissingAndForeignIndexes(
  db: Database,
  registry: Registry,
  recordType: RecordType,
): Promise<Pick<IndexPlan, 'missing' | 'foreign'>> {
  const table = recordTable(registry, recordType)
  const declared = declaredIndexes(table)
  const found = await readIndexes(db.kysely, table.table)
  const names = new Set(declared.map(({ name }) => name))
  return {
    missing: declared.flatMap(({ name, of }: DeclaredIndex): IndexToBuild[] => {
      const index = found.get(name)
      if (index?.valid) return []
      return [{ index: name, of, state: index === undefined ? 'missing' : 'invalid' }]
    }),
    foreign: [...found.values()].filter(({ name, constraint }) => !constraint && !names.has(name)).map(({ name }) => name),
  }
}
