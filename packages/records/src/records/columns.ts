/** The columns that store the attributes and compounds of a record type, and the identifiers by which searches are sorted. */

import { oncePerObject } from '@rollcall/core/model/once-per'
import { identifierSortGroupName } from '@rollcall/core/model/registry'
import { columnName, joinNameParts } from '@rollcall/database/names'
import {
  type Attribute,
  type AttributeScalar,
  type AttributeType,
  type AttributeValue,
  type Compound,
  type Element,
  type RecordType,
  sortedIdentifiers,
} from '@rollcall/protocol'

/** A column of a record table. The record type decides which columns there are. */
export interface RecordColumn {
  readonly name: string
  /** The SQL type as PostgreSQL's `format_type` spells it, `[]` included. */
  readonly sql_type: string
  /** The column type with its collation, as CREATE TABLE has it. */
  readonly definition: string
}

/** The column of an attribute, or one of the two columns of a date. */
interface AttributeColumn extends RecordColumn {
  readonly attribute: Attribute
  /**
   * Returns an attribute's value as PostgreSQL's text input for this column; null for a missing value. The text has no escapes of
   * COPY or JSON: who writes a field of COPY, or a JSON string, adds these.
   */
  toSql(value: AttributeValue | null): string | null
}

interface ColumnTemplate {
  readonly suffix: string
  readonly sql_type: string
  /** "C" orders texts by code point, whatever the locale of the database is. */
  readonly collation?: '"C"'
  toSql(value: AttributeScalar): string
}

const columnTemplateOfSqlType = (sql_type: string): ColumnTemplate => ({ suffix: '', sql_type, toSql: String })
const TEXT_COLUMN: ColumnTemplate = { ...columnTemplateOfSqlType('text'), collation: '"C"' }

function readFirstOrLastDay(value: AttributeScalar, end: 'from' | 'to'): string {
  if (typeof value !== 'object') throw new TypeError('a date attribute holds an interval of days')
  return value[end]
}

/**
 * The columns for each attribute type. A date has two columns, the first and the last day ("1985" is the whole year). A number is
 * double precision, not numeric: the search in memory compares IEEE doubles too, so both give the same result.
 */
const COLUMNS_BY_TYPE: Readonly<Record<AttributeType, readonly ColumnTemplate[]>> = {
  text: [TEXT_COLUMN],
  code: [TEXT_COLUMN],
  date: [
    { suffix: '_from', sql_type: 'date', toSql: (value) => readFirstOrLastDay(value, 'from') },
    { suffix: '_to', sql_type: 'date', toSql: (value) => readFirstOrLastDay(value, 'to') },
  ],
  datetime: [columnTemplateOfSqlType('timestamp with time zone')],
  number: [columnTemplateOfSqlType('double precision')],
  boolean: [columnTemplateOfSqlType('boolean')],
  // An age has no column: each query computes it from a date.
  age: [],
}

/**
 * The columns of one attribute, in order. A date has the column of the first day, then that of the last day. They are
 * computed once for an attribute, because most queries need them.
 */
export const attributeColumns: (attribute: Attribute) => readonly AttributeColumn[] = oncePerObject(makeAttributeColumns)

function makeAttributeColumns(attribute: Attribute): readonly AttributeColumn[] {
  return COLUMNS_BY_TYPE[attribute.type].map((shape) => {
    const sql_type = attribute.many ? `${shape.sql_type}[]` : shape.sql_type
    return {
      name: columnName(attribute, shape.suffix),
      attribute,
      sql_type,
      definition: shape.collation ? `${sql_type} collate ${shape.collation}` : sql_type,
      toSql: (value) => columnValueText(shape, value),
    }
  })
}

function columnValueText(shape: ColumnTemplate, value: AttributeValue | null): string | null {
  if (value === null) return null
  if (!isValueList(value)) return shape.toSql(value)
  return `{${value.map((element) => quoteArrayElement(shape.toSql(element))).join(',')}}`
}

/** True when the value is a list. `Array.isArray` alone does not narrow the type of readonly arrays. */
function isValueList(value: AttributeValue): value is Extract<AttributeValue, readonly unknown[]> {
  return Array.isArray(value)
}

/** Puts an element of a PostgreSQL array text in quotes: NULL, commas and braces in the element are then plain text. */
function quoteArrayElement(element: string): string {
  return `"${element.replace(/["\\]/g, '\\$&')}"`
}

interface CompoundColumn extends RecordColumn {
  readonly compound: Compound
  /** Returns a compound's elements as text for its column; null when there are none. */
  toSql(elements: readonly Element[]): string | null
}

/** Describes the column of a compound: `jsonb`, an array with at least one element, or null. */
export function compoundColumn(compound: Compound): CompoundColumn {
  const members = compound.members.map((member) => [member.name, memberJsonWriter(member)] as const)
  return {
    name: joinNameParts(compound.name),
    compound,
    sql_type: 'jsonb',
    definition: 'jsonb',
    toSql: (elements) =>
      elements.length === 0 ? null : `[${elements.map((element) => elementJsonText(members, element)).join(',')}]`,
  }
}

type MemberJsonWriters = readonly (readonly [name: string, write: (value: AttributeScalar) => string])[]

function elementJsonText(members: MemberJsonWriters, element: Element): string {
  let text = ''
  for (const [name, write] of members) {
    const value = element[name]
    if (value !== undefined) text += `${text === '' ? '' : ','}${write(value)}`
  }
  return `{${text}}`
}

/**
 * Returns a function that returns one member of a compound element as the text `"name":value`; a date becomes two days. Equal
 * values give equal texts, so `@>` finds the elements that have these values.
 */
export function memberJsonWriter(member: Attribute): (value: AttributeScalar) => string {
  const [first, last] = attributeColumns(member).map(({ name }) => JSON.stringify(name))
  if (last === undefined) return (value) => `${first}:${JSON.stringify(value)}`
  return (value) => {
    if (typeof value !== 'object') throw new TypeError('a date attribute holds an interval of days')
    return `${first}:"${value.from}",${last}:"${value.to}"`
  }
}

/** The columns of one attribute, of one compound, or of one identifier type by which records can be sorted. */
interface ColumnGroup {
  /** The name of the attribute or compound in the kind; for an identifier type, the name from `identifierSortGroupName`. */
  readonly name: string
  readonly columns: readonly RecordColumn[]
  /** The method of the group's index, such as btree; null when no index is declared. */
  readonly method: string | null
}

/**
 * The column for sorting by an identifier type. `identifierSortValues` sets it to the smallest (by UTF-16 units) of the
 * record's own identifiers of the type, or to null. The name begins with `_`; names of attributes do not.
 */
export const identifierSortColumn = (type: string): RecordColumn => ({
  name: joinNameParts('_sort', type.toLowerCase()),
  sql_type: 'text',
  definition: 'text collate "C"',
})

/** The column groups of a record type: first attributes, then compounds, then identifier types for sorting. */
export function columnGroups(recordType: RecordType): readonly ColumnGroup[] {
  const { attributes, compounds = [] } = recordType
  return [
    ...attributes.map((attribute) => ({
      name: attribute.name,
      columns: attributeColumns(attribute),
      method: attribute.indexed ? (attribute.many ? 'gin' : 'btree') : null,
    })),
    ...compounds.map((compound) => ({
      name: compound.name,
      columns: [compoundColumn(compound)],
      method: compound.indexed ? 'gin' : null,
    })),
    ...sortedIdentifiers(recordType).map((type) => ({
      name: identifierSortGroupName(type),
      columns: [identifierSortColumn(type)],
      method: null,
    })),
  ]
}
