/**
 * SQL of conditions on one value: the value of a record's column, or of a list's element. Each condition has two forms:
 * SQL that is true when the condition is definitely true, and SQL that is true when it is definitely false. If the
 * value is missing, neither form of a comparison is true.
 */

import type { Comparator, Comparison, HasValue, Interval, Literal, OneOf } from '@rollcall/core/model/predicate'
import { quoteName } from '@rollcall/database/names'
import { isTextStorable } from '@rollcall/database/text'
import type { Attribute, AttributeType } from '@rollcall/protocol'
import { attributeColumns } from '../columns.ts'
import { firstTextAfterPrefix, type OrderOperator, type ParameterList, toStorableBound } from './to-sql-parts.ts'

/** A condition on one value: a comparison, a choice of values, or that there is a value. */
export type ValueLeaf = Comparison | OneOf | HasValue

/** The alias of the row that a condition tests, and the statement's parameters, to which the condition's literals are added. */
export interface RowAndParameters {
  readonly alias: 'record' | 'element'
  readonly values: ParameterList
}

/**
 * SQL of a condition on an attribute. The condition may have a last day (`until`): a date in a record after that day counts as
 * missing. `asked` chooses the form: true for "definitely true", false for "definitely false".
 */
export function valueConditionSql(leaf: ValueLeaf, asked: boolean, operand: RowAndParameters): string {
  if (leaf.until === undefined) return conditionWithoutUntilSql(leaf, asked, operand)
  const from = firstColumnSql(leaf.attribute, operand)
  const until = operand.values.add(leaf.until, sqlTypeOf(leaf.attribute))
  if (leaf.is !== 'exists') return `(${conditionWithoutUntilSql(leaf, asked, operand)} and ${from} <= ${until})`
  return asked ? `${from} <= ${until}` : `(${from} is null or ${from} > ${until})`
}

function conditionWithoutUntilSql(leaf: ValueLeaf, asked: boolean, operand: RowAndParameters): string {
  switch (leaf.is) {
    case 'exists':
      return columnPresenceSql(leaf.attribute, asked, operand)
    case 'in':
      return inConditionSql(leaf, asked, operand)
    case 'compare':
      return COMPARISON_BY_TYPE[leaf.attribute.type](leaf, asked, operand)
  }
}

/** SQL that is true when the attribute has a value; with `asked` false, when it has none. */
export function columnPresenceSql(attribute: Attribute, asked: boolean, operand: RowAndParameters): string {
  return `${firstColumnSql(attribute, operand)} is ${asked ? 'not null' : 'null'}`
}

type WriteComparisonSql = (leaf: Comparison, asked: boolean, operand: RowAndParameters) => string

const COMPARISON_BY_TYPE: Readonly<Record<AttributeType, WriteComparisonSql>> = {
  text: textComparisonSql,
  code: textComparisonSql,
  number: orderComparisonSql,
  boolean: orderComparisonSql,
  date: (leaf, asked, operand) => intervalComparisonSql(PERIOD_CONDITIONS, leaf, asked, operand),
  datetime: (leaf, asked, operand) => intervalComparisonSql(INSTANT_CONDITIONS, leaf, asked, operand),
  age: () => {
    throw new TypeError('an age is compared as a birth date, which the day decides')
  },
}

const ORDER_OPERATORS = { lt: '<', le: '<=', gt: '>', ge: '>=' } as const satisfies Partial<Record<Comparator, OrderOperator>>
const NEGATED_OPERATORS = { '=': '<>', '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const

function textComparisonSql(leaf: Comparison, asked: boolean, operand: RowAndParameters): string {
  const { attribute, operator, value } = leaf
  const column = firstColumnSql(attribute, operand)
  if (typeof value !== 'string') throw typeMismatchError(attribute)
  if (operator in ORDER_OPERATORS) {
    const [order, bound] = toStorableBound(ORDER_OPERATORS[operator as keyof typeof ORDER_OPERATORS], value)
    return `${column} ${asked ? order : NEGATED_OPERATORS[order]} ${operand.values.add(bound)}`
  }
  if (!isTextStorable(value)) return unstorableValueSql(attribute, asked, operand)
  switch (operator) {
    case 'eq':
      return `${column} ${asked ? '=' : '<>'} ${operand.values.add(value)}`
    case 'contains':
      return `strpos(${column}, ${operand.values.add(value)}) ${asked ? '>' : '='} 0`
    case 'starts_with':
      return startsWithSql(column, value, asked, operand.values)
    default:
      throw typeMismatchError(attribute)
  }
}

/** Compares a prefix as a range, which an index answers. The range is exact, because the columns are ordered by code point. */
function startsWithSql(column: string, prefix: string, asked: boolean, values: ParameterList): string {
  const first = values.add(prefix)
  const behind = firstTextAfterPrefix(prefix)
  if (behind === null) return `${column} ${asked ? '>=' : '<'} ${first}`
  const last = values.add(behind)
  return asked ? `(${column} >= ${first} and ${column} < ${last})` : `(${column} < ${first} or ${column} >= ${last})`
}

function orderComparisonSql(leaf: Comparison, asked: boolean, operand: RowAndParameters): string {
  const { attribute, operator, value } = leaf
  const order = operator === 'eq' ? '=' : ORDER_OPERATORS[operator as keyof typeof ORDER_OPERATORS]
  if (order === undefined || typeof value !== attribute.type) throw typeMismatchError(attribute)
  const literal = operand.values.add(value, sqlTypeOf(attribute))
  return `${firstColumnSql(attribute, operand)} ${asked ? order : NEGATED_OPERATORS[order]} ${literal}`
}

/**
 * SQL of the first and last day (or instant) of a period, in a record or in a literal. `from` and `to` may be getters that add a
 * parameter to the statement when they are first read. A caller must not read one without using its SQL in the statement.
 */
interface PeriodEnds {
  readonly from: string
  readonly to: string
}

type WritePeriodSql = (record: PeriodEnds, literal: PeriodEnds) => string

/**
 * For each comparison of periods, the SQL for "definitely true" and for "definitely false", as `Interval` defines them. If the
 * last day is at most x, so is the first day; the SQL states both, so that an index over (first, last) can be used.
 */
const PERIOD_CONDITIONS: Readonly<Partial<Record<Comparator, readonly [whenTrue: WritePeriodSql, whenFalse: WritePeriodSql]>>> = {
  eq: [
    (r, l) => `(${r.from} between ${l.from} and ${l.to} and ${r.to} <= ${l.to})`,
    (r, l) => `((${r.from} < ${l.from} and ${r.to} < ${l.from}) or ${r.from} > ${l.to})`,
  ],
  lt: [(r, l) => `(${r.from} < ${l.from} and ${r.to} < ${l.from})`, (r, l) => `${r.from} >= ${l.from}`],
  le: [(r, l) => `(${r.from} <= ${l.to} and ${r.to} <= ${l.to})`, (r, l) => `${r.from} > ${l.to}`],
  gt: [(r, l) => `${r.from} > ${l.to}`, (r, l) => `(${r.from} <= ${l.to} and ${r.to} <= ${l.to})`],
  ge: [(r, l) => `${r.from} >= ${l.from}`, (r, l) => `(${r.from} < ${l.from} and ${r.to} < ${l.from})`],
}

/** The same comparisons as `PERIOD_CONDITIONS`, for an instant of a record, whose first and last moment are equal. */
const INSTANT_CONDITIONS: typeof PERIOD_CONDITIONS = {
  eq: [(r, l) => `${r.from} between ${l.from} and ${l.to}`, (r, l) => `(${r.from} < ${l.from} or ${r.from} > ${l.to})`],
  lt: [(r, l) => `${r.from} < ${l.from}`, (r, l) => `${r.from} >= ${l.from}`],
  le: [(r, l) => `${r.from} <= ${l.to}`, (r, l) => `${r.from} > ${l.to}`],
  gt: [(r, l) => `${r.from} > ${l.to}`, (r, l) => `${r.from} <= ${l.to}`],
  ge: [(r, l) => `${r.from} >= ${l.from}`, (r, l) => `${r.from} < ${l.from}`],
}

function intervalComparisonSql(
  rows: typeof PERIOD_CONDITIONS,
  leaf: Comparison,
  asked: boolean,
  operand: RowAndParameters,
): string {
  const { attribute, operator, value } = leaf
  const form = rows[operator]?.[asked ? 0 : 1]
  if (form === undefined) throw typeMismatchError(attribute)
  return form(periodEndsOf(leaf, operand), literalPeriodEnds(attribute, requireInterval(attribute, value), operand.values))
}

function periodEndsOf({ attribute, until }: Comparison | OneOf, operand: RowAndParameters): PeriodEnds {
  const [from = '', to = from] = quotedColumnsOf(attribute, operand)
  if (until === undefined) return { from, to }
  let bounded: string | undefined
  return {
    from,
    get to() {
      bounded ??= `least(${to}, ${operand.values.add(until, sqlTypeOf(attribute))})`
      return bounded
    },
  }
}

function literalPeriodEnds(attribute: Attribute, interval: Interval, values: ParameterList): PeriodEnds {
  const named: { from?: string; to?: string } = {}
  const type = sqlTypeOf(attribute)
  return {
    get from() {
      named.from ??= values.add(interval.from, type)
      return named.from
    },
    get to() {
      named.to ??= values.add(interval.to, type)
      return named.to
    },
  }
}

function inConditionSql(leaf: OneOf, asked: boolean, operand: RowAndParameters): string {
  const { attribute, values } = leaf
  if (attribute.type === 'date' || attribute.type === 'datetime') {
    const intervals = values.map((value) => requireInterval(attribute, value))
    return asked ? withinAnIntervalSql(leaf, intervals, operand) : outsideAllIntervalsSql(leaf, intervals, operand)
  }
  const storable = storableValues(values)
  if (storable.length === 0) return unstorableValueSql(attribute, asked, operand)
  const list = operand.values.add(storable, `${sqlTypeOf(attribute)}[]`)
  return `${firstColumnSql(attribute, operand)} ${asked ? '= any' : '<> all'}(${list})`
}

/** SQL that is true when the value lies within one of the intervals. An index answers single days or instants. */
function withinAnIntervalSql(leaf: OneOf, intervals: readonly Interval[], operand: RowAndParameters): string {
  const { attribute, until } = leaf
  const type = sqlTypeOf(attribute)
  const record = periodEndsOf(leaf, operand)
  const single = intervals.filter(({ from, to }) => from === to).map(({ from }) => from)
  const forms = intervals
    .filter(({ from, to }) => from !== to)
    .map((value) =>
      conditionWithoutUntilSql({ is: 'compare', attribute, operator: 'eq', value, ...(until && { until }) }, true, operand),
    )
  if (single.length > 0) {
    const listed = `${record.from} = any(${operand.values.add(single, `${type}[]`)})`
    forms.unshift(record.to === record.from ? listed : `(${listed} and ${record.to} = ${record.from})`)
  }
  return forms.length === 1 ? (forms[0] ?? '') : `(${forms.join(' or ')})`
}

function outsideAllIntervalsSql(leaf: OneOf, intervals: readonly Interval[], operand: RowAndParameters): string {
  const type = sqlTypeOf(leaf.attribute)
  const record = periodEndsOf(leaf, operand)
  const from = operand.values.add(
    intervals.map((interval) => interval.from),
    `${type}[]`,
  )
  const to = operand.values.add(
    intervals.map((interval) => interval.to),
    `${type}[]`,
  )
  return `(${record.from} is not null and not exists (select 1 from unnest(${from}, ${to}) as one(first, last) where one.first <= ${record.to} and one.last >= ${record.from}))`
}

/** SQL for a comparison with a value that no record can have: definitely false where the record has a value, else unknown. */
function unstorableValueSql(attribute: Attribute, asked: boolean, operand: RowAndParameters): string {
  return asked ? 'false' : columnPresenceSql(attribute, true, operand)
}

/** Removes the values that PostgreSQL cannot store: no stored value equals them. */
export function storableValues(values: readonly Literal[]): readonly Literal[] {
  return values.filter((value) => typeof value !== 'string' || isTextStorable(value))
}

function quotedColumnsOf(attribute: Attribute, { alias }: RowAndParameters): readonly string[] {
  return attributeColumns(attribute).map(({ name }) => `${alias}.${quoteName(name)}`)
}

function firstColumnSql(attribute: Attribute, operand: RowAndParameters): string {
  const [first] = quotedColumnsOf(attribute, operand)
  if (first === undefined) throw new TypeError(`${attribute.name} has no column`)
  return first
}

/** The SQL type of one value of the attribute, also for an attribute with many values. */
export function sqlTypeOf(attribute: Attribute): string {
  return (attributeColumns(attribute)[0]?.sql_type ?? '').replace('[]', '')
}

function requireInterval(attribute: Attribute, value: Literal): Interval {
  if (typeof value !== 'object') throw typeMismatchError(attribute)
  return value
}

/** The error for a comparison that should have been refused when the query was parsed: a fault of the program. */
const typeMismatchError = ({ name, type }: Attribute): TypeError =>
  new TypeError(`${name} is a ${type} and cannot be compared so`)
