/**
 * SQL of conditions on some element of a list. Where an index can help, the whole list is compared with the values of
 * the condition; other conditions test the elements one by one.
 */

import {
  attributesMentionedIn,
  type Comparison,
  type ElementList,
  isCompound,
  type Leaf,
  type Literal,
  leavesOf,
  type OneOf,
  type Predicate,
  type SomeElement,
} from '@rollcall/core/model/predicate'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { Attribute, AttributeScalar, Compound } from '@rollcall/protocol'
import { attributeColumns, compoundColumn, memberJsonWriter } from '../columns.ts'
import { columnPresenceSql, sqlTypeOf, storableValues, valueConditionSql } from './to-sql-leaves.ts'
import { conjuncts, joinConditions, type ParameterList, predicateTreeSql, truthForEmptyElement } from './to-sql-parts.ts'

/** SQL that is true when "some element satisfies the predicate" is definitely true (`asked`), or definitely false. */
export function elementConditionSql({ list, of }: SomeElement, asked: boolean, values: ParameterList): string {
  const form = asked ? someElementSql(list, of, values) : everyElementFalseSql(list, of, values)
  if (truthForEmptyElement(of) !== asked) return form
  const counted = `select 1 from ${elementRowsSql(list, of)}${relevantElementWhereSql(list, of, values)}`
  return `(${form} or not exists (${counted}))`
}

/** SQL that is true when some element has the attribute (`asked`), or when none has it (not `asked`). */
export function elementPresenceSql(list: ElementList, attribute: Attribute, asked: boolean, values: ParameterList): string {
  if (!isCompound(list)) return columnPresenceSql(attribute, asked, { alias: 'record', values })
  const column = compoundColumnSql(list)
  const has = `${column} @? '$[*].${quoteName(firstColumnName(attribute))}'`
  return asked ? has : `(${column} is null or not ${has})`
}

function someElementSql(list: ElementList, of: Predicate, values: ParameterList): string {
  const asksPresence = leavesOf(of).some(({ is }) => is === 'exists')
  // Each alternative is tested on the list separately, so that each can use its own index.
  if (of.is === 'or' && !asksPresence) {
    return joinConditions(
      'or',
      of.of.map((part) => someElementSql(list, part, values)),
    )
  }
  const contained = isCompound(list) ? objectContainmentConditions(list, of, values) : listContainmentConditions(list, of, values)
  if (contained.exact) return contained.forms[0] ?? 'false'
  const conditions = [predicateTreeSql(of, true, makeElementLeafWriter(values))]
  if (asksPresence) conditions.unshift(...relevantElementConditions(list, of, values))
  const exists = `exists (select 1 from ${elementRowsSql(list, of)} where ${conditions.join(' and ')})`
  return joinConditions('and', [...contained.forms, exists])
}

/** SQL for "definitely false": some elements count (`relevantElementConditions`), and the predicate is false for all of these. */
function everyElementFalseSql(list: ElementList, of: Predicate, values: ParameterList): string {
  // A containment condition can replace the whole predicate if the predicate is a single condition, and the list is neither a
  // compound nor of dates. In other cases none is made: that would add a parameter, and PostgreSQL cannot determine the type of a
  // parameter that the statement does not use.
  if (!isCompound(list) && list.type !== 'date' && conjuncts(of).length === 1) {
    const [form] = listContainmentConditions(list, of, values).forms
    if (form !== undefined) return `(${columnPresenceSql(list, true, { alias: 'record', values })} and not ${form})`
  }
  const where = relevantElementWhereSql(list, of, values)
  return `(select bool_and((${predicateTreeSql(of, false, makeElementLeafWriter(values))}) is true) from ${elementRowsSql(list, of)}${where})`
}

function makeElementLeafWriter(values: ParameterList): (leaf: Leaf, asked: boolean) => string {
  return (leaf, asked) => {
    if (leaf.is !== 'compare' && leaf.is !== 'in' && leaf.is !== 'exists') {
      throw new TypeError('an element is asked for its own attributes only')
    }
    return valueConditionSql(leaf, asked, { alias: 'element', values })
  }
}

/**
 * SQL conditions that select the elements which count for a predicate: those with at least one of the attributes that the
 * predicate mentions. Empty for a list of one attribute, where every element counts.
 */
function relevantElementConditions(list: ElementList, of: Predicate, values: ParameterList): readonly string[] {
  if (!isCompound(list)) return []
  const forms = attributesMentionedIn(of).map((attribute) => columnPresenceSql(attribute, true, { alias: 'element', values }))
  return [joinConditions('or', forms)]
}

function relevantElementWhereSql(list: ElementList, of: Predicate, values: ParameterList): string {
  const counted = relevantElementConditions(list, of, values)
  return counted.length === 0 ? '' : ` where ${counted.join(' and ')}`
}

/** SQL for a `from` clause: a row for each element of the list, with the columns that the predicate mentions. */
function elementRowsSql(list: ElementList, of: Predicate): string {
  if (!isCompound(list)) {
    const columns = attributeColumns(list).map(({ name }) => quoteName(name))
    const arrays = columns.map((column) => `record.${column}`)
    return `unnest(${arrays.join(', ')}) as element(${columns.join(', ')})`
  }
  const columns = attributesMentionedIn(of)
    .flatMap(attributeColumns)
    .map(({ name, definition }) => `${quoteName(name)} ${definition}`)
  return `jsonb_to_recordset(${compoundColumnSql(list)}) as element(${columns.join(', ')})`
}

/**
 * SQL conditions on a whole list, such as `@>`. If some element satisfies the predicate, all of them are true. `exact`: if all
 * of them are true, some element satisfies the predicate, so the SQL need not test the elements.
 */
interface WholeListConditions {
  readonly forms: readonly string[]
  readonly exact: boolean
}

const NO_WHOLE_LIST_CONDITIONS: WholeListConditions = { forms: [], exact: false }

function listContainmentConditions(list: Attribute, of: Predicate, values: ParameterList): WholeListConditions {
  const parts = conjuncts(of)
  const [only] = parts
  const forms = parts.flatMap((part) => {
    if (part.is === 'compare' && part.operator === 'eq') return containmentConditions(list, part.value, values)
    return part.is === 'in' ? arrayOverlapConditions(list, part, values) : []
  })
  // A date has two columns, and this condition compares only the first day, so it is never exact.
  return { forms, exact: parts.length === 1 && forms.length === 1 && only !== undefined && list.type !== 'date' }
}

function containmentConditions(list: Attribute, value: Literal, values: ParameterList): readonly string[] {
  const single = storableSingleValue(value)
  if (single === null) return []
  return quotedArrayColumns(list).map((column) => `${column} @> array[${values.add(single)}]::${sqlTypeOf(list)}[]`)
}

function arrayOverlapConditions(list: Attribute, { values: literals }: OneOf, values: ParameterList): readonly string[] {
  const storable = storableValues(literals).map((value) => storableSingleValue(value))
  if (storable.length === 0 || storable.includes(null)) return []
  return quotedArrayColumns(list).map((column) => `${column} && ${values.add(storable, `${sqlTypeOf(list)}[]`)}`)
}

/** The column whose array is compared with the searched values; for dates, the column of the first days only. */
function quotedArrayColumns(list: Attribute): readonly string[] {
  return [`record.${quoteName(firstColumnName(list))}`]
}

/** The stored form of a literal that is one value; null for a literal that is a longer period or cannot be stored. */
function storableSingleValue(value: Literal): string | number | boolean | null {
  if (typeof value === 'string') return isTextStorable(value) ? value : null
  if (typeof value !== 'object') return value
  return value.from === value.to ? value.from : null
}

/**
 * The condition that one element has the value of each equality, and one of the values of the `in` that has the fewest. If the
 * predicate has other conditions, such as an equality with a longer period, they are left out, and `exact` is false.
 */
function objectContainmentConditions(compound: Compound, of: Predicate, values: ParameterList): WholeListConditions {
  const parts = conjuncts(of)
  const equalities = parts.filter((part): part is Comparison => part.is === 'compare' && part.operator === 'eq')
  const written = new Map<Attribute, string>()
  for (const { attribute, value } of equalities) {
    const text = memberJsonText(attribute, value)
    if (text !== null && !written.has(attribute)) written.set(attribute, text)
  }
  const choice = findShortestListOfInValues(
    parts.filter((part): part is OneOf => part.is === 'in' && !written.has(part.attribute)),
  )
  const asked = written.size + (choice === null ? 0 : 1)
  if (asked === 0) return orContainmentConditions(compound, parts, values)
  const column = compoundColumnSql(compound)
  const exact = asked === parts.length
  const common = [...written.values()]
  if (choice === null) {
    return { forms: [`${column} @> ${values.add(`[{${common.join(',')}}]`, 'jsonb')}`], exact }
  }
  const objects = choice.map((text) => `[{${[...common, text].join(',')}}]`)
  return { forms: [`${column} @> any(${values.add(objects, 'jsonb[]')})`], exact }
}

/** The condition for an `or` in which each side says what one element contains: at least one side must be true. */
function orContainmentConditions(compound: Compound, parts: readonly Predicate[], values: ParameterList): WholeListConditions {
  const either = parts.find((part) => part.is === 'or' && isContainmentPossible(part))
  if (either?.is !== 'or') return NO_WHOLE_LIST_CONDITIONS
  const sides = either.of.map((side) => joinConditions('and', objectContainmentConditions(compound, side, values).forms))
  return { forms: [joinConditions('or', sides)], exact: false }
}

/** True when `objectContainmentConditions` can make an SQL condition from the predicate or from a part of it. */
function isContainmentPossible(of: Predicate): boolean {
  switch (of.is) {
    case 'and':
      return of.of.some(isContainmentPossible)
    case 'or':
      return of.of.every(isContainmentPossible)
    case 'compare':
      return of.operator === 'eq' && storableSingleValue(of.value) !== null
    case 'in':
      return hasOnlySingleValues(of)
    default:
      return false
  }
}

/** True when there are storable values, and each of them is one value, not a longer period. */
function hasOnlySingleValues({ values }: OneOf): boolean {
  const storable = storableValues(values)
  return storable.length > 0 && storable.every((value) => storableSingleValue(value) !== null)
}

/** Returns the shortest list of values among the `in` conditions, as JSON texts; null when no list has only single values. */
function findShortestListOfInValues(parts: readonly OneOf[]): readonly string[] | null {
  let shortest: readonly string[] | null = null
  for (const { attribute, values } of parts) {
    const texts = storableValues(values).map((value) => memberJsonText(attribute, value))
    if (texts.length === 0 || texts.includes(null)) continue
    if (shortest === null || texts.length < shortest.length) shortest = texts as string[]
  }
  return shortest
}

/** A member of an element as stored, with the literal's value; null when the literal is not one storable value. */
function memberJsonText(attribute: Attribute, value: Literal): string | null {
  const single = storableSingleValue(value)
  if (single === null) return null
  const scalar: AttributeScalar = attribute.type === 'date' && typeof value === 'object' ? value : single
  return memberJsonWriter(attribute)(scalar)
}

const compoundColumnSql = (compound: Compound): string => `record.${quoteName(compoundColumn(compound).name)}`

const firstColumnName = (attribute: Attribute): string => attributeColumns(attribute)[0]?.name ?? ''
