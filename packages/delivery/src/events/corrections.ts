/**
 * Notifies of corrections: a change may take an earlier event back, or correct it. The subscribers that were notified of the
 * earlier event are then notified of the correction.
 */

import { keysOfFilter } from '@rollcall/core/events/filing'
import type { Predicate } from '@rollcall/core/model/predicate'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import { dayIn } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import {
  findCorrectableEvents,
  findLastNotificationsOfEvents,
  markEventsReversed,
  type NotificationToCorrect,
} from '../store/events/corrected-events.ts'
import { insertNotifications, type NotificationToInsert } from '../store/events/events.ts'
import { insertSubscriptionFilterKeys, reopenSubscriptions } from '../store/events/subscription-states.ts'
import type { NotificationDueTimes } from './due-times.ts'
import type { DraftEvent, RecordingDeps } from './recording.ts'
import type { EventVisibilityFilter } from './visibility-filter.ts'

const DAY_MS = 86_400_000

/** The filter of each subscription: null when it has none, undefined when the filter cannot be read. */
type SubscriptionFilters = ReadonlyMap<number, Predicate | null | undefined>

/**
 * Queues a correction for those who were notified of the corrected events of the last `correction_time` days. If the event had
 * ended a subscription, and is now taken back, the subscription is opened again with the same code. A correction is never due
 * before the notification that it corrects: the correction of a notification that waits in a backfill is sent in the backfill.
 * @param matched the number of notified subscriptions by the id of the event; this function adds an entry for the correction
 */
export async function notifyOfCorrection(
  client: ClientBase,
  recording: RecordingDeps,
  draft: DraftEvent,
  permitted: EventVisibilityFilter,
  matched: Map<number, number>,
  times: NotificationDueTimes,
): Promise<void> {
  const { event, change, id } = draft
  if (event.correction_type === undefined) return
  const { registry, now, limits, filters } = recording
  const since = new Date(now.getTime() - limits.correction_time * DAY_MS)
  const { record_type, record } = change
  const isOfAll = event.corrected_event === 'all'
  const event_type = isOfAll ? null : event.event_type
  const corrected_event = typeof event.corrected_event === 'number' ? event.corrected_event : undefined
  const earlier = await findCorrectableEvents(client, registry.id, { record_type, record, event_type, since, corrected_event })
  if (earlier.length === 0) return
  const receivers = await permitted(await findLastNotificationsOfEvents(client, earlier, 'death'), () => draft)
  const predicates = await filters.of(
    client,
    registry.kind,
    receivers.map(({ subscription }) => subscription),
  )
  const due = await times.of(
    client,
    receivers.map(({ subscription }) => subscription),
  )
  // Undefined: due at once. Notifications of a backfill do not wait for the next time that the subscription's frequency sets, and
  // their corrections do not either.
  const dueOf = ({ subscription, in_backfill }: NotificationToCorrect): Date | undefined =>
    in_backfill ? undefined : (due.get(subscription) ?? undefined)
  await insertNotifications(client, makeCorrectionNotifications(recording, draft, receivers, predicates, dueOf))
  matched.set(id, new Set(receivers.map(({ subscription }) => subscription)).size)
  // Only a CANCEL takes events back. A merge (`isOfAll`) is a CANCEL too, but the events of the retired record did happen.
  if (event.correction_type !== 'CANCEL' || isOfAll) return
  await markEventsReversed(client, earlier, id)
  await reopenEndedSubscriptions(client, recording, receivers, predicates)
}

/**
 * Makes the notifications of a correction. A notification shows only the identifiers of the record when the record was deleted,
 * when it does not fulfil the subscription's filter now, or when that filter cannot be read.
 */
function makeCorrectionNotifications(
  { registry, now }: RecordingDeps,
  { id, recordType, after }: DraftEvent,
  receivers: readonly NotificationToCorrect[],
  predicates: SubscriptionFilters,
  dueOf: (earlier: NotificationToCorrect) => Date | undefined,
): readonly NotificationToInsert[] {
  const day = dayIn(registry.time_zone, now.getTime())
  const isShown = (predicate: Predicate | null | undefined): boolean =>
    after !== null &&
    predicate !== undefined &&
    (predicate === null || matches(replaceAgesByDates(predicate, recordType, day), after.extracted))
  return receivers.map((earlier) => {
    const { id: corrected_notification, subscription, in_backfill } = earlier
    const purpose = in_backfill ? 'backfill' : 'correction'
    const presence = isShown(predicates.get(subscription)) ? 'stayed' : 'left'
    const due_at = dueOf(earlier)
    return { event: id, subscription, presence, purpose, corrected_notification, ...(due_at && { due_at }) }
  })
}

async function reopenEndedSubscriptions(
  client: ClientBase,
  { registry, now }: RecordingDeps,
  receivers: readonly NotificationToCorrect[],
  predicates: SubscriptionFilters,
): Promise<void> {
  const readable = receivers.filter(({ subscription }) => predicates.get(subscription) !== undefined)
  const opened = await reopenSubscriptions(client, [...new Set(readable.map(({ subscription }) => subscription))], 'death', now)
  const live = opened.filter(({ state }) => state === 'live')
  const keys = live.flatMap(({ id, event_type, record_type }) =>
    keysOfFilter(predicates.get(id) ?? null).map((filed) => {
      return { subscription: id, event_type, record_type, ...filed }
    }),
  )
  await insertSubscriptionFilterKeys(client, registry.id, keys)
}
