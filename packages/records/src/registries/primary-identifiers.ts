/** The primary identifier types that a registry has instead of those of its kind. */

import { StoreRefusal } from '@rollcall/database/refusal'
import {
  type Kind,
  kindNamed,
  primaryProblem,
  resolveIdentifierType,
  resolveRecordType,
  sharedIdentifierType,
  withIdentifiers,
} from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'

/**
 * Declares primary types for a registry without records. A type that only other kinds have is added to the registry.
 * @param kind the kind, with the additions that the registry has already
 * @throws StoreRefusal a record type or an identifier type that it cannot be
 */
export async function declarePrimaries(
  transaction: Transaction<unknown>,
  registry: number,
  kind: Kind,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const { names, types } = readPrimaries(kind, given)
  if (Object.keys(names).length === 0) return
  const literal = kindNamed(kind.name)?.record_types ?? []
  const all = kind.record_types.map((one) => [one.name, names[one.name] ?? one.primary_identifier] as const)
  const changed = all.filter(([name, primary]) =>
    literal.every((one) => one.name !== name || one.primary_identifier !== primary),
  )
  await sql`update registry set primary_identifiers = ${JSON.stringify(Object.fromEntries(changed))}
    where id = ${registry}`.execute(transaction)
  for (const { name, ...definition } of types) {
    await sql`insert into registry_identifier_type (registry, name, definition)
      values (${registry}, ${name}, ${JSON.stringify(definition)})`.execute(transaction)
  }
}

/** The types by canonical names, with types of other kinds that the registry needs for them. @throws StoreRefusal */
export function readPrimaries(kind: Kind, given: Readonly<Record<string, string>>) {
  const types = Object.values(given).flatMap((spelling) => {
    const shared = resolveIdentifierType(kind, spelling) === undefined ? sharedIdentifierType(spelling) : undefined
    return shared === undefined ? [] : [shared]
  })
  const wide = withIdentifiers(kind, { identifier_types: types, primary_identifiers: {} })
  const rows = Object.entries(given).map(([type, spelling]): [string, string] => [
    resolveRecordType(wide, type)?.name ?? type,
    resolveIdentifierType(wide, spelling)?.name ?? spelling,
  ])
  const names = Object.fromEntries(rows)
  // They are checked together, because two record types may exchange their primary identifiers.
  const all = withIdentifiers(wide, { identifier_types: [], primary_identifiers: names })
  for (const [record_type, primary] of rows) {
    const problem = primaryProblem(all, record_type, primary)
    if (problem !== null) throw new StoreRefusal(problem)
  }
  return { names, types: [...new Set(types)] }
}
