/** The person who withdraws a consent, in all registries, as pseudonyms. */
import {
  type IdentifierType,
  identifierValue,
  type Kind,
  type RecordType,
  resolveIdentifierType,
} from '@rollcall/protocol'
import { createPseudonyms } from '../accounts/pseudonyms.ts'
import { bearersOf, identifiersAlone, withAllTypes } from '../model/person-identifiers.ts'
import type { Identifier } from '../model/records.ts'
import type { Registry } from '../model/registry.ts'
import { ownRecords } from '../store/records/own-records.ts'
import { listRegistries } from '../store/registries/registries.ts'
import type { HasVault } from './needs.ts'
import { AdminRefusal } from './use-case.ts'

export interface GivenPerson {
  readonly identifier_type: string
  readonly identifier_value: string
}

/** As pseudonyms. */
export interface WithdrawingPerson {
  /** The identifier that is given, and those that the person's record alone bears, of each registry. */
  readonly all: readonly Buffer[]
  /** The identifier that is given, and the primary ones of the person's records: nobody else had them before. */
  readonly own: readonly Buffer[]
}

/** @throws AdminRefusal no registry has such an identifier, or several records of one registry bear it */
export async function withdrawingPerson(
  { db, vault }: HasVault,
  person: GivenPerson,
): Promise<WithdrawingPerson> {
  const all = new Map<string, Identifier>()
  const own = new Map<string, Identifier>()
  const add = (one: Identifier, isOwn: boolean): void => {
    all.set(`${one.type} ${one.value}`, one)
    if (isOwn) own.set(`${one.type} ${one.value}`, one)
  }
  const reader = ownRecords(db).reader('sync')
  for (const registry of await listRegistries(db)) {
    const meaning = meaningIn(registry, person)
    if (meaning === null) continue
    const { kind, identifier, isListed } = meaning
    if (isListed) add(identifier, true)
    for (const recordType of typesOfPersons(registry)) {
      const place = { registry, recordType, reader }
      const [record, another] = await bearersOf(place, kind, identifier)
      if (another !== undefined) {
        throw new AdminRefusal(
          `identifier_value: several records bear it; give the ${recordType.primary_identifier} of the person`,
        )
      }
      if (record === undefined) continue
      for (const one of await identifiersAlone(place, record)) {
        add(one, one.type === recordType.primary_identifier)
      }
    }
  }
  if (all.size === 0) {
    throw new AdminRefusal('identifier_type: no registry has identifiers of this type and form')
  }
  const pseudonyms = createPseudonyms(db, vault)
  return { all: await pseudonyms([...all.values()]), own: await pseudonyms([...own.values()]) }
}

const typesOfPersons = ({ kind }: Registry): readonly RecordType[] =>
  kind.record_types.filter(({ identifiers }) => identifiers.every(({ names }) => names === 'record'))

/** A registry may hold identifiers of a type that its kind, or no kind, lists: its records name the type. */
function meaningIn(
  registry: Registry,
  { identifier_type, identifier_value }: GivenPerson,
): { readonly kind: Kind; readonly identifier: Identifier; readonly isListed: boolean } | null {
  const wide = withAllTypes(registry.kind)
  const listed = resolveIdentifierType(wide, identifier_type)
  const type: IdentifierType = listed ?? { name: identifier_type, normaliser: 'code' }
  const value = identifierValue(type, identifier_value)
  if (value === null) return null
  const kind = listed === undefined ? { ...wide, identifier_types: [...wide.identifier_types, type] } : wide
  return { kind, identifier: { type: type.name, value }, isListed: listed !== undefined }
}
