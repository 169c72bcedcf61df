/** The statements that find records: by an identifier, and by any condition. */
import type { RecordType } from '@rollcall/protocol'
import { attributeColumns } from './attribute-columns.ts'
import { joinName, quoteName } from './names.ts'
import type { RecordTable } from './record-tables.ts'
import type { Condition, Page, SortKey } from './records.ts'

export interface FindStatement {
  readonly text: string
  readonly name?: string
}

/** Without an order there is one statement for each table, and every search asks for it. */
const unsorted = new WeakMap<RecordTable, FindStatement>()

/**
 * The statement by which an identifier is looked up and, for at most one sort key, the name under which each
 * connection prepares it once: two names for each sortable attribute and one more for each table. Orders of several
 * keys would have names without number, and a peer chooses them; they are not prepared. Its values: the identifier's
 * type and value, limit, offset, cap.
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
  { table, identifierTable, recordType }: RecordTable,
  sort: readonly SortKey[],
): FindStatement {
  const keys = sortKeys(recordType, sort)
  const identifiers = quoteName(identifierTable)
  const order = orderOf(keys, 'record')
  const text = `select counted.total, page.document
    from (
      select count(*) as total from (
        select from ${identifiers} where type = $1 and value = $2 limit $5::bigint + 1
      ) as hit
    ) as counted
    left join (
      select identifier.record, found.document${selected(keys, 'found')}
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

/**
 * The statement that finds a page by a condition, `cap` and one hits at most: their ids and sort keys first, so that
 * documents are read for the page alone.
 */
export function searchStatement(
  { table, recordType }: RecordTable,
  condition: Condition,
  { sort, limit, offset, cap }: Page,
): { readonly text: string; readonly values: unknown[] } {
  if (!Number.isSafeInteger(cap)) throw new Error(`not a number of records: ${cap}`)
  const keys = sortKeys(recordType, sort)
  const order = orderOf(keys, 'id')
  const next = condition.values.length + 1
  // The cap stands in the text: how a condition is best looked up depends on how many hits are wanted.
  const text = `with hit as materialized (
      select record.id${selected(keys, 'record')}
      from ${quoteName(table)} as record where ${condition.text} limit ${cap + 1}
    ),
    page as (select * from hit order by ${order} limit $${next}::bigint${offset === 0 ? '' : ` offset $${next + 1}::bigint`})
    ${offset === 0 ? FIRST_PAGE : LATER_PAGE} join ${quoteName(table)} as found on found.id = page.id
    order by ${orderOf(keys, 'id', 'page.')}`
  return { text, values: [...condition.values, limit, ...(offset === 0 ? [] : [offset])] }
}

/** No row says that there are no hits. */
const FIRST_PAGE = 'select (select count(*) from hit) as total, found.document from page'
/** A page beyond the last one is one row without a document, which carries the total. */
const LATER_PAGE = `select counted.total, found.document
    from (select count(*) as total from hit) as counted left join page on true left`

interface OrderedColumn {
  readonly column: string
  readonly as: string
  readonly direction: 'asc' | 'desc'
}

function sortKeys(recordType: RecordType, sort: readonly SortKey[]): readonly OrderedColumn[] {
  return sort.map(({ attribute: name, descending }, index) => {
    const attribute = recordType.attributes.find((candidate) => candidate.name === name)
    const [column] = attribute === undefined ? [] : attributeColumns(attribute)
    if (!attribute?.sortable || attribute.many || column === undefined) {
      throw new Error(`${recordType.name} cannot be sorted by ${name}`)
    }
    return { column: column.name, as: `key_${index + 1}`, direction: descending ? 'desc' : 'asc' }
  })
}

const selected = (keys: readonly OrderedColumn[], from: string): string =>
  keys.map(({ column, as }) => `, ${from}.${quoteName(column)} as ${as}`).join('')

const orderOf = (keys: readonly OrderedColumn[], last: string, from = ''): string =>
  [...keys.map(({ as, direction }) => `${from}${as} ${direction} nulls last`), `${from}${last}`].join(', ')
