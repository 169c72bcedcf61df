/** The form of a record in notifications: the record at the time of the event, with the enrolments that changed. */
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

/** The member for values that the record has no member of its own for. */
const ATTRIBUTES = 'additional_attributes'

/**
 * The text of a record to be stored with its event, with the changed enrolments: they cannot be found later from the
 * record alone.
 * @param text canonical JSON of `after`
 */
export function shownRecord(recordType: RecordType, before: JsonValue | null, after: JsonValue, text: string): string {
  const shown = recordType.notified_as === undefined ? after : withChanges(recordType, before, after)
  return shown === after ? text : canonicalJson(shown)
}

/** The record with the changed enrolments; the same object when none changed. */
function withChanges(recordType: RecordType, before: JsonValue | null, after: JsonValue): JsonValue {
  if (!isJsonObject(after)) return after
  const changed = changedEnrolments(recordType, before, after)
  if (changed.length === 0) return after
  const known = [after[ATTRIBUTES] ?? []].flat().filter(isJsonObject)
  return { ...after, [ATTRIBUTES]: [...known, ...changed] } satisfies JsonObject
}

/**
 * Returns a function that changes a stored record into the notified form; undefined: records of this type are sent as
 * stored.
 * @param options.all whether to add all enrolments, for a record that has not changed
 */
export function notifiedShape(
  kind: Kind,
  recordType: RecordType,
  { all }: { readonly all: boolean },
): ((record: JsonValue) => JsonValue) | undefined {
  if (recordType.notified_as === undefined) return undefined
  return (record) => notifiedRecord(kind, recordType, all ? withChanges(recordType, null, record) : record)
}
