/** An invented record of any record type, made from the kind's own data. */
import type { RecordType } from '../kinds/kind.ts'
import type { JsonObject } from './components.ts'

/** The person in the examples does not exist. Attributes that a record type lacks are left out. */
const SAMPLE_VALUES: readonly (readonly [attribute: string, value: unknown])[] = [
  ['surname', 'Okoro'],
  ['given_name', 'Ada'],
  ['sex', 'female'],
  ['birth_date', '1991-07-09'],
  ['assistance_unit', '2'],
  ['disability_status', '0'],
  ['disability_level', '2'],
  ['farmer_type', 'smallholder'],
  ['group_type', '2'],
  ['group_size', 4],
  ['poverty_score', 3.4],
  ['registration_date', '2024-05-02T08:30:00Z'],
]

/** The value of a sample's primary identifier, the same in requests and records. */
export function sampleIdentifier({ primary_identifier }: RecordType): { type: string; value: string } {
  return { type: primary_identifier, value: `${primary_identifier.replace(/[^A-Z]/g, '')}-0001` }
}

/** A record with a primary identifier and a few attributes, each at the first path that the kind reads it from. */
export function sampleRecord(recordType: RecordType): JsonObject {
  const { type, value } = sampleIdentifier(recordType)
  const record: JsonObject = { '@type': recordType.document_types[0] ?? recordType.name }
  const source = recordType.identifiers.find((row) => row.names === 'record' && row.type === type)
  if (source) put(record, source.path, [{ identifier_type: type, identifier_value: value }])
  for (const [name, sample] of SAMPLE_VALUES) {
    const path = recordType.attributes.find((attribute) => attribute.name === name)?.paths[0]
    if (path !== undefined) put(record, path, sample)
  }
  return record
}

function put(object: JsonObject, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop() as string
  let place = object
  for (const name of names) {
    place[name] ??= {}
    place = place[name] as JsonObject
  }
  place[last] = value
}
