/** What a notification shows of a record: the record as it was at the event, with the enrolments that changed. */
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  notifiedRecord,
  type RecordType,
} from '@rollcall/protocol'
import { changedEnrolments } from '../enrolment/enrolments.ts'

/** Where the shape of notifications has attributes that the record itself has no member for. */
const ATTRIBUTES = 'additional_attributes'

/**
 * The record as it is stored with its event: what changed cannot be told from the record alone later on.
 * @param text canonical JSON of `after`
 */
export function shownRecord(
  recordType: RecordType,
  before: JsonValue | null,
  after: JsonValue,
  text: string,
): string {
  if (recordType.notified_as === undefined || !isJsonObject(after)) return text
  const changed = changedEnrolments(recordType, before, after)
  if (changed.length === 0) return text
  const known = [after[ATTRIBUTES] ?? []].flat().filter(isJsonObject)
  return canonicalJson({ ...after, [ATTRIBUTES]: [...known, ...changed] } satisfies JsonObject)
}

/**
 * Makes the notified record of a stored one, as canonical JSON; undefined: it is sent as it is stored.
 * @param options.all whether all enrolments are shown, where the record has not changed
 */
export function notifiedShape(
  kind: Kind,
  recordType: RecordType,
  { all }: { readonly all: boolean },
): ((document: string) => string) | undefined {
  if (recordType.notified_as === undefined) return undefined
  return (document) => {
    const record = JSON.parse(document) as JsonValue
    const shown = all ? (JSON.parse(shownRecord(recordType, null, record, document)) as JsonValue) : record
    return canonicalJson(notifiedRecord(kind, recordType, shown))
  }
}
