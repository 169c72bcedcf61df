/** The order of notifications: what is older than what was handled is left out, and gaps are reported. */
import {
  isRegType,
  type JsonValue,
  KINDS,
  type NotifyEvent,
  NotifyMeta,
  readIdentifiers,
  resolveRecordType,
  validator,
} from '@rollcall/protocol'
import type { Received } from './callbacks.ts'
import type { HighWaterMarks } from './high-water-marks.ts'

export type Notification = Received<'notify'>

/** Envelopes of a registry that have not come: their numbers are between two that were handled. */
export interface SequenceGap {
  readonly sender_id: string
  /** The path at which they come. */
  readonly address: string
  readonly last: number
  readonly next: number
}

const metas = validator<NotifyMeta>(NotifyMeta)

/** What the header says of the items; null for a registry that says nothing of it, or says it in another way. */
export function notifyMeta({ header }: Pick<Notification, 'header'>): NotifyMeta | null {
  return metas.accepts(header.meta) ? header.meta : null
}

/** A notification as it is to be handled. */
export interface Ordered {
  /** Without the items that are older than what was handled of their records. */
  readonly current: Notification
  /** Remembers it; called when it was handled. */
  readonly handled: () => Promise<void>
}

/** @param address the path at which it came */
export async function inOrder(
  notification: Notification,
  address: string,
  marks: HighWaterMarks,
  on_gap: (gap: SequenceGap) => void,
): Promise<Ordered> {
  const meta = notifyMeta(notification)
  if (meta === null || meta.test) return { current: notification, handled: async () => undefined }
  const { sender_id } = notification.header
  const { message } = notification
  /** The highest version of each record so far, by the name of its mark. */
  const versions = new Map<string, number>()
  const notify_event: NotifyEvent[] = []
  for (const event of message.notify_event) {
    const version = meta.record_version[event.reference_id]
    const name = version === undefined ? null : await recordMark(sender_id, event)
    if (version !== undefined && name !== null) {
      const seen = versions.get(name) ?? (await marks.get(name)) ?? version
      if (version < seen) continue
      versions.set(name, version)
    }
    notify_event.push(event)
  }
  return {
    current: { ...notification, message: { ...message, notify_event } },
    async handled() {
      for (const [name, version] of versions) await marks.raise(name, version)
      const name = await digest(['sequence', sender_id, address])
      const last = await marks.get(name)
      if (last !== null && meta.sequence > last + 1) {
        on_gap({ sender_id, address, last, next: meta.sequence })
      }
      await marks.raise(name, meta.sequence)
    },
  }
}

/** The name of a record's mark; null where the record has no primary identifier of a kind that is known here. */
async function recordMark(sender_id: string, { data }: NotifyEvent): Promise<string | null> {
  const { reg_type, reg_record_type, reg_records } = data
  for (const kind of KINDS) {
    if (reg_type !== undefined && !isRegType(kind, reg_type)) continue
    const recordType = resolveRecordType(kind, reg_record_type)
    if (recordType === undefined) continue
    const primary = readIdentifiers(kind, recordType, reg_records as JsonValue).find(
      ({ type, names }) => type === recordType.primary_identifier && names === 'record',
    )
    if (primary !== undefined) return digest(['record', sender_id, recordType.name, primary.value])
  }
  return null
}

/** SHA-256 in hexadecimal. */
async function digest(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
