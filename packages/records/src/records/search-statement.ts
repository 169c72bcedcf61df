/** The statements that find records: by one identifier, or by any condition. */

import { oncePerObject } from '@rollcall/core/model/once-per'
import type { Identifier, SearchPageRequest, SortKey } from '@rollcall/core/model/records'
import { joinNameParts, quoteName } from '@rollcall/database/names'
import type { NamedStatement } from '@rollcall/database/pipeline'
import { type RecordType, sortedIdentifiers } from '@rollcall/protocol'
import { attributeColumns, identifierSortColumn } from './columns.ts'
import type { RecordTable } from './record-tables.ts'

/** SQL of a condition on a row of a record table; the row is called `record`. */
export interface SqlCondition {
  readonly text: string
  /** The values of the parameters `$1` and so on in the condition's text. */
  readonly values: readonly unknown[]
}

/**
 * SQL that is true for a record that is not protected, or whose categories are all among `categories`. The text is the same for
 * every participant. `offset 0` keeps the planner from turning the subquery into a join: only records that fulfil the other
 * conditions are tested.
 * @param id SQL of the record's id
 * @param categories SQL of a list of categories
 */
export const mayFindRecordSql = ({ registry, recordType }: RecordTable, id: string, categories: string): string =>
  `not exists (select 1 from protected_record as hidden
    where hidden.registry = ${registry} and hidden.record_type = '${escapeQuotes(recordType.name)}' and hidden.record = ${id}
      and hidden.category <> all(${categories}::text[]) offset 0)`

/**
 * SQL that is true when that of `mayFindRecordSql` is: the participant may find the record. It is for a statement that tests many
 * records: PostgreSQL finds out once whether the registry has a protected record of the type. If there is none, the records are
 * not tested one by one.
 */
const mayFindRecordAmongManySql = (table: RecordTable, id: string, categories: string): string =>
  `(not (select exists (select 1 from protected_record
      where registry = ${table.registry} and record_type = '${escapeQuotes(table.recordType.name)}'))
    or ${mayFindRecordSql(table, id, categories)})`

const escapeQuotes = (text: string): string => text.replaceAll("'", "''")

/** SQL expressions for the page of one search. Without `ids`, the statement does not return the ids of all hits. */
interface PageSql {
  readonly limit: string
  readonly offset: string
  readonly ids?: string
}

/** SQL expressions for the identifier and the page of one look-up. */
interface LookUpSql extends PageSql {
  readonly type: string
  readonly value: string
  readonly cap: string
  readonly categories: string
}

/**
 * SQL of a look-up by one identifier. The ids come from the identifier table; the record table is read only for the documents of
 * the page.
 */
function identifierLookUpSql(table: RecordTable, { type, value, cap, categories, ...place }: LookUpSql): string {
  const hit = `select identifier.record as id from ${quoteName(table.identifierTable)} as identifier
      where identifier.type = ${type} and identifier.value = ${value}
        and ${mayFindRecordSql(table, 'identifier.record', categories)} limit ${cap} + 1`
  return pageOfHitsSql(table, hit, [], place)
}

/**
 * The two statements for a look-up in a table: without and with the ids of all hits. Their texts are made once for each table;
 * the values are added for each look-up.
 */
const singleLookUpTexts = oncePerObject((table: RecordTable) => {
  const place = { limit: '$3::bigint', offset: '$4::bigint' }
  const asked = { type: '$1', value: '$2', ...place, cap: '$5::bigint', categories: '$6' }
  return {
    withoutIds: { name: joinNameParts('find', table.table), text: identifierLookUpSql(table, asked) },
    withIds: {
      name: joinNameParts('find', 'ids', table.table),
      text: identifierLookUpSql(table, { ...asked, ids: '$7::bigint' }),
    },
  }
})

/**
 * The statement that finds records by one identifier, ordered by id. Each connection prepares it once under its name.
 * It is faster than `groupedLookUpsStatement` with one look-up.
 */
export function lookUpStatement(
  table: RecordTable,
  { type, value }: Identifier,
  { limit, offset, ids = 0, cap, categories = [] }: SearchPageRequest,
): NamedStatement {
  const { withoutIds, withIds } = singleLookUpTexts(table)
  const values = [type, value, limit, offset, cap, categories]
  return ids === 0 ? { ...withoutIds, values } : { ...withIds, values: [...values, ids] }
}

export interface LookUp {
  readonly identifier: Identifier
  readonly page: SearchPageRequest
}

/** The statement for many look-ups in one table. Its text is made once for each table; the values are added later. */
const groupedLookUpsText = oncePerObject((table: RecordTable) => {
  const parts = ['type', 'value', 'limit', 'offset', 'ids', 'cap', 'categories'] as const
  const columns = Object.fromEntries(parts.map((part) => [part, `asked."${part}"`])) as unknown as LookUpSql
  const manyLookUpsText = `select asked.number::integer as number, found.*
      from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
        with ordinality as asked (${parts.map(quoteName)}, number)
        cross join lateral (${identifierLookUpSql(table, columns)}) as found order by asked.number, found.id`
  return { name: joinNameParts('find', 'many', table.table), text: manyLookUpsText }
})

/** The statement that does many look-ups in a table at once. A row has the number of its look-up, from 1. */
export function groupedLookUpsStatement(table: RecordTable, asked: readonly LookUp[]): NamedStatement {
  const pages = asked.map(({ page }) => page)
  const values = [
    asked.map(({ identifier }) => identifier.type),
    asked.map(({ identifier }) => identifier.value),
    pages.map(({ limit }) => limit),
    pages.map(({ offset }) => offset),
    pages.map(({ ids = 0 }) => ids),
    pages.map(({ cap }) => cap),
    // Each list of categories is written as text: in an array of arrays, all would need the same length.
    pages.map(({ categories = [] }) => `{${categories.join()}}`),
  ]
  return { ...groupedLookUpsText(table), values }
}

/** The statement that finds one page of the records that satisfy a condition. */
export function searchStatement(
  table: RecordTable,
  condition: SqlCondition,
  { sort, limit, offset, ids = 0, cap, categories = [] }: SearchPageRequest,
): { readonly text: string; readonly values: unknown[] } {
  if (!Number.isSafeInteger(cap)) throw new Error(`not a number of records: ${cap}`)
  const keys = sortKeyColumns(table.recordType, sort)
  const before = condition.values.length
  const values = [...condition.values, limit, offset, categories, ...sortUntilParameters(sort), ...(ids === 0 ? [] : [ids])]
  // The cap is written into the text, because the best plan of PostgreSQL depends on it.
  const hit = `select record.id${selectSortKeysSql(keys, `$${before + 4}`)}
      from ${quoteName(table.table)} as record where (${condition.text})
      and ${mayFindRecordAmongManySql(table, 'record.id', `$${before + 3}`)} limit ${cap + 1}`
  const place = { limit: `$${before + 1}::bigint`, offset: `$${before + 2}::bigint` }
  const asked = ids === 0 ? place : { ...place, ids: `$${values.length}::bigint` }
  return { text: pageOfHitsSql(table, hit, keys, asked), values }
}

/**
 * The form that every search has: it finds ids and sort keys first, then reads documents for the page alone. With `ids`, the
 * first row has the ids of all hits, unless there are more than `ids` hits. A page after the last one is one row with the total.
 * @param hit SQL that selects `id` and the sort keys
 */
function pageOfHitsSql(
  { table }: RecordTable,
  hit: string,
  keys: readonly SortKeyColumn[],
  { limit, offset, ids }: PageSql,
): string {
  const order = sortOrderSql(keys)
  const inOrder = sortOrderSql(keys, 'page.')
  return `with hit as materialized (
      ${hit}
    ),
    page as (select * from hit order by ${order} limit ${limit} offset ${offset})
    select (select count(*) from hit) as total, page.id,
      (select document from ${quoteName(table)} as found where found.id = page.id) as document${selectIdsSql(ids, keys)}
    from (select 1) as one left join page on true
    order by ${inOrder}`
}

/** SQL that adds the ids of all hits to the first row of the page, if there are at most as many as the SQL `ids` says. */
function selectIdsSql(ids: string | undefined, keys: readonly SortKeyColumn[]): string {
  if (ids === undefined) return ''
  return `, case when (select count(*) from hit) between 1 and ${ids} and row_number() over (order by ${sortOrderSql(keys, 'page.')}) = 1
    then array(select id from hit order by ${sortOrderSql(keys)}) end as ids`
}

interface SortKeyColumn {
  readonly column: string
  readonly as: string
  readonly direction: 'asc' | 'desc'
  /** True when the sort key has a last day (`until`): a date after that day sorts as a missing value. */
  readonly bounded: boolean
}

/** The day that limits sort keys, as a list with one parameter; empty when no sort key is limited. */
function sortUntilParameters(sort: readonly SortKey[]): string[] {
  return sort.flatMap(({ until }) => until ?? []).slice(0, 1)
}

function sortKeyColumns(recordType: RecordType, sort: readonly SortKey[]): readonly SortKeyColumn[] {
  return sort.map(({ attribute: name, descending, until }, index) => {
    return {
      column: orderColumnName(recordType, name),
      as: `key_${index + 1}`,
      direction: descending ? 'desc' : 'asc',
      bounded: until !== undefined,
    }
  })
}

function orderColumnName(recordType: RecordType, name: string): string {
  const { name: type, attributes, primary_identifier } = recordType
  if (name === primary_identifier) return 'primary_identifier'
  if (sortedIdentifiers(recordType).includes(name)) return identifierSortColumn(name).name
  const attribute = attributes.find((candidate) => candidate.name === name)
  const [column] = attribute === undefined ? [] : attributeColumns(attribute)
  if (!attribute?.sortable || attribute.many || column === undefined) {
    throw new Error(`${type} cannot be sorted by ${name}`)
  }
  return column.name
}

/** SQL that adds the values of the sort keys to a `select`. @param until the parameter from `sortUntilParameters` */
function selectSortKeysSql(keys: readonly SortKeyColumn[], until: string): string {
  return keys
    .map(({ column, as, bounded }) => {
      const value = `record.${quoteName(column)}`
      return `, ${bounded ? `case when ${value} <= ${until}::date then ${value} end` : value} as ${as}`
    })
    .join('')
}

const sortOrderSql = (keys: readonly SortKeyColumn[], from = ''): string =>
  [...keys.map(({ as, direction }) => `${from}${as} ${direction} nulls last`), `${from}id`].join(', ')
