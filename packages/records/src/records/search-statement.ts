/** The statements that find records: by an identifier, and by any condition. */

import type { Identifier, Page, SortKey } from '@rollcall/core/model/records'
import { joinName, quoteName } from '@rollcall/database/names'
import type { NamedStatement } from '@rollcall/database/pipeline'
import { type RecordType, sortedIdentifiers } from '@rollcall/protocol'
import { attributeColumns, sortColumn } from './columns.ts'
import type { RecordTable } from './record-tables.ts'

/** A condition on a row of a record table that is called `record`. */
export interface Condition {
  readonly text: string
  /** The values of `$1` and so on in the text. */
  readonly values: readonly unknown[]
}

/**
 * SQL that is true of a record whose person is not protected, or is protected under one of these categories. It is the
 * same for every participant. `offset` keeps the planner from joining: only records that match otherwise are tested.
 * @param id SQL of the record's id
 * @param categories SQL of a list of categories
 */
export const isVisible = ({ registry, recordType }: RecordTable, id: string, categories: string): string =>
  `not exists (select 1 from protected_record as hidden
    where hidden.registry = ${registry} and hidden.record_type = '${quoted(recordType.name)}' and hidden.record = ${id}
      and hidden.category <> all(${categories}::text[]) offset 0)`

const quoted = (text: string): string => text.replaceAll("'", "''")

/** The look-up statement of each table, made once. */
const lookUps = new WeakMap<RecordTable, NamedStatement>()

/**
 * The look-up of an identifier, in no order, with the name under which each connection prepares it once. It takes the
 * ids of records from the identifier table alone.
 */
export function lookUpStatement(
  table: RecordTable,
  { type, value }: Identifier,
  { limit, offset, ids = 0, cap, categories = [] }: Page,
): NamedStatement {
  let statement = lookUps.get(table)
  if (statement === undefined) {
    const hit = `select identifier.record as id from ${quoteName(table.identifierTable)} as identifier
      where identifier.type = $1 and identifier.value = $2 and ${isVisible(table, 'identifier.record', '$7')}
      limit $6::bigint + 1`
    statement = { name: joinName('find', table.table), text: pageOfHits(table, hit, [], 2), values: [] }
    lookUps.set(table, statement)
  }
  return { ...statement, values: [type, value, limit, offset, ids, cap, categories] }
}

/** The statement that finds a page by a condition. */
export function searchStatement(
  table: RecordTable,
  condition: Condition,
  { sort, limit, offset, ids = 0, cap, categories = [] }: Page,
): { readonly text: string; readonly values: unknown[] } {
  if (!Number.isSafeInteger(cap)) throw new Error(`not a number of records: ${cap}`)
  const keys = sortKeys(table.recordType, sort)
  const before = condition.values.length
  const values = [...condition.values, limit, offset, ids, ...untilOf(sort), categories]
  // The cap is written into the text, because the best plan depends on the number of wanted hits.
  const hit = `select record.id${selected(keys, `$${before + 4}`)}
      from ${quoteName(table.table)} as record where (${condition.text})
      and ${isVisible(table, 'record.id', `$${values.length}`)} limit ${cap + 1}`
  return { text: pageOfHits(table, hit, keys, before), values }
}

/**
 * The one shape of a search: the hits with their sort keys first, so that documents are read for the page alone. A
 * page beyond the last one is one row without a record, which carries the total. The ids of all hits are in the
 * first row: once, not beside every document.
 * @param hit selects `id` and the sort keys
 * @param before the number of parameters before limit, offset and ids
 */
function pageOfHits({ table }: RecordTable, hit: string, keys: readonly OrderedColumn[], before: number): string {
  const [limit, offset, ids] = [1, 2, 3].map((next) => `$${before + next}::bigint`)
  const order = orderOf(keys)
  const inOrder = orderOf(keys, 'page.')
  return `with hit as materialized (
      ${hit}
    ),
    page as (select * from hit order by ${order} limit ${limit} offset ${offset})
    select counted.total, page.id, found.document,
      case when counted.total between 1 and ${ids} and row_number() over (order by ${inOrder}) = 1
        then array(select id from hit order by ${order}) end as ids
    from (select count(*) as total from hit) as counted left join page on true
    left join ${quoteName(table)} as found on found.id = page.id
    order by ${inOrder}`
}

interface OrderedColumn {
  readonly column: string
  readonly as: string
  readonly direction: 'asc' | 'desc'
  /** Whether the sort key depends on a day, after which a date is no value. */
  readonly bounded: boolean
}

/** The parameter with the day for sort keys that depend on it; empty when no key does. */
function untilOf(sort: readonly SortKey[]): string[] {
  return sort.flatMap(({ until }) => until ?? []).slice(0, 1)
}

function sortKeys(recordType: RecordType, sort: readonly SortKey[]): readonly OrderedColumn[] {
  return sort.map(({ attribute: name, descending, until }, index) => {
    return {
      column: orderColumn(recordType, name),
      as: `key_${index + 1}`,
      direction: descending ? 'desc' : 'asc',
      bounded: until !== undefined,
    }
  })
}

function orderColumn(recordType: RecordType, name: string): string {
  const { name: type, attributes, primary_identifier } = recordType
  if (name === primary_identifier) return 'primary_identifier'
  if (sortedIdentifiers(recordType).includes(name)) return sortColumn(name).name
  const attribute = attributes.find((candidate) => candidate.name === name)
  const [column] = attribute === undefined ? [] : attributeColumns(attribute)
  if (!attribute?.sortable || attribute.many || column === undefined) {
    throw new Error(`${type} cannot be sorted by ${name}`)
  }
  return column.name
}

/** @param until the parameter of `untilOf` */
function selected(keys: readonly OrderedColumn[], until: string): string {
  return keys
    .map(({ column, as, bounded }) => {
      const value = `record.${quoteName(column)}`
      return `, ${bounded ? `case when ${value} <= ${until}::date then ${value} end` : value} as ${as}`
    })
    .join('')
}

const orderOf = (keys: readonly OrderedColumn[], from = ''): string =>
  [...keys.map(({ as, direction }) => `${from}${as} ${direction} nulls last`), `${from}id`].join(', ')
