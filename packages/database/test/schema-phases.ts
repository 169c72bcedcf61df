/** Changes of a migration to earlier tables, checked by the rules of its phase (CONTRIBUTING.md, "Add a migration"). */
import type { MigrationPhase } from '../src/migration.ts'
import type { UnusedName } from '../src/unused.ts'
import { type DatabaseSchema, schemaLines } from './database-schema.ts'

interface Migrated {
  readonly version: string
  readonly phase: MigrationPhase
  readonly before: DatabaseSchema
  readonly after: DatabaseSchema
}

/**
 * Breaches of the rules, one line each.
 * @param retired objects that versions no longer use
 * @param versions in their order
 */
export function phaseProblems(
  { version, phase, before, after }: Migrated,
  retired: readonly UnusedName[],
  versions: readonly string[],
): readonly string[] {
  const mayGo = (name: string): boolean =>
    phase === 'contract' && retired.some((row) => row.name === name && versions.indexOf(row.since) < versions.indexOf(version))
  const tables = new Set(after.tables.map(({ table }) => table))
  const isNewTable = (table: string): boolean => !before.tables.some((row) => row.table === table)
  const columns = new Map(after.columns.map((column) => [nameOf(column), column]))
  const known = new Set(before.columns.map(nameOf))
  const gone = before.tables.filter(({ table }) => !tables.has(table) && !mayGo(table))
  const changed = before.columns
    .filter(({ table }) => tables.has(table))
    .flatMap((was) => {
      const name = nameOf(was)
      const is = columns.get(name)
      if (is === undefined) return mayGo(name) ? [] : [`${name} was removed or renamed`]
      return isAsBefore(was.definition, is.definition) ? [] : [`${name} was ${was.definition} and is ${is.definition}`]
    })
  const demanded = after.columns
    .filter((column) => !known.has(nameOf(column)) && !isNewTable(column.table))
    .filter(({ definition, generated }) => !generated && needsValue(definition))
    .map((column) => `${nameOf(column)} is not null without a default`)
  const rules = schemaLines({ ...before, tables: [], columns: [], functions: [] }, () => true)
  const added = after.afterwards
    .filter(({ of, statement }) => !isNewTable(of) && /^alter table|^create unique/i.test(statement))
    .filter(({ statement }) => !rules.includes(statement.replace(/[()]/g, '')))
    .map(({ of, statement }) => `${of} has a new rule: ${statement}`)
  return [...gone.map(({ table }) => `${table} was removed or renamed`), ...changed, ...demanded, ...added]
}

const nameOf = ({ table, name }: DatabaseSchema['columns'][number]): string => `${table}.${name}`

const NOT_NULL = / not null$/

/** A column that may be null from now on breaks only readers: the earlier version may read null. */
const isAsBefore = (was: string, is: string): boolean => withoutDefault(was) === withoutDefault(is)
const withoutDefault = (definition: string): string => definition.replace(/ default .*?(?= not null$|$)/, '')

const needsValue = (definition: string): boolean =>
  NOT_NULL.test(definition) && !/ default | generated always as identity/.test(definition)
