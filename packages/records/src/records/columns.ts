/** The columns that store the attributes and compounds of a record type. */

import { sortGroup } from '@rollcall/core/model/registry'
import { columnName, joinName } from '@rollcall/database/names'
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

/** A column of a record table that is made from its record type. */
export interface RecordColumn {
  readonly name: string
  /** The SQL type as PostgreSQL's `format_type` spells it, `[]` included. */
  readonly sql_type: string
  /** The type with its collation, as a CREATE TABLE states it. */
  readonly definition: string
}

/** One column that holds (a part of) an attribute. */
interface AttributeColumn extends RecordColumn {
  readonly attribute: Attribute
  /**
   * An attribute's value (null: missing) as PostgreSQL's text input for this column: the one form that serves
   * as a statement's parameter, as an element of an `unnest` and, escaped once more, as a field of a COPY.
   */
  toSql(value: AttributeValue | null): string | null
}

interface ColumnShape {
  readonly suffix: string
  readonly sql_type: string
  /** "C" for text: ordered by code point and the same whatever the database's locale is. */
  readonly collation?: '"C"'
  toSql(value: AttributeScalar): string
}

const plain = (sql_type: string): ColumnShape => ({ suffix: '', sql_type, toSql: String })
const text: ColumnShape = { ...plain('text'), collation: '"C"' }

function dayOf(value: AttributeScalar, end: 'from' | 'to'): string {
  if (typeof value !== 'object') throw new TypeError('a date attribute holds an interval of days')
  return value[end]
}

/**
 * A date is an interval of days ("1985" is the whole year), hence two columns. Numbers are double precision
 * and not numeric: RFC 8785 and the evaluation in memory know numbers as IEEE doubles, and only the same type
 * makes both evaluators agree on every comparison.
 */
const COLUMNS: Readonly<Record<AttributeType, readonly ColumnShape[]>> = {
  text: [text],
  code: [text],
  date: [
    { suffix: '_from', sql_type: 'date', toSql: (value) => dayOf(value, 'from') },
    { suffix: '_to', sql_type: 'date', toSql: (value) => dayOf(value, 'to') },
  ],
  datetime: [plain('timestamp with time zone')],
  number: [plain('double precision')],
  boolean: [plain('boolean')],
  // An age has no column: it is counted from a date at the time of the query.
  age: [],
}

/** The columns of each attribute, computed once, because every query needs them. */
const described = new WeakMap<Attribute, readonly AttributeColumn[]>()

/** The columns of one attribute, in order; for a date the column of the first day is the first. */
export function attributeColumns(attribute: Attribute): readonly AttributeColumn[] {
  const found = described.get(attribute) ?? describeColumns(attribute)
  described.set(attribute, found)
  return found
}

function describeColumns(attribute: Attribute): readonly AttributeColumn[] {
  return COLUMNS[attribute.type].map((shape) => {
    const sql_type = attribute.many ? `${shape.sql_type}[]` : shape.sql_type
    return {
      name: columnName(attribute, shape.suffix),
      attribute,
      sql_type,
      definition: shape.collation ? `${sql_type} collate ${shape.collation}` : sql_type,
      toSql: (value) => columnText(shape, value),
    }
  })
}

function columnText(shape: ColumnShape, value: AttributeValue | null): string | null {
  if (value === null) return null
  if (!isMany(value)) return shape.toSql(value)
  return `{${value.map((element) => quoteElement(shape.toSql(element))).join(',')}}`
}

/** `Array.isArray` does not narrow readonly arrays. */
function isMany(value: AttributeValue): value is Extract<AttributeValue, readonly unknown[]> {
  return Array.isArray(value)
}

/** Puts an element of an array literal in quotes, so that NULL, commas and braces in it are only text. */
function quoteElement(element: string): string {
  return `"${element.replace(/["\\]/g, '\\$&')}"`
}

/** The column of one compound. */
interface CompoundColumn extends RecordColumn {
  readonly compound: Compound
  /** The elements as the text of the column; null for none. */
  toSql(elements: readonly Element[]): string | null
}

/** The column: `jsonb`, an array with at least one element, or null. */
export function compoundColumn(compound: Compound): CompoundColumn {
  const members = compound.members.map((member) => [member.name, memberWriter(member)] as const)
  return {
    name: joinName(compound.name),
    compound,
    sql_type: 'jsonb',
    definition: 'jsonb',
    toSql: (elements) =>
      elements.length === 0 ? null : `[${elements.map((element) => elementText(members, element)).join(',')}]`,
  }
}

type Members = readonly (readonly [name: string, write: (value: AttributeScalar) => string])[]

function elementText(members: Members, element: Element): string {
  let text = ''
  for (const [name, write] of members) {
    const value = element[name]
    if (value !== undefined) text += `${text === '' ? '' : ','}${write(value)}`
  }
  return `{${text}}`
}

/**
 * How one member's value is written into its element: `"name":value`, a date as two days. Equal values are equal
 * texts, so that an element contains an object of such members exactly when it has these values.
 */
export function memberWriter(member: Attribute): (value: AttributeScalar) => string {
  const [first, last] = attributeColumns(member).map(({ name }) => JSON.stringify(name))
  if (last === undefined) return (value) => `${first}:${JSON.stringify(value)}`
  return (value) => {
    if (typeof value !== 'object') throw new TypeError('a date attribute holds an interval of days')
    return `${first}:"${value.from}",${last}:"${value.to}"`
  }
}

/** The columns of one attribute, of one compound, or of one identifier type that can be sorted by. */
interface ColumnGroup {
  /** The name of the attribute or compound in the kind; of an identifier type `sortGroup`. */
  readonly name: string
  readonly columns: readonly RecordColumn[]
  /** The method of its index; null when none is declared. */
  readonly method: string | null
}

/**
 * The column for sorting by an identifier type: it has the record's own smallest identifier of the type. No name of an
 * attribute begins with `_`.
 */
export const sortColumn = (type: string): RecordColumn => ({
  name: joinName('_sort', type.toLowerCase()),
  sql_type: 'text',
  definition: 'text collate "C"',
})

/** The columns of a record type: those of its attributes, then those of its compounds, then those of `sortedIdentifiers`. */
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
      name: sortGroup(type),
      columns: [sortColumn(type)],
      method: null,
    })),
  ]
}
