/** Which of a kind's record types a document is. */
import { type JsonValue, type Kind, type RecordType, recordTypesOf } from '@rollcall/protocol'
import { InvalidRecord } from '../store/records/prepare-record.ts'

/**
 * By the document's own `@type`; a document without one is of the kind's default record type.
 * @throws InvalidRecord when `@type` names no record type of the kind, or several
 */
export function recordTypeOf(kind: Kind, document: JsonValue): RecordType {
  const found = recordTypesOf(kind, document)
  const [first, second] = found
  if (first === undefined) {
    const names = kind.record_types.map(({ name }) => name).join(', ')
    throw new InvalidRecord(`@type must be one of the registry's record types: ${names}`)
  }
  if (second !== undefined) {
    const names = found.map(({ name }) => name).join(' or ')
    throw new InvalidRecord(`@type can mean ${names}; say which with --record-type`)
  }
  return first
}
