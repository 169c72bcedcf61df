/** How a compound is held: one column of JSON, the list of its elements, members named as columns would be. */
import type { Attribute, AttributeScalar, Compound, Element } from '@rollcall/protocol'
import { joinName } from '../db/names.ts'
import { attributeColumns, type RecordColumn } from './attribute-columns.ts'

/** The column of one compound. */
export interface CompoundColumn extends RecordColumn {
  readonly compound: Compound
  /** Elements as the text of the column, null for none. */
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
      elements.length === 0
        ? null
        : `[${elements.map((element) => elementText(members, element)).join(',')}]`,
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
