/** The statements that find records: by an identifier, and by any condition. */

import type { RecordType } from '@rollcall/protocol'
import type { Page, SortKey } from '../../model/records.ts'
import { joinName, quoteName } from '../db/names.ts'
import { attributeColumns } from './attribute-columns.ts'
import type { RecordTable } from './record-tables.ts'

/** Which records: true of a row of a record table by the name of `record`. */
export interface Condition {
  readonly text: string
  /** `$1` and so on of the text. */
  readonly values: readonly unknown[]
}

export interface FindStatement {
  readonly text: string
  readonly name?: string
}

/** Without an order there is one statement for each table, and every search asks for it; another with ids. */
const unsorted = {
  page: new WeakMap<RecordTable, FindStatement>(),
  ids: new WeakMap<RecordTable, FindStatement>(),
}

/**
 * The statement by which an identifier is looked up and, for at most one sort key, the name under which each
 * connection prepares it once: two names for each sortable attribute and one more for each table. Orders of several
 * keys would have names without number, and a peer chooses them; they are not prepared. Its values: the identifier's
 * type and value, limit, offset, cap, and those of `untilOf`.
 *
 * The identifier table alone counts; without an order it also gives the records in the page's order, and no
 * more of them are read than the page and what stands before it.
 *
 * @param ids whether the first row also has the ids of all hits, in the page's order, unless they are more than the
 * cap: a statement of its own, so that nobody else pays for it
 */
export function findStatement(table: RecordTable, sort: readonly SortKey[], ids = false): FindStatement {
  const made = unsorted[ids ? 'ids' : 'page']
  const known = sort.length === 0 ? made.get(table) : undefined
  if (known !== undefined) return known
  const statement = ids ? statementWithIds(table, sort) : makeStatement(table, sort)
  if (sort.length === 0) made.set(table, statement)
  return statement
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
      select identifier.record, found.document${selected(keys, 'found', '$6')}
      from ${identifiers} as identifier join ${quoteName(table)} as found on found.id = identifier.record
      where identifier.type = $1 and identifier.value = $2
      order by ${order} limit $3 offset $4
    ) as page on true
    order by ${order}`
  return named('find', table, keys, text)
}

function statementWithIds(
  { table, identifierTable, recordType }: RecordTable,
  sort: readonly SortKey[],
): FindStatement {
  const keys = sortKeys(recordType, sort)
  // The identifier table alone knows the ids; the records themselves are needed for an order.
  const ordered = keys.length > 0 ? ` join ${quoteName(table)} as found on found.id = identifier.record` : ''
  const text = `with hit as materialized (
      select identifier.record as id${selected(keys, 'found', '$6')}
      from ${quoteName(identifierTable)} as identifier${ordered}
      where identifier.type = $1 and identifier.value = $2 limit $5::bigint + 1
    ),
    ${pageOfHits(table, keys, { limit: '$3', offset: '$4', cap: '$5' })}`
  return named('find_ids', table, keys, text)
}

function named(verb: string, table: string, keys: readonly OrderedColumn[], text: string): FindStatement {
  if (keys.length > 1) return { text }
  return {
    text,
    name: joinName(
      verb,
      table,
      ...keys.flatMap(({ column, direction, bounded }) => [column, direction, ...(bounded ? ['until'] : [])]),
    ),
  }
}

/**
 * The statement that finds a page by a condition, `cap` and one hits at most: their ids and sort keys first, so that
 * documents are read for the page alone.
 * @param ids as in `findStatement`
 */
export function searchStatement(
  { table, recordType }: RecordTable,
  condition: Condition,
  { sort, limit, offset, cap }: Page,
  ids = false,
): { readonly text: string; readonly values: unknown[] } {
  if (!Number.isSafeInteger(cap)) throw new Error(`not a number of records: ${cap}`)
  const keys = sortKeys(recordType, sort)
  const next = condition.values.length + 1
  const paged = ids || offset > 0 ? [limit, offset] : [limit]
  const page = { limit: `$${next}::bigint`, offset: `$${next + 1}::bigint`, cap: ids ? String(cap) : null }
  // The cap stands in the text: how a condition is best looked up depends on how many hits are wanted.
  const text = `with hit as materialized (
      select record.id${selected(keys, 'record', `$${next + paged.length}`)}
      from ${quoteName(table)} as record where ${condition.text} limit ${cap + 1}
    ),
    ${paged.length > 1 ? pageOfHits(table, keys, page) : firstPage(table, keys, page.limit)}`
  return { text, values: [...condition.values, ...paged, ...untilOf(sort)] }
}

/** No row says that there are no hits. */
function firstPage(table: string, keys: readonly OrderedColumn[], limit: string): string {
  return `page as (select * from hit order by ${orderOf(keys, 'id')} limit ${limit})
    select (select count(*) from hit) as total, found.document
    from page join ${quoteName(table)} as found on found.id = page.id
    order by ${orderOf(keys, 'id', 'page.')}`
}

/**
 * A page beyond the last one is one row without a document, which carries the total.
 * @param page.cap given where the ids of all hits are selected too: above it, none are
 */
function pageOfHits(
  table: string,
  keys: readonly OrderedColumn[],
  { limit, offset, cap }: { readonly limit: string; readonly offset: string; readonly cap: string | null },
): string {
  const order = orderOf(keys, 'id')
  const inOrder = orderOf(keys, 'id', 'page.')
  const all =
    cap === null ? '' : `, case when count(*) <= ${cap} then array_agg(id order by ${order}) end as ids`
  // Once, not beside every document: they are many.
  const first =
    cap === null ? '' : `, case when row_number() over (order by ${inOrder}) = 1 then counted.ids end as ids`
  return `page as (select * from hit order by ${order} limit ${limit} offset ${offset})
    select counted.total, found.document${first}
    from (select count(*) as total${all} from hit) as counted left join page on true
    left join ${quoteName(table)} as found on found.id = page.id
    order by ${inOrder}`
}

interface OrderedColumn {
  readonly column: string
  readonly as: string
  readonly direction: 'asc' | 'desc'
  /** By a day, after which a date is no value. */
  readonly bounded: boolean
}

/** The day of the order's keys, as the last value of a statement; none where no key has one. */
export function untilOf(sort: readonly SortKey[]): string[] {
  return sort.flatMap(({ until }) => until ?? []).slice(0, 1)
}

function sortKeys(recordType: RecordType, sort: readonly SortKey[]): readonly OrderedColumn[] {
  return sort.map(({ attribute: name, descending, until }, index) => {
    const attribute = recordType.attributes.find((candidate) => candidate.name === name)
    const [column] = attribute === undefined ? [] : attributeColumns(attribute)
    if (!attribute?.sortable || attribute.many || column === undefined) {
      throw new Error(`${recordType.name} cannot be sorted by ${name}`)
    }
    return {
      column: column.name,
      as: `key_${index + 1}`,
      direction: descending ? 'desc' : 'asc',
      bounded: until !== undefined,
    }
  })
}

/** @param until the parameter that `untilOf` gives */
function selected(keys: readonly OrderedColumn[], from: string, until: string): string {
  return keys
    .map(({ column, as, bounded }) => {
      const value = `${from}.${quoteName(column)}`
      return `, ${bounded ? `case when ${value} <= ${until}::date then ${value} end` : value} as ${as}`
    })
    .join('')
}

const orderOf = (keys: readonly OrderedColumn[], last: string, from = ''): string =>
  [...keys.map(({ as, direction }) => `${from}${as} ${direction} nulls last`), `${from}${last}`].join(', ')
