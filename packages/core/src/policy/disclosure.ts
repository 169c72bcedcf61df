/**
 * The only place where records are released to participants: in answers of both modes, on every page, in answers about
 * earlier requests, and in notifications. A reply accepts records as `Disclosed` only, and only this file makes these.
 */
import {
  canonicalJson,
  isJsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  readIdentifiers,
  resolveRecordType,
  withoutPersons,
} from '@rollcall/protocol'
import { type Grant, isNameGranted, type VisibleTreeNode } from '../model/grant.ts'
import { oncePerObject } from '../model/once-per.ts'
import { Disclosed } from '../model/outcome.ts'
import { protectedPersonRemovalRule, withoutProtectedPersons } from '../model/protection.ts'
import { lazyRecordValues } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { cutRecord, type RelatedPerson } from './cut.ts'
import { PathCollector } from './disclosed-paths.ts'
import { addUndescribedPersons, auditedPersonsOf, findRelatedPersons, relatedPersonsAfterSelection } from './disclosed-persons.ts'
import { isHiddenRecord, withoutOtherHiddenPersons } from './hidden.ts'

class DisclosedRecord extends Disclosed {}

/** The parts of a grant that decide what is shown of a record. */
export type DisclosureTerms = Pick<Grant, 'recordTypes' | 'visible' | 'coverage' | 'identifiers' | 'rows' | 'hidden'>

/** Selects what the query asks for from the shown part of a record; null leaves the record out. */
export type SelectFromShown = (shown: JsonValue) => JsonValue | null

/**
 * Yields the shown parts of the granted records, one by one, so that a caller can stop when an answer is too large.
 * @param documents canonical JSON of records of one type
 * @param select cuts the shown part to the selection of a query, or to the content of a notification
 * @param read receives each parsed document that the grant's conditions allow, so that the caller need not parse it
 */
export function* discloseRecords(
  grant: DisclosureTerms,
  recordType: RecordType,
  documents: Iterable<string>,
  select: SelectFromShown | null = null,
  read?: (record: JsonValue) => void,
): Generator<Disclosed, void, void> {
  const paths = pathCollectorOf(recordType)
  for (const { document, record, shown, related } of shownRecords(grant, recordType, documents, read)) {
    const selected = select === null ? shown : select(shown)
    if (selected === null) continue
    // When nothing was cut from the record, its stored text is sent unchanged.
    const text = selected === record ? document : canonicalJson(selected)
    const left =
      select === null ? related : relatedPersonsAfterSelection(related, shown, text, (one) => canonicalJson(select(one)))
    yield new DisclosedRecord(text, {
      record_type: recordType.name,
      persons: auditedPersonsOf(grant.identifiers.kind, recordType, record, left),
      paths: paths.collect(selected),
    })
  }
}

/**
 * Yields the parts of one record that answer a question about one person. Each part is disclosed like a record of its own.
 * @param partsOf cuts these parts from the shown part of the record
 */
export function* discloseRecordParts(
  grant: DisclosureTerms,
  recordType: RecordType,
  document: string,
  partsOf: (shown: JsonValue) => readonly JsonValue[],
): Generator<Disclosed, void, void> {
  const paths = pathCollectorOf(recordType)
  const textOf = (record: JsonValue): string => canonicalJson(partsOf(record))
  for (const { record, shown, related } of shownRecords(grant, recordType, [document])) {
    const left = relatedPersonsAfterSelection(related, shown, textOf(shown), textOf)
    const persons = auditedPersonsOf(grant.identifiers.kind, recordType, record, left)
    for (const part of partsOf(shown)) {
      yield new DisclosedRecord(canonicalJson(part), { record_type: recordType.name, persons, paths: paths.collect(part) })
    }
  }
}

const pathCollectorOf = oncePerObject((_: RecordType) => new PathCollector())

interface ShownRecord {
  readonly document: string
  readonly record: JsonValue
  readonly shown: JsonValue
  /** Other persons about whom the record shows something. */
  readonly related: readonly RelatedPerson[]
}

/** Parses each document once, and yields the records that the grant allows, each with its shown part. */
function* shownRecords(
  grant: DisclosureTerms,
  recordType: RecordType,
  documents: Iterable<string>,
  onRead?: (record: JsonValue) => void,
): Generator<ShownRecord, void, void> {
  if (!isNameGranted(grant.recordTypes, recordType.name)) return
  for (const document of documents) {
    const read = JSON.parse(document) as JsonValue
    if (!isRecordGranted(grant, recordType, read)) continue
    onRead?.(read)
    const record = grant.hidden.takesOut === null ? read : withoutHiddenPersons(grant, recordType, read)
    if (record === null) continue
    const text = record === read ? document : canonicalJson(record)
    yield { document: text, record, ...shownPartOf(grant, recordType, record) }
  }
}

/** The record without hidden persons, the same object if there are none; null when the record is a hidden person's. */
function withoutHiddenPersons(grant: DisclosureTerms, recordType: RecordType, record: JsonValue): JsonValue {
  if (!isJsonObject(record)) return record
  return isHiddenRecord(grant, recordType, record) ? null : withoutOtherHiddenPersons(grant, recordType, record)
}

/** The part of a record that the grant shows, limited by the signed consent if there is one, and the related persons in it. */
function shownPartOf(
  { visible, coverage, identifiers }: DisclosureTerms,
  recordType: RecordType,
  whole: JsonValue,
): Pick<ShownRecord, 'shown' | 'related'> {
  const record = coverage === undefined ? whole : cutRecordToConsent(identifiers, coverage.get(recordType.name), whole)
  if (visible === null) return { shown: record, related: findRelatedPersons(identifiers.kind, recordType, record) }
  const part = visible.get(recordType.name)
  if (part === undefined || !isJsonObject(record)) return { shown: {}, related: [] }
  const described: RelatedPerson[] = []
  const shown = cutRecord(identifiers, part, record, (person) => described.push(person))
  return { shown, related: addUndescribedPersons(identifiers.kind, recordType, record, shown, described) }
}

/** The part of a record that the signed consent covers. After that, the grant is applied to this part. */
const cutRecordToConsent = (
  identifiers: DisclosureTerms['identifiers'],
  coverage: VisibleTreeNode | undefined,
  record: JsonValue,
): JsonValue => (coverage === undefined || !isJsonObject(record) ? {} : cutRecord(identifiers, coverage, record))

/** The records of a stored answer that may still be shown. */
export interface DisclosedStoredRecords {
  readonly shown: readonly Disclosed[]
  /** The number of records of hidden persons. They are left out, and the answer does not count them. */
  readonly hidden: number
}

/**
 * Applies the current grant to the records of a stored answer. The stored records were cut, so conditions of the grant cannot be
 * tested: when the grant has a condition for the record type, nothing is shown.
 * @param isOld true when a person may have been protected after the answer was made: a record is then shown only if
 * `hasIdentifierForEveryPerson`
 */
export function discloseStoredRecords(
  grant: DisclosureTerms,
  recordType: RecordType,
  records: readonly JsonValue[],
  isOld = false,
): DisclosedStoredRecords {
  const left = records.filter((record) => !isJsonObject(record) || !isHiddenRecord(grant, recordType, record))
  const hidden = records.length - left.length
  if (grant.rows.has(recordType.name)) return { shown: [], hidden }
  const shown = isOld ? left.filter((record) => hasIdentifierForEveryPerson(grant, recordType, record)) : left
  return { shown: [...discloseRecords(grant, recordType, shown.map(canonicalJson))], hidden }
}

/**
 * True when the record has its primary identifier, and every person of a relation in it has an identifier. Also true
 * when the grant removes nobody from records.
 */
function hasIdentifierForEveryPerson(
  { hidden: { takesOut }, identifiers: { kind } }: Pick<DisclosureTerms, 'hidden' | 'identifiers'>,
  recordType: RecordType,
  record: JsonValue,
): boolean {
  if (takesOut === null) return true
  const own = readIdentifiers(kind, recordType, record)
  if (!isJsonObject(record) || !own.some(({ type }) => type === recordType.primary_identifier)) return false
  let isNamed = true
  withoutPersons(kind, recordType, record, ({ identifiers, relation }) => {
    isNamed &&= relation === null || identifiers.length > 0
    return null
  })
  return isNamed
}

/**
 * True when the current grant certainly shows every record of a stored reply, unchanged. False where this is uncertain: the grant
 * has a condition for the record type, or the grant hides persons, and some person in a record has no identifier.
 */
export const areRecordsStillShown = (grant: Grant, message: JsonValue): boolean =>
  isTrueForAllRecords(grant.identifiers.kind, message, (recordType, records) => {
    const { shown } = discloseStoredRecords(grant, recordType, records, true)
    return shown.length === records.length && records.every((record, at) => canonicalJson(record) === shown[at]?.text)
  })

/**
 * True when certainly no record in a stored reply shows a person who was protected after the reply was made with this grant. If
 * the grant has an emergency part, the reply may be the answer to an emergency, which must not show protected persons of any
 * category; without this part, the categories of the grant may be shown.
 */
export function showsNoProtectedPerson(grant: Grant, message: JsonValue): boolean {
  const { identifiers, hidden, emergency } = grant
  const { kind } = identifiers
  const categories = emergency === undefined ? hidden.categories : []
  if (hidden.protection.byIdentifier.size === 0) return true
  const takesOut = protectedPersonRemovalRule(kind, hidden.protection, categories)
  const hiding = { identifiers, hidden: { ...hidden, categories, takesOut } }
  return isTrueForAllRecords(kind, message, (recordType, records) =>
    records.every(
      (record) =>
        isJsonObject(record) &&
        !isHiddenRecord(hiding, recordType, record) &&
        hasIdentifierForEveryPerson(hiding, recordType, record) &&
        withoutOtherHiddenPersons(hiding, recordType, record) === record,
    ),
  )
}

/**
 * True when `holds` returns true for each list of records (`reg_records`) in a stored message. A single record without a list is
 * passed as a list of one. An unknown record type gives false.
 */
function isTrueForAllRecords(
  kind: Kind,
  message: JsonValue,
  holds: (recordType: RecordType, records: readonly JsonValue[]) => boolean,
): boolean {
  if (Array.isArray(message)) return message.every((element) => isTrueForAllRecords(kind, element, holds))
  if (!isJsonObject(message)) return true
  const { reg_record_type: name } = message
  const found = message.reg_records
  if (found === undefined || found === null) {
    return Object.values(message).every((value) => isTrueForAllRecords(kind, value, holds))
  }
  const recordType = typeof name === 'string' ? resolveRecordType(kind, name) : undefined
  return recordType !== undefined && holds(recordType, Array.isArray(found) ? found : [found])
}

type RecordConditionTerms = Pick<Grant, 'rows' | 'identifiers' | 'hidden'>

/** True when the record, as text, fulfils the grant's conditions. A search needs no such test: its query has these conditions. */
export const isRecordTextGranted = (
  grant: RecordConditionTerms,
  recordType: Pick<RecordType, 'name'>,
  document: string,
): boolean => !grant.rows.has(recordType.name) || isRecordGranted(grant, recordType, JSON.parse(document) as JsonValue)

/** True when the record, parsed, fulfils the conditions of the grant. */
export function isRecordGranted(grant: RecordConditionTerms, { name }: Pick<RecordType, 'name'>, record: JsonValue): boolean {
  const row = grant.rows.get(name)
  if (row === undefined) return true
  const { kind } = grant.identifiers
  const recordType = kind.record_types.find((one) => one.name === name)
  if (recordType === undefined || !isJsonObject(record)) return false
  // Conditions are tested on records without any protected person, in the database and in memory.
  const { document } = withoutProtectedPersons(kind, recordType, grant.hidden.protection, record)
  return matches(row, lazyRecordValues(kind, recordType, document))
}
