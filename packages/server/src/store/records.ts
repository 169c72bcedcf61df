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
  const { rows } = await db.pool.query<{ total: number; document: string | null }>({
    ...findStatement(recordTable(registry, recordType), sort),
    values: [type, value, limit, offset],
  })
  const documents = rows.flatMap((row) => (row.document === null ? [] : [row.document]))
  return { total: rows[0]?.total ?? 0, documents }
}

/**
 * The statement and, for at most one sort key, the name under which each connection prepares it once: two
 * names for each sortable attribute and one more for each table. Orders of several keys would have names
 * without number, and a peer chooses them; they are not prepared.
 *
 * The page is found first, in the identifier table alone unless there are sort keys; documents are read only
 * for the records in it. An empty page is one row without a document, which carries the total.
 */
export function findStatement(
  { table, identifierTable, recordType, columns }: RecordTable,
  sort: readonly SortKey[],
): { text: string; name?: string } {
  const keys = sort.map(({ attribute, descending }, index) => {
    const column = columns.find((candidate) => candidate.attribute.name === attribute)
    if (!column?.attribute.sortable || column.attribute.many) {
      throw new Error(`${recordType.name} cannot be sorted by ${attribute}`)
    }
    return { column: column.name, as: `key_${index + 1}`, direction: descending ? 'desc' : 'asc' }
  })
  const records = quoteName(table)
  const identifiers = quoteName(identifierTable)
  const selected = keys.map(({ column, as }) => `, keyed.${quoteName(column)} as ${as}`).join('')
  const keyed = keys.length > 0 ? ` join ${records} as keyed on keyed.id = identifier.record` : ''
  const order = [...keys.map(({ as, direction }) => `${as} ${direction} nulls last`), 'record'].join(', ')
  const text = `select (select count(*) from ${identifiers} where type = $1 and value = $2) as total, found.document
    from (values (true)) as always left join (
      select identifier.record${selected} from ${identifiers} as identifier${keyed}
      where identifier.type = $1 and identifier.value = $2
      order by ${order} limit $3 offset $4
    ) as page on true
    left join ${records} as found on found.id = page.record
    order by ${order}`
  if (keys.length > 1) return { text }
  return {
    text,
    name: joinName('find', table, ...keys.flatMap(({ column, direction }) => [column, direction])),
  }
}
