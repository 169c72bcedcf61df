/** Reading records. */
import type { RecordType } from '@rollcall/protocol'
import type { Database } from './database.ts'
import { type RecordTable, type RegistryShape, recordTable } from './record-tables.ts'
import { findStatement, searchStatement } from './search-statement.ts'
import { StatementNames } from './statement-names.ts'
import { isStorable } from './text.ts'

export interface Identifier {
  /** The canonical name of an identifier type. */
  readonly type: string
  /** As its type's normaliser leaves it. */
  readonly value: string
}

/** One key of an order of records. */
export interface SortKey {
  /** The canonical name of a sortable attribute; a date sorts by its first day. */
  readonly attribute: string
  readonly descending: boolean
}

export interface Page {
  /** Most significant first; records without a value come last, ties stand in the order they were added. */
  readonly sort: readonly SortKey[]
  /** Records, at least 1. */
  readonly limit: number
  /** Records passed over before the first one; may lie beyond the last. */
  readonly offset: number
  /** Where counting stops: above it, how many there are is not asked. */
  readonly cap: number
}

/** Which records: true of a row of a record table by the name of `record`. */
export interface Condition {
  readonly text: string
  /** `$1` and so on of the text. */
  readonly values: readonly unknown[]
}

export interface Found {
  /** Of all that match, not only this page's; the cap and one when there are more than the cap. */
  readonly total: number
  /** Canonical JSON texts, to be sent as they are. */
  readonly documents: readonly string[]
}

/** The page of one statement; one that lies beyond the last is one row without a document, which carries the total. */
interface FoundRow {
  readonly total: number
  readonly document: string | null
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
): Promise<Found> {
  if (!isStorable(type) || !isStorable(value)) return { total: 0, documents: [] }
  const { name, text } = findStatement(recordTable(registry, recordType), sort)
  const values = [type, value, limit, offset, cap]
  // An order of many records may take its time: on a connection where nothing stands behind it.
  const rows =
    name !== undefined && sort.length === 0
      ? await db.pipeline.query<FoundRow>({ name, text, values })
      : (await db.searches.query<FoundRow>({ ...(name !== undefined && { name }), text, values })).rows
  return foundIn(rows)
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
): Promise<Found> {
  const { text, values } = searchStatement(table, condition, page)
  const name = names.nameOf(text)
  if (name === undefined) return foundIn((await db.searches.query<FoundRow>({ text, values })).rows)
  const started = performance.now()
  try {
    return foundIn((await db.searches.query<FoundRow>({ name, text, values })).rows)
  } finally {
    if (performance.now() - started > SLOW) names.wasSlow(text)
  }
}

function foundIn(rows: readonly FoundRow[]): Found {
  const documents = rows.flatMap((row) => (row.document === null ? [] : [row.document]))
  return { total: rows[0]?.total ?? 0, documents }
}
