/** Synthetic records: what a registry of a kind has, about nobody. */

import type { Registry } from '@rollcall/core/model/registry'
import { type JsonObject, kindNamed, type RecordType, recordTypesOf } from '@rollcall/protocol'
import type { HasDatabase } from '../deps.ts'

export interface HasSamples extends HasDatabase {
  /**
   * Records of a kind that are about nobody, by the kind's name; the same ones each time.
   * @param identifier_types the new name of each identifier type that a registry calls otherwise
   */
  readonly samples: (kind: string, identifier_types?: Readonly<Record<string, string>>) => Iterable<object>
}

/** Records of a type, with the identifiers by which the registry knows its records. */
export function* samplesOf(
  { samples }: Pick<HasSamples, 'samples'>,
  { kind }: Pick<Registry, 'kind'>,
  recordType: Pick<RecordType, 'name'>,
): Generator<JsonObject> {
  for (const sample of samples(kind.name, renamedPrimaries(kind))) {
    // Made by ourselves: plain JSON.
    if (recordTypesOf(kind, sample).some(({ name }) => name === recordType.name)) yield sample as JsonObject
  }
}

/** By the primary identifier that the kind itself has, the one that the registry has in its place. */
function renamedPrimaries({ name: kind, record_types }: Registry['kind']): Record<string, string> {
  const pairs = (kindNamed(kind)?.record_types ?? []).flatMap(({ name, primary_identifier }) => {
    const own = record_types.find((row) => row.name === name)?.primary_identifier
    return own === undefined || own === primary_identifier ? [] : [[primary_identifier, own] as const]
  })
  return Object.fromEntries(pairs)
}
