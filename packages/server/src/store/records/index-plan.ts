/** Which declared indexes a registry's tables lack, which others they have, and which slow searches would use. */

import type { RecordType } from '@rollcall/protocol'
import type { Registry } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { indexesOf } from './catalog.ts'
import { type DeclaredIndex, declaredIndexes, recordTable } from './record-tables.ts'

/** The indexes of one record type's table, compared with those that are declared. */
export interface IndexPlan {
  readonly namespace: string
  readonly record_type: string
  /** Attributes and compounds whose columns are empty in records that were there before them. */
  readonly unfilled: readonly string[]
  /** Declared indexes that are not there, or whose build was interrupted. */
  readonly missing: readonly MissingIndex[]
  /** Indexes that belong to nothing declared: each costs time with every record written. */
  readonly foreign: readonly string[]
  /** Attributes without an index that slow searches asked about, the most expensive first. */
  readonly wanted: readonly WantedIndex[]
}

interface MissingIndex {
  readonly index: string
  /** The attribute or compound it is for. */
  readonly of: string
  readonly state: 'missing' | 'invalid'
}

interface WantedIndex {
  readonly attribute: string
  readonly searches: number
  /** Milliseconds. */
  readonly total_ms: number
  readonly max_ms: number
  readonly last_seen: Date
  /** The words after `rollcall` that declare an index; null where none can be declared for it. */
  readonly declare: readonly string[] | null
}

/** One row for each record type, in the order of the kind. Changes nothing. */
export async function planIndexes(db: Database, registry: Registry): Promise<readonly IndexPlan[]> {
  const slow = await listSlowSearches(db, registry)
  return Promise.all(
    registry.kind.record_types.map(async (recordType) => ({
      namespace: registry.namespace,
      record_type: recordType.name,
      unfilled: [...(registry.unfilled.get(recordType.name) ?? [])].sort(),
      ...(await compareIndexes(db, registry, recordType)),
      wanted: wantedIndexes(
        registry,
        recordType,
        slow.filter(({ record_type }) => record_type === recordType.name),
      ),
    })),
  )
}

/** Whether everything declared is there and can be used; `wanted` and `foreign` are for people to judge. */
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

/** A search counts for each attribute it asked about that has no index: which of them would have helped is not known. */
function wantedIndexes(
  { namespace }: Registry,
  { name: record_type, attributes, compounds = [] }: RecordType,
  slow: readonly (SlowSearches & { readonly last_seen: Date })[],
): readonly WantedIndex[] {
  const indexed = new Set([...attributes, ...compounds].filter((row) => row.indexed).map(({ name }) => name))
  const declarable = new Set(attributes.map(({ name }) => name))
  const wanted = new Map<string, WantedIndex>()
  for (const row of slow) {
    for (const attribute of row.attributes) {
      if (indexed.has(attribute)) continue
      const before = wanted.get(attribute)
      wanted.set(attribute, {
        attribute,
        searches: row.searches + (before?.searches ?? 0),
        total_ms: row.total_ms + (before?.total_ms ?? 0),
        max_ms: Math.max(row.max_ms, before?.max_ms ?? 0),
        last_seen: before && before.last_seen > row.last_seen ? before.last_seen : row.last_seen,
        declare: declarable.has(attribute) ? ['attribute', 'index', namespace, record_type, attribute] : null,
      })
    }
  }
  return [...wanted.values()].sort((one, other) => other.total_ms - one.total_ms)
}

/** Slow searches that asked about the same attributes of one record type, taken together. */
export interface SlowSearches {
  /** A registry's id. */
  readonly registry: number
  readonly record_type: string
  /** Sorted, none twice. */
  readonly attributes: readonly string[]
  readonly searches: number
  /** Milliseconds. */
  readonly total_ms: number
  readonly max_ms: number
}

/** Rows of one registry: peers choose which attributes they combine. */
const MOST_ROWS = 1_000

/**
 * Adds to the stored rows. Rows of a registry that was removed are passed over, and of each registry the most expensive
 * 1,000 stay.
 */
export async function addSlowSearches(db: Database, rows: readonly SlowSearches[]): Promise<void> {
  await addRows(db, rows)
  await forgetCheapest(db, [...new Set(rows.map(({ registry }) => registry))])
}

async function addRows(db: Database, rows: readonly SlowSearches[]): Promise<void> {
  // In one order on every node: two that add to the same rows then wait for each other and do not deadlock.
  await db.pool.query(
    `insert into slow_search (registry, record_type, attributes, searches, total_ms, max_ms, last_seen)
     select registry.id, record_type, names, searches, total_ms, max_ms, now()
     from jsonb_to_recordset($1) as new
       (registry int, record_type text, attributes jsonb, searches bigint, total_ms float8, max_ms float8)
       join registry on registry.id = new.registry,
       lateral (select coalesce(array_agg(name order by position), '{}') as names
         from jsonb_array_elements_text(attributes) with ordinality as element (name, position)) as attribute
     order by registry.id, record_type, names
     on conflict (registry, record_type, attributes) do update set
       searches = slow_search.searches + excluded.searches,
       total_ms = slow_search.total_ms + excluded.total_ms,
       max_ms = greatest(slow_search.max_ms, excluded.max_ms),
       last_seen = excluded.last_seen`,
    [JSON.stringify(rows)],
  )
}

async function forgetCheapest(db: Database, registries: readonly number[]): Promise<void> {
  // What another node adds to at this moment is left to that node.
  await db.pool.query(
    `delete from slow_search where (registry, record_type, attributes) in (
       select registry, record_type, attributes from slow_search
       where (registry, record_type, attributes) in (
         select registry, record_type, attributes from (
           select registry, record_type, attributes,
             row_number() over (partition by registry order by total_ms desc, record_type, attributes) as position
           from slow_search where registry = any($1)
         ) as ranked where position > $2
       ) for update skip locked
     )`,
    [registries, MOST_ROWS],
  )
}

/** Those of one registry, the most expensive first. */
export async function listSlowSearches(
  db: Database,
  registry: { readonly id: number },
): Promise<readonly (SlowSearches & { readonly last_seen: Date })[]> {
  const { rows } = await db.pool.query<SlowSearches & { readonly last_seen: Date }>(
    'select * from slow_search where registry = $1 order by total_ms desc, record_type, attributes',
    [registry.id],
  )
  return rows
}
