/** Finds waiting notifications about records that the grant does not show, stored here or read from a source. */

import type { Grant } from '@rollcall/core/model/grant'
import { protectedPersonsOwningRecord } from '@rollcall/core/model/protection'
import type { Registry } from '@rollcall/core/model/registry'
import { isRecordGranted } from '@rollcall/core/policy/disclosure'
import type { Database } from '@rollcall/database/database'
import type { JsonValue } from '@rollcall/protocol'
import { readProtection } from '@rollcall/records/records/protection'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { type EventDocument, findEventDocument, type WaitingNotification } from '../store/events/waiting.ts'

/** The number of events whose documents are in memory at a time. */
const EVENTS_PER_PORTION = 200

/**
 * Finds the notifications about records that do not fulfil the conditions of the grant, or that belong to a protected
 * person whom the grant does not show. The conditions are applied to the document of the event; for a deleted record
 * that is its last state. A protected person is found by the present record, and by the document and the identifiers of the
 * event: the record may have been deleted, or its identifiers may have changed since the event.
 * @param to.grant null: there are no conditions to fulfil, and no protected person is shown
 */
export async function findNotificationsHiddenByGrant(
  db: Database,
  { registry, grant }: { readonly registry: Registry; readonly grant: Grant | null },
  found: readonly WaitingNotification[],
): Promise<readonly WaitingNotification[]> {
  if (found.length === 0) return []
  const protection = await readProtection(db.pool, registry.id)
  const isAnybodyProtected = protection.byProtectingIdentifier.size > 0
  if (!isAnybodyProtected && (grant === null || grant.rows.size === 0)) return []
  const isHiding = (category: string): boolean => grant?.hidden.categories.includes(category) !== true
  const reader = recordsOf(db, registry).within(db.pool)
  const hidden: WaitingNotification[] = []
  for (const [record_type, notifications] of Map.groupBy(found, (one) => one.record_type)) {
    const recordType = registry.kind.record_types.find(({ name }) => name === record_type)
    if (recordType === undefined) throw new RangeError(`the kind has no record type ${record_type}`)
    const ids = [...new Set(notifications.map(({ record }) => record))]
    const categories: ReadonlyMap<string, readonly string[]> = isAnybodyProtected
      ? await reader.categories(registry, recordType, ids)
      : new Map()
    const isHidden = (record: string, shown: EventDocument | undefined): boolean => {
      const document: JsonValue = JSON.parse(shown?.document ?? 'null')
      if (grant?.rows.has(record_type) && !isRecordGranted(grant, recordType, document)) return true
      if (!isAnybodyProtected) return false
      if (categories.get(record)?.some(isHiding)) return true
      return [document ?? {}, JSON.parse(shown?.identifiers ?? '{}')]
        .flatMap((named) => protectedPersonsOwningRecord(registry.kind, recordType, protection, named))
        .some(({ category }) => isHiding(category))
    }
    const events = [...Map.groupBy(notifications, ({ event }) => event)]
    for (let at = 0; at < events.length; at += EVENTS_PER_PORTION) {
      const portion = events.slice(at, at + EVENTS_PER_PORTION)
      const documents = await Promise.all(portion.map(([event]) => findEventDocument(db.pool, event)))
      const judged = portion.map(([, [one]], index) => isHidden(one?.record ?? '', documents[index]))
      hidden.push(...portion.flatMap(([, those], index) => (judged[index] ? those : [])))
    }
  }
  return hidden
}
