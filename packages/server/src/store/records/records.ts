/** Reading records. */

import type { RecordType } from '@rollcall/protocol'
import type { Found, FoundRecord, Identifier, Page, RecordId } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { joinName, quoteName } from '../db/names.ts'
import { type Snapshot, tried } from '../db/snapshot.ts'
import { StatementNames } from '../db/statement-names.ts'
import { isStorable } from '../db/text.ts'
import { type RecordTable, recordTable } from './record-tables.ts'
import { type Condition, findStatement, searchStatement, untilOf } from './search-statement.ts'

/** How the records of an exchange are read that is answered later. */
export interface Reading {
  /** The state of the database to read; by default the newest. */
  readonly snapshot?: Snapshot
}

/** A page that lies beyond the last is one row without a record, which carries the total. The first row carries the ids. */
interface FoundRow {
  readonly total: number
  readonly id: RecordId | null
  readonly document: string | null
  readonly ids: readonly RecordId[] | null
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
  { sort, limit, offset, ids = 0, cap }: Page,
  reading?: Reading,
): Promise<Found> {
  if (!isStorable(type) || !isStorable(value)) return { total: 0, records: [], ids: [] }
  const { name, text } = findStatement(recordTable(registry, recordType), sort)
  const values = [type, value, limit, offset, ids, cap, ...untilOf(sort)]
  // An order of many records may take its time: on a connection where nothing stands behind it.
  if (reading?.snapshot === undefined && name !== undefined && sort.length === 0) {
    return foundIn(await db.pipeline.query<FoundRow>({ name, text, values }))
  }
  const statement = { ...(name !== undefined && { name }), text, values }
  const { rows } = await connectionOf(db, reading).query<FoundRow>(statement)
  return foundIn(rows)
}

const connectionOf = ({ searches, jobSearches }: Database, reading: Reading | undefined) =>
  reading === undefined ? searches : (reading.snapshot ?? jobSearches)

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
  reading?: Reading,
): Promise<Found> {
  const { text, values } = searchStatement(table, condition, page)
  const name = names.nameOf(text)
  const statement = { ...(name !== undefined && { name }), text, values }
  const started = performance.now()
  try {
    const snapshot = reading?.snapshot
    const connection = connectionOf(db, reading)
    const query = () => connection.query<FoundRow>(statement)
    const { rows } = await (snapshot === undefined ? query() : tried(snapshot, query))
    return foundIn(rows)
  } finally {
    if (name !== undefined && performance.now() - started > SLOW) names.wasSlow(text)
  }
}

/** These records, in this order; of those that are not there any more, nothing. */
export async function readRecords(
  { jobSearches }: Pick<Database, 'jobSearches'>,
  { table }: RecordTable,
  ids: readonly RecordId[],
): Promise<readonly FoundRecord[]> {
  const { rows } = await jobSearches.query<FoundRecord>({
    name: joinName('documents', table),
    text: `select id, document from unnest($1::bigint[]) with ordinality as wanted (id, position)
      join ${quoteName(table)} using (id) order by position`,
    values: [ids],
  })
  return rows
}

function foundIn(rows: readonly FoundRow[]): Found {
  const [first] = rows
  const records = rows.flatMap(({ id, document }) =>
    id === null || document === null ? [] : [{ id, document }],
  )
  return { total: first?.total ?? 0, records, ids: first?.ids ?? [] }
}
