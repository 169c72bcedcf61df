/** Lists recorded events for operators. */

import { isTextStorable } from '@rollcall/database/text'
import { listEvents as listRows } from '@rollcall/delivery/store/events/event-list'
import { resolveEventType } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, dateOf, instant, isoTime, Namespace, orNull, RecordTypeName, text, wholeNumber } from '../members.ts'

/** The most events that one call lists. */
const MOST_LISTED = 1_000

/** Lists the events of a registry, the newest first: what happened when, and never to whom. */
export const listEvents = defineAct(
  {
    name: 'events list',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      event_type: Type.Optional(text("Only those of this type, one of the registry's event types.")),
      event_id: Type.Optional(text('Only that which was published under it.')),
      since: Type.Optional(instant('Only those recorded at this time or later.')),
      until: Type.Optional(instant('Only those recorded before this time.')),
      before: Type.Optional(wholeNumber('Only those with a lower id: for the next page, the last id of this one.')),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, MOST_LISTED)),
    }),
    result: Type.Array(
      closed({
        id: wholeNumber('Of the event.'),
        event_type: text('Type of the event.'),
        record_type: RecordTypeName,
        event_id: orNull(text('What the publishing system calls it; null where it was not published.')),
        record_version: wholeNumber('Version of the record.'),
        occurred_at: instant('When it happened.'),
        recorded_at: instant('When it was recorded.'),
        matched: wholeNumber('Subscriptions that were notified.'),
        corrected_by: orNull(wholeNumber('The event that takes it back or corrects it.')),
      }),
    ),
  },
  async ({ db }: HasDatabase, { namespace, event_type, event_id, since, until, before, limit = 50 }) => {
    const registry = await requireRegistry(db, namespace)
    const type = event_type === undefined ? undefined : resolveEventType(registry.kind, event_type)?.name
    if (event_type !== undefined && type === undefined) {
      const names = registry.kind.event_types.map(({ name }) => name).join(', ')
      throw new AdminRefusal(`event_type: must be one of ${names}`)
    }
    if (event_id !== undefined && !isTextStorable(event_id)) return []
    const choice = {
      ...(type !== undefined && { event_type: type }),
      ...(event_id !== undefined && { event_id }),
      ...(since !== undefined && { since: dateOf(since) }),
      ...(until !== undefined && { until: dateOf(until) }),
      ...(before !== undefined && { before }),
    }
    const rows = await listRows(db, registry.id, choice, limit)
    return rows.map((row) => ({
      ...row,
      id: Number(row.id),
      record_version: Number(row.record_version),
      corrected_by: row.corrected_by === null ? null : Number(row.corrected_by),
      occurred_at: isoTime(row.occurred_at),
      recorded_at: isoTime(row.recorded_at),
    }))
  },
)
