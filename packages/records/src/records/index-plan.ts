/** Compares the indexes of a registry's tables with those that are declared. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { RecordType } from '@rollcall/protocol'
import { indexesOf } from './catalog.ts'
import { type DeclaredIndex, declaredIndexes, recordTable, storedTypes } from './record-tables.ts'

/** The indexes of one record type's table, compared with those that are declared. */
export interface IndexPlan {
  readonly namespace: string
  readonly record_type: string
  /** Attributes and compounds whose columns are not backfilled yet. */
  readonly unfilled: readonly string[]
  /** Declared indexes that are not there, or whose build was interrupted. */
  readonly missing: readonly MissingIndex[]
  /** Indexes that nothing declares: each costs time with every record written. */
  readonly foreign: readonly string[]
}

interface MissingIndex {
  readonly index: string
  /** The attribute or compound of the index. */
  readonly of: string
  readonly state: 'missing' | 'invalid'
}

/** One row for each record type that has tables, in the order of the kind. Changes nothing. */
export async function planIndexes(db: Database, registry: Registry): Promise<readonly IndexPlan[]> {
  return Promise.all(
    storedTypes(registry).map(async (recordType) => ({
      namespace: registry.namespace,
      record_type: recordType.name,
      unfilled: [...(registry.unfilled.get(recordType.name) ?? [])].sort(),
      ...(await compareIndexes(db, registry, recordType)),
    })),
  )
}

/** Whether every declared index is there and can be used. Foreign indexes do not matter: people judge them. */
export function isComplete({ unfilled, missing }: IndexPlan): boolean {
  return unfilled.length === 0 && missing.length === 0
}

async function compareIndexes(
  db: Database,
  registry: Registry,
  recordType: RecordType,
): Promise<Pick<IndexPlan, 'missing' | 'foreign'>> {
  const table = recordTable(registry, recordType)
  const declared = declaredIndexes(table)
  const found = await indexesOf(db.kysely, table.table)
  const names = new Set(declared.map(({ name }) => name))
  return {
    missing: declared.flatMap(({ name, of }: DeclaredIndex): MissingIndex[] => {
      const index = found.get(name)
      if (index?.valid) return []
      return [{ index: name, of, state: index === undefined ? 'missing' : 'invalid' }]
    }),
    foreign: [...found.values()]
      .filter(({ name, constraint }) => !constraint && !names.has(name))
      .map(({ name }) => name),
  }
}
