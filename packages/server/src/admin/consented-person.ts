/** The person who withdraws a consent, in all registries, as pseudonyms. */
import { identifierValue, type JsonValue, readIdentifiers, resolveIdentifierType } from '@rollcall/protocol'
import { createPseudonyms } from '../accounts/pseudonyms.ts'
import { PROTECTION_CATEGORIES } from '../model/protection.ts'
import type { Identifier } from '../model/records.ts'
import type { Registry } from '../model/registry.ts'
import type { Database } from '../store/db/database.ts'
import { ownRecords } from '../store/records/own-records.ts'
import { listRegistries } from '../store/registries/registries.ts'
import type { HasVault } from './needs.ts'
import { AdminRefusal } from './use-case.ts'

export interface GivenPerson {
  readonly identifier_type: string
  readonly identifier_value: string
}

/**
 * Pseudonyms of all identifiers of the person: the one that is given, and those of the one record that bears it in each
 * registry. Where several records bear it, nobody knows whose the others are.
 * @throws AdminRefusal no registry has such identifiers
 */
export async function pseudonymsOf({ db, vault }: HasVault, person: GivenPerson): Promise<readonly Buffer[]> {
  const found = new Map<string, Identifier>()
  const add = ({ type, value }: Identifier): void => void found.set(`${type} ${value}`, { type, value })
  for (const registry of await listRegistries(db)) {
    const identifier = identifierIn(registry, person)
    if (identifier === null) continue
    add(identifier)
    for (const one of await identifiersBeside(db, registry, identifier)) add(one)
  }
  if (found.size === 0) {
    throw new AdminRefusal('identifier_type: no registry has identifiers of this type and form')
  }
  return createPseudonyms(db, vault)([...found.values()])
}

function identifierIn(
  { kind }: Registry,
  { identifier_type, identifier_value }: GivenPerson,
): Identifier | null {
  const type = resolveIdentifierType(kind, identifier_type)
  const value = type === undefined ? null : identifierValue(type, identifier_value)
  return type === undefined || value === null ? null : { type: type.name, value }
}

async function identifiersBeside(
  db: Database,
  registry: Registry,
  identifier: Identifier,
): Promise<readonly Identifier[]> {
  const reader = ownRecords(db).reader('sync')
  const persons = registry.kind.record_types.filter(({ identifiers }) =>
    identifiers.every(({ names }) => names === 'record'),
  )
  const all: Identifier[] = []
  for (const recordType of persons) {
    const page = { sort: [], limit: 2, offset: 0, cap: 2, categories: PROTECTION_CATEGORIES }
    const predicate = { is: 'identifier', identifiers: [identifier] } as const
    const { records } = await reader.find(registry, { recordType, predicate, page })
    const [record] = records
    if (record === undefined || records.length > 1) continue
    all.push(...readIdentifiers(registry.kind, recordType, JSON.parse(record.document) as JsonValue))
  }
  return all
}
