/** Primary identifier types that a registry has in place of those of its kind. */

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
 * Declares primary identifier types for a registry without records. A type that only other kinds have is added to the registry.
 * @param kind the kind, with the additions of the registry
 * @param given a primary identifier type for each named record type
 * @throws StoreRefusal a record type or identifier type cannot be used
 */
export async function storePrimaryIdentifierTypes(
  transaction: Transaction<unknown>,
  registry: number,
  kind: Kind,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const { names, types } = readPrimaryIdentifiers(kind, given)
  if (Object.keys(names).length === 0) return
  const literal = kindNamed(kind.name)?.record_types ?? []
  const all = kind.record_types.map((one) => [one.name, names[one.name] ?? one.primary_identifier] as const)
  const changed = all.filter(([name, primary]) => literal.every((one) => one.name !== name || one.primary_identifier !== primary))
  await sql`update registry set primary_identifiers = ${JSON.stringify(Object.fromEntries(changed))}
    where id = ${registry}`.execute(transaction)
  for (const { name, ...definition } of types) {
    await sql`insert into registry_identifier_type (registry, name, definition)
      values (${registry}, ${name}, ${JSON.stringify(definition)})`.execute(transaction)
  }
}

/**
 * Resolves the identifier types in `given`, one for each record type that it names, in any spelling. `names`: the canonical
 * identifier type by the canonical record type. `types`: the definitions of those identifier types that only other kinds have.
 * @throws StoreRefusal a type cannot be used
 */
export function readPrimaryIdentifiers(kind: Kind, given: Readonly<Record<string, string>>) {
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
  // All given types are checked together, because two record types may exchange their primary identifiers.
  const all = withIdentifiers(wide, { identifier_types: [], primary_identifiers: names })
  for (const [record_type, primary] of rows) {
    const problem = primaryProblem(all, record_type, primary)
    if (problem !== null) throw new StoreRefusal(problem)
  }
  return { names, types: [...new Set(types)] }
}
