/**
 * The only place that releases records: in synchronous and asynchronous answers, on every page, in the answer to a
 * question about an earlier request, and in notifications. A reply takes records as `Disclosed` alone, and only this
 * file makes those.
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
import type { AccountedPerson } from '../model/account.ts'
import { type Grant, isGranted, type Visible } from '../model/grant.ts'
import { Disclosed } from '../model/outcome.ts'
import { takesOutProtected } from '../model/protection.ts'
import { extractRecord } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { cutRecord, type RelatedPerson } from './cut.ts'
import { isHiddenRecord, publicDocument, withoutHidden } from './hidden.ts'
import { leftBy, PathNames, personOf, personsIn, relatedIn, withUndescribed } from './shown-facts.ts'

class DisclosedRecord extends Disclosed {}

/** What a grant says of records. */
export type Disclosing = Pick<Grant, 'recordTypes' | 'visible' | 'covered' | 'identifiers' | 'rows' | 'hidden'>

/** Cuts what may be seen to what is asked for; null: nothing of that record. */
export type Select = (shown: JsonValue) => JsonValue | null

/**
 * What of these records the grant shows. One after the other, so that a caller can stop where an answer becomes too large.
 * @param documents canonical JSON texts of records of one type
 * @param select what a query chose, or a notification has, of what may be seen
 * @param read is called with the content of each document: a caller who needs more of it does not parse it again
 */
export function* disclose(
  grant: Disclosing,
  recordType: RecordType,
  documents: Iterable<string>,
  select: Select | null = null,
  read?: (record: JsonValue) => void,
): Generator<Disclosed, void, void> {
  const paths = pathsOf(recordType)
  for (const { document, record, shown, related } of shownRecords(grant, recordType, documents, read)) {
    const selected = select === null ? shown : select(shown)
    if (selected === null) continue
    // A record that is shown whole is sent as it is stored.
    const text = selected === record ? document : canonicalJson(selected)
    const left = select === null ? related : leftBy(related, shown, text, (one) => canonicalJson(select(one)))
    yield new DisclosedRecord(text, {
      record_type: recordType.name,
      persons: personsOf(grant, recordType, record, left),
      paths: paths.of(selected),
    })
  }
}

/**
 * The parts of a record that a question is about, each as a record of its own.
 * @param partsOf cuts them from what may be seen of the record
 */
export function* discloseParts(
  grant: Disclosing,
  recordType: RecordType,
  document: string,
  partsOf: (shown: JsonValue) => readonly JsonValue[],
): Generator<Disclosed, void, void> {
  const paths = pathsOf(recordType)
  const textOf = (record: JsonValue): string => canonicalJson(partsOf(record))
  for (const { record, shown, related } of shownRecords(grant, recordType, [document])) {
    const persons = personsOf(grant, recordType, record, leftBy(related, shown, textOf(shown), textOf))
    for (const part of partsOf(shown)) {
      yield new DisclosedRecord(canonicalJson(part), { record_type: recordType.name, persons, paths: paths.of(part) })
    }
  }
}

const known = new WeakMap<RecordType, PathNames>()

function pathsOf(recordType: RecordType): PathNames {
  const paths = known.get(recordType) ?? new PathNames()
  known.set(recordType, paths)
  return paths
}

interface ShownRecord {
  readonly document: string
  readonly record: JsonValue
  readonly shown: JsonValue
  /** Other persons of whom something is shown. */
  readonly related: readonly RelatedPerson[]
}

/** Each document is parsed once. */
function* shownRecords(
  grant: Disclosing,
  recordType: RecordType,
  documents: Iterable<string>,
  onRead?: (record: JsonValue) => void,
): Generator<ShownRecord, void, void> {
  if (!isGranted(grant.recordTypes, recordType.name)) return
  for (const document of documents) {
    const read = JSON.parse(document) as JsonValue
    onRead?.(read)
    const record = rowsHave(grant, recordType, read) ? found(grant, recordType, read) : null
    if (record === null) continue
    const text = record === read ? document : canonicalJson(record)
    yield { document: text, record, ...shownOf(grant, recordType, record) }
  }
}

/** The record without hidden persons, the same where it has none; null: it is one of a hidden person. */
function found(grant: Disclosing, recordType: RecordType, record: JsonValue): JsonValue {
  if (grant.hidden.takesOut === null || !isJsonObject(record)) return record
  return isHiddenRecord(grant, recordType, record) ? null : withoutHidden(grant, recordType, record)
}

function shownOf(
  { visible, covered, identifiers }: Disclosing,
  recordType: RecordType,
  whole: JsonValue,
): Pick<ShownRecord, 'shown' | 'related'> {
  const record = covered === undefined ? whole : coveredPart(identifiers, covered.get(recordType.name), whole)
  if (visible === null) return { shown: record, related: relatedIn(identifiers.kind, recordType, record) }
  const part = visible.get(recordType.name)
  if (part === undefined || !isJsonObject(record)) return { shown: {}, related: [] }
  const described: RelatedPerson[] = []
  const shown = cutRecord(identifiers, part, record, (person) => described.push(person))
  return { shown, related: withUndescribed(identifiers.kind, recordType, record, shown, described) }
}

/** What a signed consent covers: the grant is asked of nothing else. */
const coveredPart = (
  identifiers: Disclosing['identifiers'],
  covered: Visible | undefined,
  record: JsonValue,
): JsonValue => (covered === undefined || !isJsonObject(record) ? {} : cutRecord(identifiers, covered, record))

const personsOf = (
  { identifiers: { kind } }: Disclosing,
  recordType: RecordType,
  record: JsonValue,
  related: readonly RelatedPerson[],
): readonly AccountedPerson[] => [personOf(kind, recordType, record), ...personsIn(kind, related)]

/** What of a stored answer is shown. */
export interface DisclosedAgain {
  readonly shown: readonly Disclosed[]
  /** Records of hidden persons: they are answered as if they had never been found. */
  readonly hidden: number
}

/**
 * Records of a stored answer by the grant of today. They were cut when they were made, so that the conditions of a grant
 * cannot be asked of them: where there are any, nothing is shown.
 * @param isOld whether somebody was protected after the answer was made: then nothing is shown of whom it cannot be told who
 *   they are
 */
export function discloseAgain(
  grant: Disclosing,
  recordType: RecordType,
  records: readonly JsonValue[],
  isOld = false,
): DisclosedAgain {
  const left = records.filter((record) => !isJsonObject(record) || !isHiddenRecord(grant, recordType, record))
  const hidden = records.length - left.length
  if (grant.rows.has(recordType.name)) return { shown: [], hidden }
  const told = isOld ? left.filter((record) => isTold(grant, recordType, record)) : left
  return { shown: [...disclose(grant, recordType, told.map(canonicalJson))], hidden }
}

/** Whether a record says by identifiers who it is of, and who the others in it are. */
function isTold(
  { hidden: { takesOut }, identifiers: { kind } }: Pick<Disclosing, 'hidden' | 'identifiers'>,
  recordType: RecordType,
  record: JsonValue,
): boolean {
  if (takesOut === null) return true
  const own = readIdentifiers(kind, recordType, record)
  if (!isJsonObject(record) || !own.some(({ type }) => type === recordType.primary_identifier)) return false
  let told = true
  withoutPersons(kind, recordType, record, ({ identifiers, relation }) => {
    told &&= relation === null || identifiers.length > 0
    return null
  })
  return told
}

/** Whether every record in a stored message may be shown by the grant of today as it is. */
export const isStillShown = (grant: Grant, message: JsonValue): boolean =>
  everyRecords(grant.identifiers.kind, message, (recordType, records) => {
    const { shown } = discloseAgain(grant, recordType, records, true)
    return shown.length === records.length && records.every((record, at) => canonicalJson(record) === shown[at]?.text)
  })

/**
 * Whether no record in a message that was made by this grant shows a person who was protected since. Where the grant has an
 * emergency part, which shows nobody who is protected, it is not known what was shown by that.
 */
export function showsNobodyProtected(grant: Grant, message: JsonValue): boolean {
  const { identifiers, hidden, emergency } = grant
  const { kind } = identifiers
  const categories = emergency === undefined ? hidden.categories : []
  if (hidden.protection.borne.size === 0) return true
  const takesOut = takesOutProtected(kind, hidden.protection, categories)
  const hiding = { identifiers, hidden: { ...hidden, categories, takesOut } }
  return everyRecords(kind, message, (recordType, records) =>
    records.every(
      (record) =>
        isJsonObject(record) &&
        !isHiddenRecord(hiding, recordType, record) &&
        isTold(hiding, recordType, record) &&
        withoutHidden(hiding, recordType, record) === record,
    ),
  )
}

/** Whether something holds of all records in a stored message. */
function everyRecords(
  kind: Kind,
  message: JsonValue,
  holds: (recordType: RecordType, records: readonly JsonValue[]) => boolean,
): boolean {
  if (Array.isArray(message)) return message.every((element) => everyRecords(kind, element, holds))
  if (!isJsonObject(message)) return true
  const { reg_record_type: name } = message
  const records = message.reg_records
  if (!Array.isArray(records)) {
    return Object.values(message).every((value) => everyRecords(kind, value, holds))
  }
  const recordType = typeof name === 'string' ? resolveRecordType(kind, name) : undefined
  return recordType !== undefined && holds(recordType, records)
}

type RowScope = Pick<Grant, 'rows' | 'identifiers' | 'hidden'>

/** Whether the record is one of those that may be found. A search asks the same of the database. */
export const isInRows = (grant: RowScope, recordType: Pick<RecordType, 'name'>, document: string): boolean =>
  !grant.rows.has(recordType.name) || rowsHave(grant, recordType, JSON.parse(document) as JsonValue)

function rowsHave(grant: RowScope, { name }: Pick<RecordType, 'name'>, record: JsonValue): boolean {
  const row = grant.rows.get(name)
  if (row === undefined) return true
  const { kind } = grant.identifiers
  const recordType = kind.record_types.find((one) => one.name === name)
  return (
    recordType !== undefined &&
    isJsonObject(record) &&
    matches(row, extractRecord(kind, recordType, publicDocument(grant, recordType, record)))
  )
}
