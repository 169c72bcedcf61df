/** Makes names of tables and columns from kind data and registry ids, and quotes them for SQL. */
import { createHash } from 'node:crypto'
import type { Attribute, RecordType } from '@rollcall/protocol'

/** The longest name, in characters. PostgreSQL cuts longer names without an error, and two cut names may be equal. */
export const MOST_NAME_CHARACTERS = 63

const NAME_PATTERN = /^[a-z_][a-z0-9_]*$/

/**
 * Quotes a name as an SQL identifier. Throws for a name that is too long or not plain lower case, digits and `_`: names
 * come from kind data, so this is an error of the programmer, never of a peer.
 */
export function quoteName(name: string): string {
  if (!NAME_PATTERN.test(name) || name.length > MOST_NAME_CHARACTERS) {
    throw new Error(`not a name for a database object: ${JSON.stringify(name)}`)
  }
  return `"${name}"`
}

/** Turns `DisabledPerson` into `disabled_person`. */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase()
}

/**
 * Joins the parts with `_`. A name that is too long is cut, and ends in eight hexadecimal digits of the hash of the whole name:
 * so different long names stay different, and each is cut in the same way on every node.
 */
export function joinNameParts(...parts: readonly string[]): string {
  const name = parts.join('_')
  if (name.length <= MOST_NAME_CHARACTERS) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, MOST_NAME_CHARACTERS - digest.length - 1)}_${digest}`
}

/** The name of a registry's table for one record type, such as `r7_disabled_person`. */
export function recordTableName(registryId: number, recordType: RecordType): string {
  if (!Number.isSafeInteger(registryId) || registryId < 1) throw new Error(`not a registry id: ${registryId}`)
  return joinNameParts(`r${registryId}`, snakeCase(recordType.name))
}

/** The name of an attribute's column. Where an attribute has several columns, each has its own `suffix`; otherwise ''. */
export function columnName(attribute: Attribute, suffix: string): string {
  return joinNameParts(`${attribute.name}${suffix}`)
}
