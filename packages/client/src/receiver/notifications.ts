/** The order of notifications: what is older than what was handled, or was taken back, is left out; gaps are reported. */
import {
  isRegType,
  type JsonValue,
  KINDS,
  type NotifyEvent,
  NotifyMeta,
  readIdentifiers,
  resolveEventType,
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
  /** In which they are counted; null: the registry does not say. */
  readonly mailbox: string | null
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
  /** Without the items that are older than what was handled of their records and event types, or were taken back. */
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
  /** The highest version of each record and event type so far, and what was taken back, by the name of the mark. */
  const raised = new Map<string, number>()
  const seen = async (name: string): Promise<number> => raised.get(name) ?? (await marks.get(name)) ?? 0
  const notify_event: NotifyEvent[] = []
  for (const event of message.notify_event) {
    const { reference_id } = event
    if ((await seen(await takenBackMark(sender_id, reference_id))) > 0) continue
    const earlier = meta.corrects?.[reference_id]
    if (earlier !== undefined) raised.set(await takenBackMark(sender_id, earlier), 1)
    // 0: not known, so it is older than nothing.
    const version = meta.record_version[reference_id] ?? 0
    const name = version === 0 ? null : await recordMark(sender_id, event)
    if (name !== null) {
      if (version < (await seen(name))) continue
      raised.set(name, version)
    }
    notify_event.push(event)
  }
  return {
    current: { ...notification, message: { ...message, notify_event } },
    async handled() {
      for (const [name, value] of raised) await marks.raise(name, value)
      const { mailbox = null, sequence } = meta
      const name = await digest([
        'sequence',
        sender_id,
        ...(mailbox === null ? ['at', address] : ['in', mailbox]),
      ])
      const last = await marks.get(name)
      if (last !== null && sequence > last + 1) {
        on_gap({ sender_id, address, mailbox, last, next: sequence })
      }
      await marks.raise(name, sequence)
    },
  }
}

/** The name of the mark of an item that a later one has taken back or corrected. */
const takenBackMark = (sender_id: string, reference_id: string): Promise<string> =>
  digest(['taken back', sender_id, reference_id])

/**
 * The name of the mark of a record and event type: events of one type come in order, others of the record may be held until
 * the run of a frequency. Null where the record has no primary identifier of a kind that is known here.
 */
async function recordMark(sender_id: string, { data }: NotifyEvent): Promise<string | null> {
  const { reg_type, reg_event_type = '', reg_record_type, reg_records } = data
  for (const kind of KINDS) {
    if (reg_type !== undefined && !isRegType(kind, reg_type)) continue
    const recordType = resolveRecordType(kind, reg_record_type)
    if (recordType === undefined) continue
    const primary = readIdentifiers(kind, recordType, reg_records as JsonValue).find(
      ({ type, names }) => type === recordType.primary_identifier && names === 'record',
    )
    if (primary !== undefined) {
      const event_type = resolveEventType(kind, reg_event_type)?.name ?? reg_event_type
      return digest(['record', sender_id, recordType.name, event_type, primary.value])
    }
  }
  return null
}

/** SHA-256 in hexadecimal. */
async function digest(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
