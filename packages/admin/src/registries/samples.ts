/** Synthetic records as a registry of a kind has them, about no real person. */

import type { Registry } from '@rollcall/core/model/registry'
import { type JsonObject, kindNamed, type RecordType, recordTypesOf } from '@rollcall/protocol'
import type { HasDatabase } from '../deps.ts'

export interface HasSamples extends HasDatabase {
  /**
   * Synthetic records of a kind, by the kind's name; the same ones each time.
   * @param identifier_types maps each primary identifier type of the kind to that of the registry, if the registry has another
   */
  readonly samples: (kind: string, identifier_types?: Readonly<Record<string, string>>) => Iterable<object>
}

/** Synthetic records of a type, with the identifier types of the registry. */
export function* syntheticRecords(
  { samples }: Pick<HasSamples, 'samples'>,
  { kind }: Pick<Registry, 'kind'>,
  recordType: Pick<RecordType, 'name'>,
): Generator<JsonObject> {
  for (const sample of samples(kind.name, kindToRegistryPrimaryTypes(kind))) {
    // Our own generator makes plain JSON, so the cast is safe.
    if (recordTypesOf(kind, sample).some(({ name }) => name === recordType.name)) yield sample as JsonObject
  }
}

/** Maps the primary identifier types of the kind to those of the registry, where they differ. */
function kindToRegistryPrimaryTypes({ name: kind, record_types }: Registry['kind']): Record<string, string> {
  const pairs = (kindNamed(kind)?.record_types ?? []).flatMap(({ name, primary_identifier }) => {
    const own = record_types.find((row) => row.name === name)?.primary_identifier
    return own === undefined || own === primary_identifier ? [] : [[primary_identifier, own] as const]
  })
  return Object.fromEntries(pairs)
}
