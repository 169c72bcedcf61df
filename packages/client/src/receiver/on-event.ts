/** Handlers of notifications by event type. */
import type { NotifyData, NotifyEvent, NotifyMeta } from '@rollcall/protocol'
import type { KindName, RecordOf, SaidKind } from '../client/records.ts'
import type { Handler } from './callbacks.ts'
import { namesIn } from './event-kinds.ts'
import { type Notification, notifyMeta } from './notifications.ts'

/** Events of all kinds, and the two by which a registry takes one back. A test compares them with the kinds. */
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

/** How the change affects the filter's match: the record `entered` it, `stayed` in it or `left` it. */
export type Presence = 'entered' | 'stayed' | 'left'

export interface EventContext {
  /** The item of the notification. */
  readonly event: NotifyEvent
  /** The kind's own spelling, if a kind has the event; null when the registry does not name it. */
  readonly event_type: string | null
  /** The kind's own spelling, if a kind has the type. */
  readonly record_type: string
  /**
   * Codes of the subscriptions for which it is news, each with its presence; empty when the registry does not tell. An
   * event that was handled for some subscriptions may come again for others.
   */
  readonly subscriptions: Readonly<Record<string, Presence>>
  readonly record_version: number | null
  /**
   * A later version of the record was handled before, for another subscription or a backfill: the event is news, but
   * its record is outdated.
   */
  readonly superseded: boolean
  readonly occurred_at: string | null
  readonly recorded_at: string | null
  /** reference_id of the earlier item that this one takes back. */
  readonly corrects: string | null
  /**
   * Primary identifier of the record into which this one was merged; null when it was not. Later events have that
   * identifier.
   */
  readonly replaced_by: Readonly<NonNullable<NotifyMeta['replaced_by']>[string]> | null
  /** A test by the operator: nothing happened. */
  readonly test: boolean
  /** No news: the record already matched, and the operator requested it. */
  readonly backfill: boolean
  /** The whole notification. */
  readonly notification: Notification
}

/** A kind gives records its types, which are not checked. */
export type EventHandler<Kind extends SaidKind = string> = (
  record: Kind extends KindName ? RecordOf<Kind> | RecordOf<Kind>[] : NotifyData['reg_records'],
  context: EventContext,
) => unknown

/** `otherwise` handles events without a handler of their own; without it they are acknowledged and ignored. */
export type EventHandlers<Kind extends SaidKind = string> = {
  readonly [Name in EventName | 'otherwise']?: EventHandler<Kind>
}

/**
 * A handler for `notify`: it calls the handlers one after the other, in the order of the items. When one rejects, the
 * registry sends all of them again. With a kind, as in `onEvent<'civil'>(...)`, records have the types of that kind.
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
  const codes = meta?.subscriptions[reference_id] ?? []
  const presence = meta?.presence[reference_id] ?? {}
  return {
    event,
    ...namesIn(event.data, notification.kind),
    subscriptions: Object.fromEntries(codes.map((code) => [code, presence[code] ?? 'entered'])),
    record_version: meta?.record_version[reference_id] ?? null,
    superseded: notification.superseded?.includes(reference_id) ?? false,
    occurred_at: meta?.occurred_at[reference_id] ?? null,
    recorded_at: meta?.recorded_at[reference_id] ?? null,
    corrects: meta?.corrects?.[reference_id] ?? null,
    replaced_by: meta?.replaced_by?.[reference_id] ?? null,
    test: meta?.test ?? false,
    backfill: meta?.backfill ?? false,
    notification,
  }
}
