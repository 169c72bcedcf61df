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
export function shownRecord(recordType: RecordType, before: JsonValue | null, after: JsonValue, text: string): string {
  const shown = recordType.notified_as === undefined ? after : withChanges(recordType, before, after)
  return shown === after ? text : canonicalJson(shown)
}

/** The record with the enrolments that changed; the same object where there are none. */
function withChanges(recordType: RecordType, before: JsonValue | null, after: JsonValue): JsonValue {
  if (!isJsonObject(after)) return after
  const changed = changedEnrolments(recordType, before, after)
  if (changed.length === 0) return after
  const known = [after[ATTRIBUTES] ?? []].flat().filter(isJsonObject)
  return { ...after, [ATTRIBUTES]: [...known, ...changed] } satisfies JsonObject
}

/**
 * Makes the notified record of a stored one; undefined: it is sent as it is stored.
 * @param options.all whether all enrolments are shown, where the record has not changed
 */
export function notifiedShape(
  kind: Kind,
  recordType: RecordType,
  { all }: { readonly all: boolean },
): ((record: JsonValue) => JsonValue) | undefined {
  if (recordType.notified_as === undefined) return undefined
  return (record) => notifiedRecord(kind, recordType, all ? withChanges(recordType, null, record) : record)
}
