/** Identifiers of synthetic people that a tool can search for in a registry of the demo. */
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { IdentifierType } from '@rollcall/protocol'
import { sampleIdentifiers } from '@rollcall/records/records/record-counts'
import { recordsOf } from '@rollcall/records/records/registry-records'

/** An identifier to search for. */
export interface DemoSample {
  readonly identifier_type: string
  readonly identifier_value: string
}

const SAMPLE_COUNTS = { primary: 24, other: 2 }
/** With fewer samples of a registry, `findDemoSamples` throws. */
const LEAST_SAMPLES = 20

/**
 * Samples of a registry, each of which names exactly one record of its default record type: mostly identifiers of
 * the primary type, then some of other types that are written in one way only (a telephone is not).
 */
export async function findDemoSamples(db: Database, registry: Registry): Promise<readonly DemoSample[]> {
  const [recordType] = registry.kind.record_types
  const others = registry.kind.identifier_types.filter(hasCodeNormaliser).map(({ name }) => [name, SAMPLE_COUNTS.other])
  const wanted = { ...Object.fromEntries(others), [recordType.primary_identifier]: SAMPLE_COUNTS.primary }
  const found = await sampleIdentifiers(db, registry, recordType, wanted)
  const records = recordsOf(db, registry).source.reader('sync')
  const page = { sort: [], limit: 1, offset: 0, cap: 1 }
  const totals = await Promise.all(
    found.map((identifier) =>
      records.find(registry, { recordType, predicate: { is: 'identifier', identifiers: [identifier] }, page }),
    ),
  )
  const samples = found
    .filter((_, at) => totals[at]?.total === 1)
    .map(({ type, value }) => ({ identifier_type: type, identifier_value: value }))
    .sort((one, other) => sortRank(one, recordType.primary_identifier) - sortRank(other, recordType.primary_identifier))
  if (samples.length < LEAST_SAMPLES) throw new Error(`${registry.namespace} has only ${samples.length} samples`)
  return samples
}

const hasCodeNormaliser = ({ normaliser }: IdentifierType): boolean => normaliser === 'code'

const sortRank = ({ identifier_type }: DemoSample, primary: string): number => (identifier_type === primary ? 0 : 1)
