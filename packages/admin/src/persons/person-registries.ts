/** Chooses the registries in which a person is looked up: live ones, or those of the sandbox. */

import { ENVIRONMENTS } from '@rollcall/core/model/environment'
import { recordsWithIdentifier, withAllIdentifierTypes } from '@rollcall/core/model/person-identifiers'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { type IdentifierType, identifierValue, type Kind, resolveIdentifierType } from '@rollcall/protocol'
import { listRegistries } from '@rollcall/records/registries/registries'
import { requireStoredRecords } from './stored-records.ts'

export interface PersonRegistries {
  readonly registries: readonly Registry[]
  /**
   * Returns those of the given identifiers that may identify the person. If sandbox registries were chosen, identifiers that a
   * live record has too are left out.
   */
  joined<Given extends Identifier>(identifiers: readonly Given[]): Promise<readonly Given[]>
}

/**
 * Chooses the live registries if a record there has the identifier, else those of the sandbox if a record there has it.
 * Without such a record all registries are chosen.
 */
export async function chooseRegistriesOfPerson(db: Database, given: Identifier): Promise<PersonRegistries> {
  const all = await listRegistries(db)
  const registriesIn = (environment: Registry['environment']) => all.filter((one) => one.environment === environment)
  const everything = <Given>(identifiers: readonly Given[]) => Promise.resolve(identifiers)
  for (const environment of ENVIRONMENTS) {
    const registries = registriesIn(environment)
    if (!(await isInAnyRecord(db, registries, given))) continue
    if (environment === 'live') return { registries, joined: everything }
    return {
      registries,
      async joined(identifiers) {
        const real = await Promise.all(identifiers.map((one) => isInAnyRecord(db, registriesIn('live'), one)))
        return identifiers.filter((_, at) => !real[at])
      },
    }
  }
  return { registries: all, joined: everything }
}

/** True when a record of one of these registries has the identifier. */
async function isInAnyRecord(db: Database, registries: readonly Registry[], { type, value }: Identifier): Promise<boolean> {
  for (const registry of registries) {
    const meaning = normaliseForRegistry(registry, { identifier_type: type, identifier_value: value })
    if (meaning === null) continue
    const reader = (await requireStoredRecords(db, registry)).source.reader('sync')
    for (const recordType of registry.kind.record_types) {
      const place = { registry, recordType, reader }
      if ((await recordsWithIdentifier(place, meaning.kind, meaning.identifier)).length > 0) return true
    }
  }
  return false
}

/** Normalises an identifier for a registry; null: the value is not valid. The kind need not list the identifier type. */
export function normaliseForRegistry(
  registry: Registry,
  { identifier_type, identifier_value }: { readonly identifier_type: string; readonly identifier_value: string },
): { readonly kind: Kind; readonly identifier: Identifier; readonly isListed: boolean } | null {
  const wide = withAllIdentifierTypes(registry.kind)
  const listed = resolveIdentifierType(wide, identifier_type)
  const type: IdentifierType = listed ?? { name: identifier_type, normaliser: 'code' }
  const value = identifierValue(type, identifier_value)
  if (value === null) return null
  const kind = listed === undefined ? { ...wide, identifier_types: [...wide.identifier_types, type] } : wide
  return { kind, identifier: { type: type.name, value }, isListed: listed !== undefined }
}
