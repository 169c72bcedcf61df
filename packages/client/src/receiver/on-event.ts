/** Makes a handler of notifications from handlers for event types. */
import type { NotifyData, NotifyEvent, NotifyMeta } from '@rollcall/protocol'
import type { KindName, RecordOf, SaidKind } from '../client/records.ts'
import type { Handler } from './callbacks.ts'
import { canonicalTypeNamesOf } from './event-kinds.ts'
import { memberOf, type Notification, notifyMeta } from './notifications.ts'

/** The event types of all kinds, and two by which a registry takes an event back or corrects it. A test compares the list. */
export const EVENT_NAMES = [
  'LiveBirth',
  'Death',
  'FetalDeath',
  'Marriage',
  'Divorce',
  'Adoption',
  'REGISTER',
  'UPDATE',
  'enrollement',
  'enrollement_status_change',
  'enrolment',
  'NewHouseHoldMember',
  'CANCEL',
  'CORRECTION',
] as const
export type EventName = (typeof EVENT_NAMES)[number]

/**
 * Says when a record matches a subscription's filter: only after a change (`entered`), before and after it (`stayed`), or only
 * before it (`left`).
 */
export type Presence = 'entered' | 'stayed' | 'left'

/** The facts about one event, for its handler. */
export interface EventContext {
  /** The item of the notification. */
  readonly event: NotifyEvent
  /** The kind's name for the event type; if the kind has none, the sent name after the last ":"; null when no name was sent. */
  readonly event_type: string | null
  /** The kind's name for the record type; if the kind has none, the sent name. */
  readonly record_type: string
  /**
   * For each subscription for which the event is news, its code and presence (`entered` when the registry gives none); empty when
   * the registry names no subscription. An event that was handled for some subscriptions may come again for others.
   */
  readonly subscriptions: Readonly<Record<string, Presence>>
  readonly record_version: number | null
  /**
   * True when a later version of the record was handled already, such as for another subscription or type of event. The event
   * must be handled, but its record is older than the one that was handled.
   */
  readonly superseded: boolean
  readonly occurred_at: string | null
  readonly recorded_at: string | null
  /** The reference_id of the earlier item that this item takes back or corrects; null when it corrects none. */
  readonly corrects: string | null
  /**
   * The primary identifier of the record into which this record was merged; null when it was not merged. Later events have that
   * identifier.
   */
  readonly replaced_by: Readonly<NonNullable<NotifyMeta['replaced_by']>[string]> | null
  /** True for a test by the operator: nothing has happened. */
  readonly test: boolean
  /** True in a backfill: an operator of the registry sends records that match the subscription already. Nothing has changed. */
  readonly backfill: boolean
  readonly notification: Notification
}

/** Handles one event. With a kind, the record has the types of that kind, which are not checked. */
export type EventHandler<Kind extends SaidKind = string> = (
  record: Kind extends KindName ? RecordOf<Kind> | RecordOf<Kind>[] : NotifyData['reg_records'],
  context: EventContext,
) => unknown

/** Handlers by event type. `otherwise` handles all other events; without it, they are acknowledged and ignored. */
export type EventHandlers<Kind extends SaidKind = string> = {
  readonly [Name in EventName | 'otherwise']?: EventHandler<Kind>
}

/**
 * Makes a handler for `notify` that calls the handlers one after another, in the order of the items. When one rejects, the answer
 * asks the registry to send all items again. With a kind, as in `onEvent<'civil'>(...)`, records have the types of that kind.
 */
export function onEvent<Kind extends SaidKind = string>(handlers: EventHandlers<Kind>): Handler<'notify'> {
  return async (notification) => {
    for (const event of notification.message.notify_event) {
      const context = contextOf(event, notification)
      const name = EVENT_NAMES.find((known) => known === context.event_type)
      const handler = (name === undefined ? undefined : handlers[name]) ?? handlers.otherwise
      await handler?.(event.data.reg_records as Parameters<EventHandler<Kind>>[0], context)
    }
  }
}

function contextOf(event: NotifyEvent, notification: Notification): EventContext {
  const { reference_id } = event
  const meta = notifyMeta(notification)
  const codes = memberOf(meta?.subscriptions, reference_id) ?? []
  const presence = memberOf(meta?.presence, reference_id)
  return {
    event,
    ...canonicalTypeNamesOf(event.data, notification.kind),
    subscriptions: Object.fromEntries(codes.map((code) => [code, memberOf(presence, code) ?? 'entered'])),
    record_version: memberOf(meta?.record_version, reference_id) ?? null,
    superseded: notification.superseded?.includes(reference_id) ?? false,
    occurred_at: memberOf(meta?.occurred_at, reference_id) ?? null,
    recorded_at: memberOf(meta?.recorded_at, reference_id) ?? null,
    corrects: memberOf(meta?.corrects, reference_id) ?? null,
    replaced_by: memberOf(meta?.replaced_by, reference_id) ?? null,
    test: meta?.test ?? false,
    backfill: meta?.backfill ?? false,
    notification,
  }
}
