/** Which of a kind's record types a document is. */
import type { JsonValue, Kind, RecordType } from '@rollcall/protocol'
import { InvalidRecord } from '../store/prepare-record.ts'

/**
 * By the document's own `@type`, compared by the part after the last ":" without regard to case; a document
 * without one is of the kind's default record type.
 * @throws InvalidRecord when `@type` names no record type of the kind, or several
 */
export function recordTypeOf(kind: Kind, document: JsonValue): RecordType {
  const spellings = typesOf(document)
  if (spellings.length === 0) return kind.record_types[0]
  const found = kind.record_types.filter((recordType) =>
    recordType.document_types.some((name) => spellings.includes(lastPart(name))),
  )
  const [first, second] = found
  const names = kind.record_types.map(({ name }) => name).join(', ')
  if (first === undefined) throw new InvalidRecord(`@type is none of this registry's record types (${names})`)
  if (second !== undefined) {
    throw new InvalidRecord(
      `@type may mean ${found.map(({ name }) => name).join(' or ')}; state the record type`,
    )
  }
  return first
}

/** JSON-LD allows one type or an array of them. */
function typesOf(document: JsonValue): string[] {
  if (typeof document !== 'object' || document === null || !Object.hasOwn(document, '@type')) return []
  const type = (document as { [member: string]: JsonValue })['@type']
  const types = Array.isArray(type) ? type : [type]
  return types.filter((name) => typeof name === 'string' && name !== '').map((name) => lastPart(String(name)))
}

function lastPart(name: string): string {
  return name
    .slice(name.lastIndexOf(':') + 1)
    .trim()
    .toLowerCase()
}
