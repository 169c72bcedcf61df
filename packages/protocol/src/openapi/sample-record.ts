/** Makes an invented record of any record type, from the kind. */

import type { JsonObject, JsonValue } from '../json.ts'
import type { Kind, RecordType } from '../kinds/kind.ts'
import { sampleOfForm } from '../kinds/value-pattern.ts'

/** The values of the attributes of an invented person or group. Attributes that a record type lacks are left out. */
const SAMPLE_VALUES: readonly (readonly [attribute: string, value: JsonValue])[] = [
  ['surname', 'Okoro'],
  ['given_name', 'Ada'],
  ['sex', 'female'],
  ['birth_date', '1991-07-09'],
  ['assistance_unit', '2'],
  ['enrolment_status', 'Active'],
  ['disability_status', '0'],
  ['disability_level', '2'],
  ['farmer_type', 'smallholder'],
  ['group_type', '2'],
  ['group_size', 4],
  ['poverty_score', 3.4],
  ['registration_date', '2024-05-02T08:30:00Z'],
]

/** The values of the members in the only element of each list in a sample record. */
const SAMPLE_ELEMENT_VALUES: Readonly<Record<string, JsonValue>> = {
  programme_identifier: 'PRG-01',
  programme_name: 'Winter Grant',
  enrolment_status: 'Active',
  enrolment_date: '2024-05-02',
  impairment_type: '1',
  impairment_level: '3',
  impairment_cause: '2',
  impairment_onset: '2',
}

/** The primary identifier of a sample, the same in requests and records. */
export function sampleIdentifier(
  { identifier_types }: Pick<Kind, 'identifier_types'>,
  { primary_identifier }: RecordType,
): { type: string; value: string } {
  const [pattern] = identifier_types.find(({ name }) => name === primary_identifier)?.patterns ?? []
  const value = pattern === undefined ? `${primary_identifier.replace(/[^A-Z]/g, '')}-0001` : sampleOfForm(pattern)
  return { type: primary_identifier, value }
}

/** A record with a primary identifier, a few attributes and one element of some lists, each at its first path. */
export function sampleRecord(kind: Kind, recordType: RecordType): JsonObject {
  const { type, value } = sampleIdentifier(kind, recordType)
  const record: JsonObject = { '@type': recordType.document_types[0] ?? recordType.name }
  const source = recordType.identifiers.find((row) => row.names === 'record' && row.type === type)
  if (source) setAtPath(record, source.path, [{ identifier_type: type, identifier_value: value }])
  for (const [name, sample] of SAMPLE_VALUES) {
    const path = recordType.attributes.find((attribute) => attribute.name === name)?.paths[0]
    if (path !== undefined) setAtPath(record, path, sample)
  }
  for (const { paths, members } of recordType.compounds ?? []) {
    const element: JsonObject = {}
    for (const { name, paths } of members) {
      const sample = SAMPLE_ELEMENT_VALUES[name]
      if (sample !== undefined && paths[0] !== undefined) setAtPath(element, paths[0], sample)
    }
    const [path] = paths
    if (path !== undefined && Object.keys(element).length > 0) setAtPath(record, path, [element])
  }
  return record
}

function setAtPath(object: JsonObject, path: string, value: JsonValue): void {
  const names = path.split('.')
  const last = names.pop() as string
  let place = object
  for (const name of names) {
    place[name] ??= {}
    place = place[name] as JsonObject
  }
  place[last] = value
}
