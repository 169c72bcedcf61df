/** Groups the waiting notifications of a mailbox into items and envelopes. */
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import type { WaitingNotification } from '../store/events/waiting.ts'

/** An item of an envelope: one event, with its notifications for one or several subscriptions that it has matched. */
export interface PlannedItem {
  readonly event: number
  readonly notifications: readonly [WaitingNotification, ...WaitingNotification[]]
}

/** What all items of an envelope are marked as: a test, or part of a backfill; null: neither. */
export type EnvelopeMarking = 'test' | 'backfill' | null

/** The marking that the envelope of this notification has; null for an event or a correction. */
export const envelopeMarkingOf = ({ purpose }: WaitingNotification): EnvelopeMarking =>
  purpose === 'test' || purpose === 'backfill' ? purpose : null

/** Estimates: the bytes of an item without its record, and the bytes that each further subscription adds to `header.meta`. */
const ITEM_BYTES_WITHOUT_RECORD = 1_024
const SUBSCRIPTION_META_BYTES = 160
/** The most JSON values in `header.meta`. Participants that run this server accept 10,000 outside `message.notify_event`. */
const MOST_META_VALUES = 9_900
/** The most subscriptions of one item in `header.meta`. Participants that run this server accept 1,000 members of one object. */
const MOST_ITEM_SUBSCRIPTIONS = 1_000

/** The JSON values that a notification adds to `header.meta` (`writeItemMeta`). @param isFirst it is the first of its item */
const countMetaValues = ({ corrected_notification, replaced_by }: WaitingNotification, isFirst: boolean): number =>
  (isFirst ? 7 : 2) + (corrected_notification === null ? 0 : 1) + (replaced_by === null ? 0 : 3)

/**
 * Sorts the notifications of each record by the version of the record. The order of different records stays. Unsorted, an event
 * that became due late could follow a newer event in the same envelope, and the receiver would replace the newer record by the
 * older one.
 */
function sortByVersionWithinRecords(waiting: readonly WaitingNotification[]): readonly WaitingNotification[] {
  const recordOf = (one: WaitingNotification): string => `${envelopeMarkingOf(one)} ${one.record_type} ${one.record}`
  const ordered = new Map(
    Array.from(Map.groupBy(waiting, recordOf), ([record, all]) => [
      record,
      all.toSorted((one, other) => one.record_version - other.record_version).values(),
    ]),
  )
  return waiting.map((one) => ordered.get(recordOf(one))?.next().value ?? one)
}

/** Divides due notifications into envelopes of items. @param due in the order in which they became due */
export function groupIntoEnvelopes(
  due: readonly WaitingNotification[],
  bounds: Pick<CallbackSettings, 'notify_items' | 'notify_bytes'>,
): (readonly PlannedItem[])[] {
  const waiting = sortByVersionWithinRecords(due)
  const envelopes: (readonly PlannedItem[])[] = []
  for (let from = 0; from < waiting.length; ) {
    const items = planEnvelopeItems(waiting.slice(from), bounds)
    envelopes.push(items)
    from += items.reduce((sum, { notifications }) => sum + notifications.length, 0)
  }
  return envelopes
}

/**
 * The items of the next envelope: those of the first notification, and of as many following notifications with the same marking
 * as the limits allow.
 * @param waiting in order; if it is empty, there are no items
 */
export function planEnvelopeItems(
  waiting: readonly WaitingNotification[],
  bounds: Pick<CallbackSettings, 'notify_items' | 'notify_bytes'>,
): readonly PlannedItem[] {
  const items = new Map<number, PlannedItem>()
  let bytes = 0
  let values = 0
  for (const one of waiting) {
    if (waiting[0] !== undefined && envelopeMarkingOf(one) !== envelopeMarkingOf(waiting[0])) break
    const known = items.get(one.event)
    bytes += known === undefined ? one.bytes + ITEM_BYTES_WITHOUT_RECORD : SUBSCRIPTION_META_BYTES
    values += countMetaValues(one, known === undefined)
    const isFull =
      bytes > bounds.notify_bytes ||
      values > MOST_META_VALUES ||
      (known === undefined ? items.size === bounds.notify_items : known.notifications.length === MOST_ITEM_SUBSCRIPTIONS)
    if (isFull && items.size > 0) break
    items.set(one.event, { event: one.event, notifications: known ? [...known.notifications, one] : [one] })
  }
  return [...items.values()]
}
