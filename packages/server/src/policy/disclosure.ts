/**
 * The only place that releases records: in synchronous and asynchronous answers, on every page, in the answer to a
 * question about an earlier request, and in notifications. A reply takes records as `Disclosed` alone, and only this
 * file makes those.
 */
import { canonicalJson, isJsonObject, type JsonValue, type RecordType } from '@rollcall/protocol'
import type { Grant } from '../model/grant.ts'
import { Disclosed } from '../model/outcome.ts'
import { extractRecord } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { cutRecord } from './cut.ts'

class DisclosedRecord extends Disclosed {}

/** What a grant says of records. */
type Disclosing = Pick<Grant, 'visible' | 'identifiers' | 'rows'>

/**
 * What of these records the grant shows. One after the other, so that a caller can stop where an answer becomes too large.
 * @param documents canonical JSON texts of records of one type
 * @param select cuts what may be seen to what a query chose of it; null: nothing of that record
 */
export function* disclose(
  grant: Disclosing,
  recordType: RecordType,
  documents: Iterable<string>,
  select: (document: string) => string | null = (document) => document,
): Generator<Disclosed, void, void> {
  for (const document of documents) {
    const selected = isInRows(grant, recordType, document) ? select(shown(grant, recordType, document)) : null
    if (selected !== null) yield new DisclosedRecord(selected)
  }
}

/**
 * The parts of a record that a question is about, each as a record of its own.
 * @param partsOf canonical JSON texts, cut from what may be seen of the record
 */
export function* discloseParts(
  grant: Disclosing,
  recordType: RecordType,
  document: string,
  partsOf: (document: string) => readonly string[],
): Generator<Disclosed, void, void> {
  for (const { text } of disclose(grant, recordType, [document])) {
    for (const part of partsOf(text)) yield new DisclosedRecord(part)
  }
}

/** Whether the record is one of those that may be found. A search asks the same of the database. */
export function isInRows(
  { rows, identifiers: { kind } }: Pick<Grant, 'rows' | 'identifiers'>,
  { name }: Pick<RecordType, 'name'>,
  document: string,
): boolean {
  const row = rows.get(name)
  if (row === undefined) return true
  const recordType = kind.record_types.find((one) => one.name === name)
  return (
    recordType !== undefined &&
    matches(row, extractRecord(kind, recordType, JSON.parse(document) as JsonValue))
  )
}

/** A record that is shown whole is sent as it is stored. */
function shown({ visible, identifiers }: Disclosing, { name }: RecordType, document: string): string {
  if (visible === null) return document
  const record: JsonValue = JSON.parse(document)
  const part = visible.get(name)
  return part !== undefined && isJsonObject(record)
    ? canonicalJson(cutRecord(identifiers, part, record))
    : '{}'
}
