/**
 * The only place that releases records: in synchronous and asynchronous answers, on every page, in the answer to a
 * question about an earlier request, and in notifications. A reply takes records as `Disclosed` alone, and only this
 * file makes those.
 */
import {
  canonicalJson,
  isJsonObject,
  type JsonValue,
  type RecordType,
  resolveRecordType,
} from '@rollcall/protocol'
import { type Grant, isGranted } from '../model/grant.ts'
import { Disclosed } from '../model/outcome.ts'
import { extractRecord } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { cutRecord } from './cut.ts'

class DisclosedRecord extends Disclosed {}

/** What a grant says of records. */
type Disclosing = Pick<Grant, 'recordTypes' | 'visible' | 'identifiers' | 'rows'>

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
  if (!isGranted(grant.recordTypes, recordType.name)) return
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

/**
 * Records of a stored answer by the grant of today. They were cut when they were made, so that the conditions of a grant
 * cannot be asked of them: where there are any, nothing is shown.
 */
export const discloseAgain = (
  grant: Disclosing,
  recordType: RecordType,
  records: readonly JsonValue[],
): readonly Disclosed[] =>
  grant.rows.has(recordType.name) ? [] : [...disclose(grant, recordType, records.map(canonicalJson))]

/** Whether every record in a stored message may be shown by the grant of today as it is. */
export function isStillShown(grant: Grant, message: JsonValue): boolean {
  if (Array.isArray(message)) return message.every((element) => isStillShown(grant, element))
  if (!isJsonObject(message)) return true
  const { reg_record_type: name } = message
  const records = message.reg_records
  if (!Array.isArray(records)) return Object.values(message).every((value) => isStillShown(grant, value))
  const recordType = typeof name === 'string' ? resolveRecordType(grant.identifiers.kind, name) : undefined
  if (recordType === undefined) return false
  const shown = discloseAgain(grant, recordType, records)
  return (
    shown.length === records.length &&
    records.every((record, at) => canonicalJson(record) === shown[at]?.text)
  )
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
