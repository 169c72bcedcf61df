/** Reading records. */

import type { RecordType } from '@rollcall/protocol'
import type { Found, Identifier, Page } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { joinName, quoteName } from '../db/names.ts'
import { type Snapshot, tried } from '../db/snapshot.ts'
import { StatementNames } from '../db/statement-names.ts'
import { isStorable } from '../db/text.ts'
import { type RecordTable, recordTable } from './record-tables.ts'
import { type Condition, findStatement, searchStatement, untilOf } from './search-statement.ts'

/** How it is read, where that is not the usual way. */
export interface Reading {
  /** Whether the ids of all that match are read as well, in the same statement. */
  readonly ids?: boolean
  /** The state of the database to read; by default the newest. */
  readonly snapshot?: Snapshot
}

/**
 * The page of one statement; one that lies beyond the last is one row without a document, which carries the total.
 * The first row carries the ids.
 */
interface FoundRow {
  readonly total: number
  readonly document: string | null
  readonly ids?: readonly number[] | null
}

/**
 * The records of one type that bear an identifier, as their own or as a part's, a page of them. One statement.
 * Throws an Error for a sort by what is not a sortable attribute of the record type: the caller has checked.
 */
export async function findByIdentifier(
  db: Database,
  registry: RegistryShape,
  recordType: RecordType,
  { type, value }: Identifier,
  { sort, limit, offset, cap }: Page,
  { ids = false, snapshot }: Reading = {},
): Promise<Found> {
  if (!isStorable(type) || !isStorable(value)) {
    return { total: 0, documents: [], ...(ids && { ids: [] }) }
  }
  const { name, text } = findStatement(recordTable(registry, recordType), sort, ids)
  const values = [type, value, limit, offset, cap, ...untilOf(sort)]
  // An order of many records may take its time: on a connection where nothing stands behind it.
  if (snapshot === undefined && name !== undefined && sort.length === 0) {
    return foundIn(await db.pipeline.query<FoundRow>({ name, text, values }), ids)
  }
  const statement = { ...(name !== undefined && { name }), text, values }
  const { rows } = await (snapshot ?? (ids ? db.jobSearches : db.searches)).query<FoundRow>(statement)
  return foundIn(rows, ids)
}

/** Of this process: names are unique on a connection, whichever database it leads to. */
const names = new StatementNames(100)
/** Milliseconds after which a plan for any values may have been the wrong one. */
const SLOW = 100

/**
 * The records that satisfy a condition, a page of them. One statement, which stops at the first record beyond the
 * cap: a page of a result that is larger than the cap is a page of some of it.
 * Throws an Error for a sort by what is not a sortable attribute of the record type: the caller has checked.
 */
export async function findRecords(
  db: Database,
  table: RecordTable,
  condition: Condition,
  page: Page,
  { ids = false, snapshot }: Reading = {},
): Promise<Found> {
  const { text, values } = searchStatement(table, condition, page, ids)
  const name = names.nameOf(text)
  const statement = { ...(name !== undefined && { name }), text, values }
  const started = performance.now()
  try {
    const { rows } =
      snapshot === undefined
        ? await (ids ? db.jobSearches : db.searches).query<FoundRow>(statement)
        : await tried(snapshot, () => snapshot.query<FoundRow>(statement))
    return foundIn(rows, ids)
  } finally {
    if (name !== undefined && performance.now() - started > SLOW) names.wasSlow(text)
  }
}

/** The documents of these records, in this order; of those that are not there any more, nothing. */
export async function readDocuments(
  { jobSearches }: Pick<Database, 'jobSearches'>,
  { table }: RecordTable,
  ids: readonly number[],
): Promise<readonly string[]> {
  const { rows } = await jobSearches.query<{ document: string }>({
    name: joinName('documents', table),
    text: `select document from unnest($1::bigint[]) with ordinality as wanted (id, place)
      join ${quoteName(table)} using (id) order by place`,
    values: [ids],
  })
  return rows.map(({ document }) => document)
}

function foundIn(rows: readonly FoundRow[], withIds: boolean): Found {
  const documents = rows.flatMap((row) => (row.document === null ? [] : [row.document]))
  const [first] = rows
  const ids = withIds ? { ids: first?.ids ?? [] } : {}
  return { total: first?.total ?? 0, documents, ...ids }
}
