/**
 * Finds a person who withdraws a consent: in the live registries if a record there has the identifier; else in those of the
 * sandbox if a record there has it; else in all.
 */

import { createPseudonymMaker } from '@rollcall/audit/persons'
import { recordsWithIdentifier, unsharedRecordIdentifiers } from '@rollcall/core/model/person-identifiers'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { RecordType } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { AdminRefusal } from '../admin-function.ts'
import type { HasVault } from '../deps.ts'
import { chooseRegistriesOfPerson, normaliseForRegistry } from '../persons/person-registries.ts'

/** An identifier of the person, as the caller gives it. */
export interface GivenPerson {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** The identifiers of a person who withdraws, as pseudonyms. */
export interface WithdrawingPerson {
  /** The given identifier, and from each registry the identifiers of the person's record that no other record there has. */
  readonly all: readonly Uint8Array[]
  /** The given identifier, and the primary ones of the person's records. Other identifiers may have been another person's. */
  readonly own: readonly Uint8Array[]
}

/**
 * Finds a person by an identifier, and returns the person's identifiers as pseudonyms.
 * @throws AdminRefusal no registry lists such a type, and no record has the identifier; its value has a wrong form; or several
 * records of one type in a registry have it
 */
export async function findWithdrawingPerson({ db, vault }: HasVault, person: GivenPerson): Promise<WithdrawingPerson> {
  const all = new Map<string, Identifier>()
  const own = new Map<string, Identifier>()
  const add = (one: Identifier, isOwn: boolean): void => {
    all.set(`${one.type} ${one.value}`, one)
    if (isOwn) own.set(`${one.type} ${one.value}`, one)
  }
  const given = { type: person.identifier_type, value: person.identifier_value }
  const { registries, joined } = await chooseRegistriesOfPerson(db, given)
  for (const registry of registries) {
    const meaning = normaliseForRegistry(registry, person)
    if (meaning === null) continue
    const { kind, identifier, isListed } = meaning
    if (isListed) add(identifier, true)
    const reader = recordsOf(db, registry).source.reader('sync')
    for (const recordType of personRecordTypes(registry)) {
      const place = { registry, recordType, reader }
      const [record, another] = await recordsWithIdentifier(place, kind, identifier)
      if (another !== undefined) {
        throw new AdminRefusal(
          `identifier_value: several records bear it; give the ${recordType.primary_identifier} of the person`,
        )
      }
      if (record === undefined) continue
      for (const one of await joined(await unsharedRecordIdentifiers(place, record))) {
        add(one, one.type === recordType.primary_identifier)
      }
    }
  }
  if (all.size === 0) {
    throw new AdminRefusal('identifier_type: no registry has identifiers of this type and form')
  }
  const pseudonyms = createPseudonymMaker(db, vault)
  return { all: await pseudonyms([...all.values()]), own: await pseudonyms([...own.values()]) }
}

const personRecordTypes = ({ kind }: Registry): readonly RecordType[] =>
  kind.record_types.filter(({ identifiers }) => identifiers.every(({ names }) => names === 'record'))
