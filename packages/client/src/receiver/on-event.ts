/** Handlers of notifications by event type. */
import type { NotifyData, NotifyEvent, NotifyMeta } from '@rollcall/protocol'
import type { KindName, RecordOf, SaidKind } from '../client/records.ts'
import type { Handler } from './callbacks.ts'
import { namesIn } from './event-kinds.ts'
import { type Notification, notifyMeta } from './notifications.ts'

/** The events of all kinds, and the two by which a registry takes one back; a test compares them with the kinds. */
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

/** Whether the record fulfils the filter since the change, before and after it, or no more. */
export type Presence = 'entered' | 'stayed' | 'left'

/** What is said of one event. */
export interface EventContext {
  /** The item of the notification. */
  readonly event: NotifyEvent
  /** The kind's own spelling, where a kind has it; null: the registry does not say which event it is. */
  readonly event_type: string | null
  /** The kind's own spelling, where a kind has it. */
  readonly record_type: string
  /**
   * Codes of the subscriptions for which it is news, each with its presence; empty where the registry does not say. One that
   * was handled for some subscriptions may come again for others.
   */
  readonly subscriptions: Readonly<Record<string, Presence>>
  readonly record_version: number | null
  /**
   * A later version of the record was handled before, for another subscription or by a backfill: the event is news, and its
   * record is older than the one that is known.
   */
  readonly superseded: boolean
  readonly occurred_at: string | null
  readonly recorded_at: string | null
  /** reference_id of the earlier item that this one takes back. */
  readonly corrects: string | null
  /**
   * The record was merged into another one: the primary identifier of that one. Later events of the record come with that
   * identifier.
   */
  readonly replaced_by: Readonly<NonNullable<NotifyMeta['replaced_by']>[string]> | null
  /** The operator tries it out: nothing happened. */
  readonly test: boolean
  /** It is no news: the record matched already, and the operator asked for it. */
  readonly backfill: boolean
  /** All of it. */
  readonly notification: Notification
}

/** A kind gives the records their types; they are not checked against them. */
export type EventHandler<Kind extends SaidKind = string> = (
  record: Kind extends KindName ? RecordOf<Kind> | RecordOf<Kind>[] : NotifyData['reg_records'],
  context: EventContext,
) => unknown

/** `otherwise` takes the events that have no handler of their own; without it they are acknowledged and left. */
export type EventHandlers<Kind extends SaidKind = string> = {
  readonly [Name in EventName | 'otherwise']?: EventHandler<Kind>
}

/**
 * A handler for `notify`: it calls the handlers one after the other, in the order of the items. When one rejects, the
 * registry sends all of them again.
 * With a kind, as in `onEvent<'civil'>(...)`, records have the types of that kind, as those of a client with a kind have.
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
