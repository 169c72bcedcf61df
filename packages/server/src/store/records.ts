/** Reading records. */
import type { RecordType } from '@rollcall/protocol'
import type { Database } from './database.ts'
import { joinName, quoteName } from './names.ts'
import { type RecordTable, type RegistryShape, recordTable } from './record-tables.ts'
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
  /** Records. */
  readonly limit: number
  /** Records passed over before the first one; may lie beyond the last. */
  readonly offset: number
}

export interface Found {
  /** Of all that match, not only this page's. */
  readonly total: number
  /** Canonical JSON texts, to be sent as they are. */
  readonly documents: readonly string[]
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
  { sort, limit, offset }: Page,
): Promise<Found> {
  if (!isStorable(type) || !isStorable(value)) return { total: 0, documents: [] }
  const { name, text } = findStatement(recordTable(registry, recordType), sort)
  const values = [type, value, limit, offset]
  // An order of many records may take its time: on a connection where nothing stands behind it.
  const rows =
    name !== undefined && sort.length === 0
      ? await db.pipeline.query<FoundRow>({ name, text, values })
      : (await db.pool.query<FoundRow>({ ...(name !== undefined && { name }), text, values })).rows
  const documents = rows.flatMap((row) => (row.document === null ? [] : [row.document]))
  return { total: rows[0]?.total ?? 0, documents }
}

/** The page of one statement; an empty one is one row without a document, which carries the total. */
interface FoundRow {
  readonly total: number
  readonly document: string | null
}

interface FindStatement {
  readonly text: string
  readonly name?: string
}

/** Without an order there is one statement for each table, and every search asks for it. */
const unsorted = new WeakMap<RecordTable, FindStatement>()

/**
 * The statement and, for at most one sort key, the name under which each connection prepares it once: two
 * names for each sortable attribute and one more for each table. Orders of several keys would have names
 * without number, and a peer chooses them; they are not prepared.
 *
 * The identifier table alone counts; without an order it also gives the records in the page's order, and no
 * more of them are read than the page and what stands before it.
 */
export function findStatement(table: RecordTable, sort: readonly SortKey[]): FindStatement {
  const known = sort.length === 0 ? unsorted.get(table) : undefined
  if (known !== undefined) return known
  const made = makeStatement(table, sort)
  if (sort.length === 0) unsorted.set(table, made)
  return made
}

function makeStatement(
  { table, identifierTable, recordType, columns }: RecordTable,
  sort: readonly SortKey[],
): FindStatement {
  const keys = sort.map(({ attribute, descending }, index) => {
    const column = columns.find((candidate) => candidate.attribute.name === attribute)
    if (!column?.attribute.sortable || column.attribute.many) {
      throw new Error(`${recordType.name} cannot be sorted by ${attribute}`)
    }
    return { column: column.name, as: `key_${index + 1}`, direction: descending ? 'desc' : 'asc' }
  })
  const identifiers = quoteName(identifierTable)
  const selected = keys.map(({ column, as }) => `, found.${quoteName(column)} as ${as}`).join('')
  const order = [...keys.map(({ as, direction }) => `${as} ${direction} nulls last`), 'record'].join(', ')
  const text = `select counted.total, page.document
    from (select count(*) as total from ${identifiers} where type = $1 and value = $2) as counted
    left join (
      select identifier.record, found.document${selected}
      from ${identifiers} as identifier join ${quoteName(table)} as found on found.id = identifier.record
      where identifier.type = $1 and identifier.value = $2
      order by ${order} limit $3 offset $4
    ) as page on true
    order by ${order}`
  if (keys.length > 1) return { text }
  return {
    text,
    name: joinName('find', table, ...keys.flatMap(({ column, direction }) => [column, direction])),
  }
}
