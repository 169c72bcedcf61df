/** What columns must hold, as conditions of PostgreSQL. A condition is never narrower than the test; where it cannot be written, nothing is left out. */

import type { ColumnTest, Needed } from '../engine/column-test.ts'
import type { MappedRecords } from '../engine/mapped-records.ts'
import { type ColumnType, isOther } from './column-types.ts'
import { quoted, tableOf } from './names.ts'

/** The types of the columns of a part, by name. */
export type PartTypes = ReadonlyMap<string, ColumnType>

/** Collects the values of a statement. */
export class Parameters {
  readonly values: unknown[] = []

  /** @returns the parameter as it stands in the statement */
  add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

const FALSE = 'false'

/**
 * @param types of the own table and of each child, in their order
 * @returns null: nothing is left out
 */
export function conditionOf(
  records: MappedRecords,
  types: readonly PartTypes[],
  needed: Needed,
  parameters: Parameters,
): string | null {
  switch (needed.is) {
    case 'anything':
      return null
    case 'nothing':
      return FALSE
    case 'and': {
      const parts = needed.of.flatMap((part) => conditionOf(records, types, part, parameters) ?? [])
      return parts.length === 0 ? null : `(${parts.join(' and ')})`
    }
    case 'or': {
      const before = parameters.values.length
      const parts: string[] = []
      // Each part is written once: a participant may nest them twenty deep.
      for (const part of needed.of) {
        const condition = conditionOf(records, types, part, parameters)
        if (condition === null) {
          parameters.values.length = before
          return null
        }
        parts.push(condition)
      }
      return `(${parts.join(' or ')})`
    }
    case 'column': {
      const { part } = needed.column
      const isOwn = part === records.own
      const condition = columnCondition(records, types, needed, isOwn ? 'own' : 'child', parameters)
      if (isOwn || condition === null || condition === FALSE) return condition
      const rows = `select child.${quoted(part.key)} from ${tableOf(part, 'child')} where ${condition}`
      return `own.${quoted(records.own.key)} in (${rows})`
    }
  }
}

/** The condition on the rows of the column's own table; null: nothing is left out. */
export function columnCondition(
  records: MappedRecords,
  types: readonly PartTypes[],
  { column: { part, target }, test }: Extract<Needed, { is: 'column' }>,
  alias: string,
  parameters: Parameters,
): string | null {
  const name = target.column?.trim() ?? ''
  const type = types[[records.own, ...records.children].indexOf(part)]?.get(name)
  return type === undefined ? null : testOf(test, `${alias}.${quoted(name)}`, type, parameters)
}

/** A double is compared as the numbers around it that are read as the same double. */
const AROUND = 1e-15
/** `real` has seven digits. */
const AROUND_REAL = 1e-6
/** A larger double is no bound of a column of whole numbers. */
const LARGEST = Number.MAX_SAFE_INTEGER

function testOf(test: ColumnTest, column: string, type: ColumnType, parameters: Parameters): string | null {
  switch (test.is) {
    case 'present':
      return `${column} is not null`
    case 'texts': {
      const texts = test.texts.flatMap((text) => type.parameter(text) ?? [])
      if (type.holds === 'boolean') return booleans(column, test.texts)
      if (type.holds === 'day' || type.holds === 'instant') return null
      if (texts.length === 0) return FALSE
      return `${isOther(type) ? `${column}::text` : column} = any(${parameters.add(texts, `${type.sql}[]`)})`
    }
    case 'beginning':
      if (type.holds !== 'text') return null
      if (type.parameter(test.text) === null) return FALSE
      return `starts_with(${column}::text collate "C", ${parameters.add(test.text, 'text')})`
    case 'digits':
      return type.holds === 'text'
        ? `${digitsOf(column)} = any(${parameters.add(test.texts, 'text[]')})`
        : testOf({ is: 'texts', texts: test.texts }, column, type, parameters)
    case 'numbers':
      return numbers(test, column, type, parameters)
    case 'booleans':
      return type.holds === 'boolean' ? `${column} = any(${parameters.add(test.values, 'bool[]')})` : null
    case 'days':
      return days(test, column, type, parameters)
    case 'instants':
      return instants(test, column, type, parameters)
  }
}

/** The digits of a text, as an index can have them. Collations that take different texts as equal have no regular expressions. */
export const digitsOf = (column: string): string => `regexp_replace(${column} collate "C", '[^0-9]', '', 'g')`

function booleans(column: string, texts: readonly string[]): string {
  const values = ['true', 'false'].filter((text) => texts.includes(text))
  return values.length === 0 ? FALSE : `${column} in (${values.join(', ')})`
}

function numbers(
  { from, to }: Extract<ColumnTest, { is: 'numbers' }>,
  column: string,
  { sql, holds }: ColumnType,
  parameters: Parameters,
): string | null {
  if (holds !== 'integer' && holds !== 'number') return null
  const around = sql === 'float4' ? AROUND_REAL : AROUND
  const least = from === null ? null : from - Math.abs(from) * around
  const most = to === null ? null : to + Math.abs(to) * around
  if (holds === 'integer') {
    return between(column, [
      ...(least === null || Math.abs(least) > LARGEST ? [] : [`>= ${parameters.add(`${Math.ceil(least)}`, 'int8')}`]),
      ...(most === null || Math.abs(most) > LARGEST ? [] : [`<= ${parameters.add(`${Math.floor(most)}`, 'int8')}`]),
    ])
  }
  const type = sql === 'numeric' ? 'numeric' : 'float8'
  return between(column, [
    ...(least === null ? [] : [`>= ${parameters.add(String(least), type)}`]),
    ...(most === null ? [] : [`<= ${parameters.add(String(most), type)}`]),
  ])
}

const between = (column: string, conditions: readonly string[]): string | null =>
  conditions.length === 0 ? null : `(${conditions.map((one) => `${column} ${one}`).join(' and ')})`

function days(
  { from, to, texts }: Extract<ColumnTest, { is: 'days' }>,
  column: string,
  { holds }: ColumnType,
  parameters: Parameters,
): string | null {
  if (holds === 'text') return texts === null ? null : `${column} = any(${parameters.add(texts, 'text[]')})`
  if (holds !== 'day' && holds !== 'instant') return null
  // By the zone of the session, a time lies in the days of the question.
  return between(column, [
    ...(from === null ? [] : [`>= ${parameters.add(from, 'date')}`]),
    ...(to === null
      ? []
      : [holds === 'day' ? `<= ${parameters.add(to, 'date')}` : `< ${parameters.add(to, 'date')} + 1`]),
  ])
}

/** Digits beyond milliseconds are cut when a record is read. */
function instants(
  { from, to }: Extract<ColumnTest, { is: 'instants' }>,
  column: string,
  { holds }: ColumnType,
  parameters: Parameters,
): string | null {
  if (holds !== 'day' && holds !== 'instant') return null
  return between(column, [
    ...(from === null ? [] : [`>= ${parameters.add(from, 'timestamptz')} - interval '1 day'`]),
    ...(to === null ? [] : [`<= ${parameters.add(to, 'timestamptz')} + interval '1 day'`]),
  ])
}
