/** Finds the kind of an item of a notification, its names, and the identifier of its record. */
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
 * Names in the spelling of the kind that fits best, or as sent when the kind does not have them.
 * @param known the name of the registry's kind, if the receiver knows it
 */
export function namesIn(data: NotifyData, known: string | undefined) {
  const { reg_event_type, reg_record_type } = data
  const [kind] = kindsOf(data, known)
  const event_type = kind && resolveEventType(kind, reg_event_type ?? '')?.name
  return {
    event_type: reg_event_type === undefined ? null : (event_type ?? lastPart(reg_event_type)),
    record_type: (kind && resolveRecordType(kind, reg_record_type)?.name) ?? reg_record_type,
  }
}

/** Type and value; null when the record has no primary identifier of a known kind. */
export function primaryIdentifier(data: NotifyData, known: string | undefined): readonly [string, string] | null {
  for (const kind of kindsOf(data, known)) {
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
 * Kinds to which the names in an item may belong, the likeliest first; only the registry's own when it is known. A
 * reg_type alone decides nothing: a registry may accept any name there, also one of another kind.
 */
function kindsOf(data: NotifyData, known: string | undefined): readonly Kind[] {
  const kind = known === undefined ? undefined : kindNamed(known)
  if (kind !== undefined) return [kind]
  return [...KINDS].sort((one, other) => likeness(other, data) - likeness(one, data))
}

/** How well the names fit the kind; each reason weighs more than all that follow it. */
function likeness(kind: Kind, { reg_type = '', reg_event_type = '', reg_record_type }: NotifyData): number {
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

/** Names compare by the text after the last ":". */
const lastPart = (name: string): string => name.slice(name.lastIndexOf(':') + 1)

const isSameName = (one: string, other: string): boolean =>
  lastPart(one).trim().toLowerCase() === lastPart(other).trim().toLowerCase()
