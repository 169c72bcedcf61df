/** Names of database objects: made only from kind data and registry numbers, and quoted here, nowhere else. */
import { createHash } from 'node:crypto'
import type { Attribute, RecordType } from '@rollcall/protocol'

/** PostgreSQL cuts longer names silently, and two cut names may be equal. */
export const NAME_LIMIT = 63

const NAME = /^[a-z_][a-z0-9_]*$/

/**
 * Quotes a name as an SQL identifier. Throws for a name that is too long or not plain lower case, digits and `_`: names
 * come from kind data, so this is an error of the programmer, never of a peer.
 */
export function quoteName(name: string): string {
  if (!NAME.test(name) || name.length > NAME_LIMIT) {
    throw new Error(`not a name for a database object: ${JSON.stringify(name)}`)
  }
  return `"${name}"`
}

/** `DisabledPerson` as `disabled_person`. */
export function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_').toLowerCase()
}

/**
 * The parts joined by `_`. A name that would be too long is cut and ends in eight digits of its hash, so that it is
 * unique, and the same on every node.
 */
export function joinName(...parts: readonly string[]): string {
  const name = parts.join('_')
  if (name.length <= NAME_LIMIT) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, NAME_LIMIT - digest.length - 1)}_${digest}`
}

/** The table of a registry's records of one type, such as `r7_disabled_person`. */
export function recordTableName(registryId: number, recordType: RecordType): string {
  if (!Number.isSafeInteger(registryId) || registryId < 1) throw new Error(`not a registry id: ${registryId}`)
  return joinName(`r${registryId}`, snakeCase(recordType.name))
}

/** A column of an attribute; the suffix tells its columns apart when it has several. */
export function columnName(attribute: Attribute, suffix: string): string {
  return joinName(`${attribute.name}${suffix}`)
}
