/** Translates a predicate into an SQL condition, with every value as a parameter. */

import type { HasIdentifier, HasIdentifierType, Leaf, Predicate } from '@rollcall/core/model/predicate'
import type { Identifier } from '@rollcall/core/model/records'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { RecordTable } from '../record-tables.ts'
import type { SqlCondition } from '../search-statement.ts'
import { valueConditionSql } from './to-sql-leaves.ts'
import { elementConditionSql, elementPresenceSql } from './to-sql-lists.ts'
import { ParameterList, predicateTreeSql } from './to-sql-parts.ts'

/**
 * The SQL condition under which a row of the table, called `record`, matches the predicate. Names in the text come from
 * the kind; values of the query are parameters only. Replace ages first (`replaceAgesByDates`). Throws a TypeError for a
 * predicate that no reader of queries makes.
 */
export function predicateToSql(predicate: Predicate, table: RecordTable): SqlCondition {
  const values = new ParameterList()
  const text = predicateTreeSql(predicate, true, (leaf, asked) => recordLeafSql(leaf, asked, table, values))
  return { text, values: values.list }
}

function recordLeafSql(leaf: Leaf, asked: boolean, table: RecordTable, values: ParameterList): string {
  switch (leaf.is) {
    case 'some':
      return elementConditionSql(leaf, asked, values)
    case 'identifier':
      return hasIdentifierSql(leaf, asked, table, values)
    case 'identifier_type':
      return hasIdentifierTypeSql(leaf, asked, table, values)
    case 'exists':
      if (leaf.list !== undefined) return elementPresenceSql(leaf.list, leaf.attribute, asked, values)
      return valueConditionSql(leaf, asked, { alias: 'record', values })
    default:
      return valueConditionSql(leaf, asked, { alias: 'record', values })
  }
}

/**
 * Form for "definitely true": looks the identifiers up once, and finds records by their ids, also within an `or`. Form
 * for "definitely false": the record has identifiers of these types, and none of them is asked for.
 */
function hasIdentifierSql({ identifiers }: HasIdentifier, asked: boolean, table: RecordTable, values: ParameterList): string {
  const storable = identifiers.filter(({ type, value }) => isTextStorable(type) && isTextStorable(value))
  const from = `${quoteName(table.identifierTable)} as identifier`
  if (asked) {
    if (storable.length === 0) return 'false'
    return `record.id = any(array(select identifier.record from ${from} where ${oneOfIdentifiersSql(storable, values)}))`
  }
  const types = [...new Set(identifiers.map(({ type }) => type))].filter(isTextStorable)
  const own = `identifier.record = record.id and identifier.type = any(${values.add(types, 'text[]')})`
  if (storable.length === 0) return `exists (select 1 from ${from} where ${own})`
  return `(select bool_and(not (${oneOfIdentifiersSql(storable, values)})) from ${from} where ${own})`
}

function oneOfIdentifiersSql(identifiers: readonly Identifier[], values: ParameterList): string {
  const [only] = identifiers
  if (identifiers.length === 1 && only !== undefined) {
    return `identifier.type = ${values.add(only.type)} and identifier.value = ${values.add(only.value)}`
  }
  const types = values.add(
    identifiers.map(({ type }) => type),
    'text[]',
  )
  const texts = values.add(
    identifiers.map(({ value }) => value),
    'text[]',
  )
  return `(identifier.type, identifier.value) in (select type, value from unnest(${types}, ${texts}) as asked(type, value))`
}

function hasIdentifierTypeSql(
  { types }: HasIdentifierType,
  asked: boolean,
  { identifierTable }: RecordTable,
  values: ParameterList,
): string {
  const list = values.add(types.filter(isTextStorable), 'text[]')
  return `${asked ? 'exists' : 'not exists'} (select 1 from ${quoteName(identifierTable)} as identifier where identifier.record = record.id and identifier.type = any(${list}))`
}
