/** Finds the record of a person who is to be protected, in the transaction that protects the person. */

import { identifiersNamingRecord, type RecordSearchScope, recordsWithIdentifier } from '@rollcall/core/model/person-identifiers'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { RecordReader } from '@rollcall/core/model/record-source'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { RecordToProtect } from '@rollcall/records/records/protect-person'
import { AdminRefusal } from '../admin-function.ts'

/** The most records that are read of each record type. Records of households that name the person may be among them. */
const MOST_RECORDS_READ = 1_000

/**
 * Finds the record that the identifier names; null: the registry has none.
 * @throws AdminRefusal several records have the identifier, or the record was merged into another one
 */
export async function findRecordToProtect(
  reader: RecordReader,
  registry: Registry,
  named: Identifier,
): Promise<RecordToProtect | null> {
  const found: RecordToProtect[] = []
  const isNamed = ({ type, value }: Identifier): boolean => type === named.type && value === named.value
  const page = { sort: [], limit: MOST_RECORDS_READ, offset: 0, cap: MOST_RECORDS_READ, categories: PROTECTION_CATEGORIES }
  for (const recordType of registry.kind.record_types) {
    const predicate = { is: 'identifier', identifiers: [named] } as const
    const { records } = await reader.find(registry, { recordType, predicate, page })
    const ids = records.map(({ id }) => id)
    const merged = await reader.merged(registry, recordType, ids)
    for (const { id, document } of records) {
      const namesOf = (text: string) => identifiersNamingRecord(registry.kind, recordType, JSON.parse(text))
      const own = namesOf(document)
      const aliases = (merged.get(id) ?? []).flatMap((one) => namesOf(one.document))
      if (aliases.some(isNamed)) {
        throw new AdminRefusal('identifier: the record was merged into another one; name that one', { reason: 'conflict' })
      }
      if (own.some(isNamed)) found.push({ recordType, id, identifiers: [...own, ...aliases] })
    }
  }
  const [bearer = null, another] = found
  if (another !== undefined) {
    throw new AdminRefusal('identifier: several records have it; name the record by its primary identifier')
  }
  return bearer === null || registry.own_records ? bearer : omitSharedIdentifiers(reader, registry, bearer)
}

/** Leaves out identifiers that other records of a live source have too. For our own tables the store does this. */
async function omitSharedIdentifiers(
  reader: RecordReader,
  registry: Registry,
  bearer: RecordToProtect,
): Promise<RecordToProtect> {
  const isShared = async (identifier: Identifier): Promise<boolean> => {
    if (identifier.type === bearer.recordType.primary_identifier) return false
    for (const recordType of registry.kind.record_types) {
      const place: RecordSearchScope = { registry, recordType, reader }
      const bearers = await recordsWithIdentifier(place, registry.kind, identifier)
      if (bearers.some(({ id }) => recordType.name !== bearer.recordType.name || id !== bearer.id)) return true
    }
    return false
  }
  const shared = await Promise.all(bearer.identifiers.map(isShared))
  return { ...bearer, identifiers: bearer.identifiers.filter((_, at) => !shared[at]) }
}
