/** Finds a person's records by an identifier, and the identifiers that no record of another person has. */

import type { PersonIdentifier } from '@rollcall/core/model/audit-entry'
import { recordsWithIdentifier, unsharedRecordIdentifiers, withAllIdentifierTypes } from '@rollcall/core/model/person-identifiers'
import type { RecordId } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { identifierValue, type RecordType, resolveIdentifierType } from '@rollcall/protocol'
import { AdminRefusal } from '../admin-function.ts'
import { chooseRegistriesOfPerson } from './person-registries.ts'
import { requireStoredRecords } from './stored-records.ts'

/** A record of the person, and where it is stored. */
export interface RecordOfPerson {
  readonly registry: Registry
  readonly recordType: RecordType
  readonly id: RecordId
  readonly document: string
}

export interface FoundPerson {
  /** The given identifier, and those that only the person's records, or records merged into them, have. */
  readonly identifiers: readonly PersonIdentifier[]
  readonly records: readonly RecordOfPerson[]
  /** The given identifier, as each registry normalises it. */
  readonly given: readonly { readonly registry: Registry; readonly identifier: PersonIdentifier }[]
}

/**
 * Finds the records and identifiers of a person by an identifier, in the registries that `chooseRegistriesOfPerson` chooses.
 * Identifiers that several records have, such as the telephone of a household, are left out: they do not identify one person.
 * @throws AdminRefusal no registry has identifiers of the type, the value is not valid, or it names several records
 */
export async function findPerson(
  db: Database,
  { type, value }: { readonly type: string; readonly value: string },
): Promise<FoundPerson> {
  const { registries, joined } = await chooseRegistriesOfPerson(db, { type, value })
  const given = registries.flatMap((registry) => {
    const known = resolveIdentifierType(registry.kind, type)
    return known === undefined ? [] : [{ registry, known }]
  })
  if (given.length === 0) {
    throw new AdminRefusal('type: no registry has identifiers of this type', { reason: 'not_found' })
  }
  const named = given.map(({ registry, known }) => {
    const normalised = identifierValue(known, value)
    if (normalised === null) throw new AdminRefusal(`value: it is not a valid ${known.name}`)
    return { registry, identifier: { type: known.name, value: normalised } }
  })
  const records: RecordOfPerson[] = []
  const identifiers = new Map<string, PersonIdentifier>()
  const add = (one: PersonIdentifier) => identifiers.set(`${one.type}:${one.value}`, one)
  for (const { registry, identifier } of named) {
    add(identifier)
    const reader = (await requireStoredRecords(db, registry)).source.reader('sync')
    for (const recordType of registry.kind.record_types) {
      const place = { registry, recordType, reader }
      const [record, second] = await recordsWithIdentifier(place, withAllIdentifierTypes(registry.kind), identifier)
      if (second !== undefined) {
        throw new AdminRefusal(
          `value: more than one ${recordType.name} of ${registry.namespace} has it; give an identifier of one person`,
          { reason: 'conflict' },
        )
      }
      if (record === undefined) continue
      records.push({ registry, recordType, ...record })
      for (const one of await joined(await unsharedRecordIdentifiers(place, record, { contacts: true }))) add(one)
    }
  }
  return { identifiers: [...identifiers.values()], records, given: named }
}
