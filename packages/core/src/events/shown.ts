/** Makes the form of a record for notifications: the record at the time of the event, with the changed enrolments. */
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  notifiedRecord,
  type RecordType,
} from '@rollcall/protocol'
import { findChangedEnrolments } from '../enrolment/enrolments.ts'

/** The record's list for values without a member of their own; the changed enrolments are added there. */
const ATTRIBUTES_MEMBER = 'additional_attributes'

/**
 * The text of a record to store with its event. If the record type has a form for notifications, the changed enrolments
 * are added: later they cannot be found.
 * @param text canonical JSON of `after`
 */
export function recordTextForEvent(recordType: RecordType, before: JsonValue | null, after: JsonValue, text: string): string {
  const shown = recordType.notified_as === undefined ? after : withChangedEnrolments(recordType, before, after)
  return shown === after ? text : canonicalJson(shown)
}

/** Adds the changed enrolments to the record; returns the same object when none changed. */
function withChangedEnrolments(recordType: RecordType, before: JsonValue | null, after: JsonValue): JsonValue {
  if (!isJsonObject(after)) return after
  const changed = findChangedEnrolments(recordType, before, after)
  if (changed.length === 0) return after
  const known = [after[ATTRIBUTES_MEMBER] ?? []].flat().filter(isJsonObject)
  return { ...after, [ATTRIBUTES_MEMBER]: [...known, ...changed] } satisfies JsonObject
}

/**
 * Returns a function that turns a stored record into the form for notifications; undefined when there is no such form.
 * @param options.all true adds all enrolments, for a record that has not changed
 */
export function makeNotifiedRecordConverter(
  kind: Kind,
  recordType: RecordType,
  { all }: { readonly all: boolean },
): ((record: JsonValue) => JsonValue) | undefined {
  if (recordType.notified_as === undefined) return undefined
  return (record) => notifiedRecord(kind, recordType, all ? withChangedEnrolments(recordType, null, record) : record)
}
