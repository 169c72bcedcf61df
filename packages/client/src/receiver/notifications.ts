/**
 * Leaves out of notifications the items that are not news for any subscription. For one subscription, an item is not news if it
 * was handled before, if a later item took it back or corrected it, or if a later event of the same type for the same record was
 * handled. Reports missing notifications.
 */
import { type NotifyEvent, NotifyMeta, validator } from '@rollcall/protocol'
import type { Received } from './callbacks.ts'
import { canonicalTypeNamesOf, hasOnlyChangedData, primaryIdentifier } from './event-kinds.ts'
import { type HighWaterMarks, raiseMarks, readMarks } from './high-water-marks.ts'

export type Notification = Received<'notify'>

/**
 * Notifications of a registry that did not come. Their numbers are greater than `last` and less than `next`. The notifications
 * with these two numbers came.
 */
export interface SequenceGap {
  readonly sender_id: string
  /** The path at which callbacks come. */
  readonly address: string
  /** The mailbox that numbers the notifications; null when the registry does not name it. */
  readonly mailbox: string | null
  readonly last: number
  readonly next: number
}

const notifyMetaValidator = validator<NotifyMeta>(NotifyMeta)

/** The facts about items that the header has in `meta`; null when the registry sends none, or in another form. */
export function notifyMeta({ header }: Pick<Notification, 'header'>): NotifyMeta | null {
  return notifyMetaValidator.accepts(header.meta) ? header.meta : null
}

/** The value for an id; undefined when there is none. `map[id]` alone also finds what every object has, such as `constructor`. */
export const memberOf = <Value>(map: Readonly<Record<string, Value>> | undefined, id: string): Value | undefined =>
  map !== undefined && Object.hasOwn(map, id) ? map[id] : undefined

/** A notification without the items that need no handling. */
export interface NotificationToHandle {
  /** The notification with the items that are news for some subscription; `meta` names only these subscriptions. */
  readonly current: Notification
  /**
   * The caller calls this function after it has handled the items. It stores that they were handled, and reports missing
   * notifications.
   */
  readonly handled: () => Promise<void>
}

/**
 * Leaves out items that need no handling. A test notification keeps all items; so does a notification for which `notifyMeta` is
 * null.
 */
export async function withoutHandledItems(
  notification: Notification,
  address: string,
  marks: HighWaterMarks,
  on_gap: (gap: SequenceGap) => void,
): Promise<NotificationToHandle> {
  const meta = notifyMeta(notification)
  if (meta === null || meta.test) return { current: notification, handled: async () => undefined }
  const { header, message, kind } = notification
  const { sender_id } = header
  const items = await Promise.all(message.notify_event.map((event) => withMarkNames(sender_id, meta, event, kind)))
  const names = items.flatMap(({ latest, codes }) => [
    latest,
    ...codes.flatMap(({ had, taken_back, order }) => [had, taken_back, order]),
  ])
  const stored = await readMarks(marks, [...new Set(names.filter((name) => name !== null))])
  const raised = new Map<string, number>()
  const raise = (name: string | null, value: number): void => {
    if (name !== null) raised.set(name, Math.max(value, raised.get(name) ?? value))
  }
  const highest = (name: string): number => Math.max(stored.get(name) ?? -1, raised.get(name) ?? -1)
  const isBehind = (version: number, name: string | null): boolean => name !== null && version > 0 && version < highest(name)
  const isNews = (version: number, { had, taken_back, order }: ItemHighWaterMarkNames): boolean =>
    !stored.has(had) && version > highest(taken_back) && !isBehind(version, order)

  const notify_event: NotifyEvent[] = []
  const news: NewsCodesByItem = new Map()
  const superseded: string[] = []
  for (const { event, version, corrects, latest, codes } of items) {
    const fresh = codes.filter((one) => isNews(version, one))
    if (fresh.length === 0) continue
    const { reference_id } = event
    notify_event.push(event)
    news.set(reference_id, new Set([...(news.get(reference_id) ?? []), ...fresh.map(({ code }) => code)]))
    if (isBehind(version, latest)) superseded.push(reference_id)
    raise(latest, version)
    for (const { had, order } of fresh) {
      raise(had, version)
      // A backfill does not raise `order`: an earlier event may come after the backfill, and must still be handled. A correction
      // always raises `order`, which is then the mark of the item that it corrects.
      if (corrects || !meta.backfill) raise(order, version)
    }
  }
  return {
    current: {
      ...notification,
      header: { ...header, meta: { ...meta, ...limitMetaToNews(meta, news) } },
      message: { ...message, notify_event },
      superseded,
    },
    async handled() {
      await raiseMarks(marks, raised)
      const { mailbox = null, sequence } = meta
      const name = await makeHighWaterMarkName(['sequence', sender_id, ...(mailbox === null ? ['at', address] : ['in', mailbox])])
      const last = await marks.get(name)
      if (last !== null && sequence > last + 1) {
        on_gap({ sender_id, address, mailbox, last, next: sequence })
      }
      await marks.raise(name, sequence)
    },
  }
}

/** The names of the marks of an item for one subscription. */
interface ItemHighWaterMarkNames {
  readonly code: string
  /** The mark that is stored when the item was handled for this subscription. */
  readonly had: string
  /** The mark for a later item that took this item back or corrected it: the record version of the later item. */
  readonly taken_back: string
  /**
   * The mark that this item raises. If the item corrects another item: `taken_back` of that item. If not: the mark with the last
   * version for this record and event type. Null when an older item must be handled after a later one, too: the registry gives no
   * record version or names no subscription, the record has no primary identifier, or items of its type are partial
   * (`hasOnlyChangedData`).
   */
  readonly order: string | null
}

interface ItemWithMarkNames {
  readonly event: NotifyEvent
  /** The version of the record; 0 when unknown: the item is then not compared with `order` or `latest`. */
  readonly version: number
  readonly corrects: boolean
  /**
   * The mark with the record's last version for any subscription; null when the registry gives no record version, or the record
   * has no primary identifier.
   */
  readonly latest: string | null
  readonly codes: readonly ItemHighWaterMarkNames[]
}

/** For each reference_id, the codes of the subscriptions for which the item is news. */
type NewsCodesByItem = Map<string, Set<string>>

/** The code in marks of an item for which the registry names no subscription. Such an item is not compared with later events. */
const NO_SUBSCRIPTION_CODE = ''

async function withMarkNames(
  sender_id: string,
  meta: NotifyMeta,
  event: NotifyEvent,
  known: string | undefined,
): Promise<ItemWithMarkNames> {
  const { reference_id, data } = event
  const version = memberOf(meta.record_version, reference_id) ?? 0
  const earlier = memberOf(meta.corrects, reference_id)
  const record = primaryIdentifier(data, known) ?? []
  const isOrdered = version > 0 && record.length > 0
  const takenBack = (code: string, id: string): Promise<string> =>
    makeHighWaterMarkName(['taken back', sender_id, code, id, ...record])
  const { event_type } = canonicalTypeNamesOf(data, known)
  const orderOf = async (code: string): Promise<string | null> => {
    if (earlier !== undefined) return takenBack(code, earlier)
    return isOrdered && code !== NO_SUBSCRIPTION_CODE && !hasOnlyChangedData(data, known)
      ? makeHighWaterMarkName(['events', sender_id, code, event_type ?? '', ...record])
      : null
  }
  const marksOf = async (code: string): Promise<ItemHighWaterMarkNames> => ({
    code,
    had: await makeHighWaterMarkName(['had', sender_id, code, reference_id, `${version}`, ...record]),
    taken_back: await takenBack(code, reference_id),
    order: await orderOf(code),
  })
  const said = memberOf(meta.subscriptions, reference_id) ?? []
  return {
    event,
    version,
    corrects: earlier !== undefined,
    latest: isOrdered ? await makeHighWaterMarkName(['latest', sender_id, ...record]) : null,
    codes: await Promise.all((said.length === 0 ? [NO_SUBSCRIPTION_CODE] : said).map(marksOf)),
  }
}

function limitMetaToNews(
  { subscriptions, presence }: NotifyMeta,
  news: NewsCodesByItem,
): Pick<NotifyMeta, 'subscriptions' | 'presence'> {
  const isNews = (id: string, code: string): boolean => news.get(id)?.has(code) === true
  return {
    subscriptions: Object.fromEntries(
      Object.entries(subscriptions).map(([id, codes]) => [id, codes.filter((code) => isNews(id, code))]),
    ),
    presence: Object.fromEntries(
      Object.entries(presence).map(([id, codes]) => [
        id,
        Object.fromEntries(Object.entries(codes).filter(([code]) => isNews(id, code))),
      ]),
    ),
  }
}

/** Makes the name of a high-water mark: the SHA-256 digest of these parts, in hexadecimal. */
async function makeHighWaterMarkName(parts: readonly string[]): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
