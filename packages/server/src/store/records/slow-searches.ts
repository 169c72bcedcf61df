/** Statistics of slow searches: the names of attributes they asked about, never what they looked for. */
import type { Database } from '../db/database.ts'

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
 * Adds to what is there already. Rows of a registry that is no more are passed over, and of each registry the most
 * expensive 1,000 stay.
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
       lateral (select coalesce(array_agg(name order by place), '{}') as names
         from jsonb_array_elements_text(attributes) with ordinality as element (name, place)) as attribute
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
             row_number() over (partition by registry order by total_ms desc, record_type, attributes) as place
           from slow_search where registry = any($1)
         ) as ranked where place > $2
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
  return db.kysely
    .selectFrom('slow_search')
    .selectAll()
    .where('registry', '=', registry.id)
    .orderBy('total_ms', 'desc')
    .orderBy('record_type')
    .orderBy('attributes')
    .execute()
}
