/** Finds the identifiers of a person: the named one, and the others of the person's records of one environment. */

import type { PersonIdentifier } from '@rollcall/core/model/audit-entry'
import {
  type RecordSearchScope,
  recordsWithIdentifier,
  unsharedRecordIdentifiers,
  withAllIdentifierTypes,
} from '@rollcall/core/model/person-identifiers'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { identifierValue, KINDS, type Kind, kindNamed, resolveIdentifierType, UNLISTED } from '@rollcall/protocol'
import { AdminRefusal } from '../admin-function.ts'
import { chooseRegistriesOfPerson } from './person-registries.ts'
import { requireStoredRecords } from './stored-records.ts'

/** An identifier of a person, and the registries in which it means the person. */
export interface KnownIdentifier extends PersonIdentifier {
  /** Namespaces of the registries in which the identifier means the person; null: in all. */
  readonly registries: ReadonlySet<string> | null
}

/** How often, at most, the search goes from identifiers to their records, and to the identifiers of these records. */
const MOST_FIND_ROUNDS = 5

/**
 * Finds the identifiers of a person: the given one, and those of the person's records. If several records of a type in a registry
 * have an identifier, it leads to none of them. Phone numbers and e-mail addresses of records are left out, because several
 * people may share them.
 * @throws AdminRefusal no kind and no registry can have such an identifier
 */
export async function findIdentifiersOfPerson(
  db: Database,
  named: { readonly type: string; readonly value: string },
): Promise<readonly KnownIdentifier[]> {
  const { registries, joined } = await chooseRegistriesOfPerson(db, named)
  const known = new Map(
    normalisedFormsOfIdentifier(registries, named).map((one): [string, KnownIdentifier] => [mapKeyOf(one), one]),
  )
  let fresh = [...known.values()]
  for (let round = 0; round < MOST_FIND_ROUNDS && fresh.length > 0; round += 1) {
    const others = await Promise.all(fresh.map((one) => findOtherIdentifiers(db, registries, one)))
    fresh = (await joined(others.flat())).filter((one) => !known.has(mapKeyOf(one)))
    for (const one of fresh) known.set(mapKeyOf(one), one)
  }
  return [...known.values()]
}

const mapKeyOf = ({ type, value }: PersonIdentifier): string => `${type}:${value}`

/** The forms of an identifier in the registries, which may normalise it differently, or not list its type. */
function normalisedFormsOfIdentifier(
  registries: readonly Registry[],
  { type: name, value: raw }: { readonly type: string; readonly value: string },
): readonly KnownIdentifier[] {
  const found = new Map<string, KnownIdentifier>()
  // Asks only the built-in kind: if an operator added the type later, identifiers from before were stored as unlisted.
  const isListed = ({ name: own }: Kind): boolean => {
    const literal = kindNamed(own)
    return literal !== undefined && resolveIdentifierType(literal, name) !== undefined
  }
  for (const kind of [...KINDS, ...registries.map((registry) => registry.kind)]) {
    const type = resolveIdentifierType(kind, name)
    const value = type === undefined ? null : identifierValue(type, raw)
    if (type === undefined || value === null) continue
    found.set(`${type.name}:${value}`, { type: type.name, value, registries: null })
  }
  const unlisted = registries.filter(({ kind }) => !isListed(kind)).map(({ namespace }) => namespace)
  const value = identifierValue(UNLISTED, raw)
  if (value !== null && unlisted.length > 0) {
    const one = { type: UNLISTED.name, value, registries: new Set(unlisted) }
    found.set(mapKeyOf(one), one)
  }
  if (found.size > 0) return [...found.values()]
  const kinds = [...KINDS, ...registries.map((registry) => registry.kind)]
  const types = [...new Set(kinds.flatMap((kind) => kind.identifier_types.map((row) => row.name)))]
  throw new AdminRefusal(`type and value: must be an identifier of a type such as ${types.join(', ')}`)
}

async function findOtherIdentifiers(
  db: Database,
  registries: readonly Registry[],
  identifier: KnownIdentifier,
): Promise<readonly KnownIdentifier[]> {
  const places = registries
    .filter((registry) => identifier.registries?.has(registry.namespace) ?? true)
    .map(async (registry) => {
      const reader = (await requireStoredRecords(db, registry)).source.reader('sync')
      return registry.kind.record_types.map((recordType) => ({ registry, recordType, reader }))
    })
  const found = await Promise.all((await Promise.all(places)).flat().map((place) => identifiersOfOnlyRecord(place, identifier)))
  return found.flat()
}

/** Returns the unshared identifiers of the only record with this identifier, and of records merged into that record. */
async function identifiersOfOnlyRecord(
  place: RecordSearchScope,
  identifier: PersonIdentifier,
): Promise<readonly KnownIdentifier[]> {
  const { kind } = place.registry
  const isUnlisted = identifier.type === UNLISTED.name
  const [record, another] = await recordsWithIdentifier(place, isUnlisted ? kind : withAllIdentifierTypes(kind), identifier)
  if (record === undefined || another !== undefined) return []
  const alone = await unsharedRecordIdentifiers(place, record)
  return alone.map(({ type, value }) => ({ type, value, registries: null }))
}
