/** Finds the kind of an item in a notification, the item's canonical names, and the identifier of its record. */
import {
  isRegType,
  type JsonValue,
  KINDS,
  type Kind,
  kindNamed,
  type NotifyData,
  readIdentifiers,
  resolveEventType,
  resolveRecordType,
} from '@rollcall/protocol'

/**
 * The event type and the record type of an item, by their canonical names in the most likely kind. If the kind does not have the
 * record type, its name is returned as sent. If the kind does not have the event type, the part of its name after the last ":" is
 * returned; null if the item has no event type.
 * @param known the kind of the registry; undefined when the receiver does not know the kind
 */
export function canonicalTypeNamesOf(data: NotifyData, known: string | undefined) {
  const { reg_event_type, reg_record_type } = data
  const [kind] = kindsLikeliestFirst(data, known)
  const event_type = kind && resolveEventType(kind, reg_event_type ?? '')?.name
  return {
    event_type: reg_event_type === undefined ? null : (event_type ?? partAfterColon(reg_event_type)),
    record_type: (kind && resolveRecordType(kind, reg_record_type)?.name) ?? reg_record_type,
  }
}

/**
 * True when, in the most likely kind, items of this record type show only the changed data. Then a later item does not repeat the
 * data of an earlier one.
 */
export function hasOnlyChangedData(data: NotifyData, known: string | undefined): boolean {
  const [kind] = kindsLikeliestFirst(data, known)
  return kind !== undefined && resolveRecordType(kind, data.reg_record_type)?.notified_as !== undefined
}

/** Type and value of the record's primary identifier, by the most likely kind that finds one; null when none does. */
export function primaryIdentifier(data: NotifyData, known: string | undefined): readonly [string, string] | null {
  for (const kind of kindsLikeliestFirst(data, known)) {
    const recordType = resolveRecordType(kind, data.reg_record_type)
    if (recordType === undefined) continue
    const primary = readIdentifiers(kind, recordType, data.reg_records as JsonValue).find(
      ({ type, names }) => type === recordType.primary_identifier && names === 'record',
    )
    if (primary !== undefined) return [primary.type, primary.value]
  }
  return null
}

/**
 * All kinds, the kind that best fits the names in an item first; only the kind of the registry if it is known. The record type
 * and the event type weigh more than `reg_type`, in which a registry may write any name.
 */
function kindsLikeliestFirst(data: NotifyData, known: string | undefined): readonly Kind[] {
  const kind = known === undefined ? undefined : kindNamed(known)
  if (kind !== undefined) return [kind]
  return [...KINDS].sort((one, other) => scoreKindFit(other, data) - scoreKindFit(one, data))
}

/**
 * A number for how well the names fit a kind; a higher number is a better fit. Each element of `reasons` that is true weighs more
 * than all later ones together.
 */
function scoreKindFit(kind: Kind, { reg_type = '', reg_event_type = '', reg_record_type }: NotifyData): number {
  const recordType = resolveRecordType(kind, reg_record_type)
  const reasons = [
    recordType !== undefined,
    resolveEventType(kind, reg_event_type) !== undefined,
    isSameName(kind.reg_type.name, reg_type),
    recordType !== undefined && [recordType.name, recordType.emitted].some((name) => isSameName(name, reg_record_type)),
    isRegType(kind, reg_type),
  ]
  return reasons.reduce((sum, reason) => 2 * sum + Number(reason), 0)
}

/** The text after the last ":", by which names are compared. */
const partAfterColon = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

const isSameName = (one: string, other: string): boolean =>
  partAfterColon(one).trim().toLowerCase() === partAfterColon(other).trim().toLowerCase()
