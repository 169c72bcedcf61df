/** The notifications that wait about protected persons whom the grant does not show, whatever source their records have. */

import type { Grant } from '@rollcall/core/model/grant'
import { protectedAs } from '@rollcall/core/model/protection'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { readProtection } from '@rollcall/records/records/protection'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { findDocument, type WaitingNotification } from '../store/events/waiting.ts'

/** Events whose documents are in memory at a time. */
const PORTION = 200

/**
 * A record is judged by its source, as it is now, and by what its event says of it: the record may be gone, and may have had
 * another identifier when the event happened.
 * @param to.grant null: it shows nobody
 */
export async function aboutProtected(
  db: Database,
  { registry, grant }: { readonly registry: Registry; readonly grant: Grant | null },
  found: readonly WaitingNotification[],
): Promise<readonly WaitingNotification[]> {
  if (found.length === 0) return []
  const protection = await readProtection(db.pool, registry.id)
  if (protection.byProtectingIdentifier.size === 0) return []
  const { kind } = registry
  const isHiding = (category: string): boolean => grant?.hidden.categories.includes(category) !== true
  const reader = recordsOf(db, registry).within(db.pool)
  const hidden: WaitingNotification[] = []
  for (const [record_type, notifications] of Map.groupBy(found, (one) => one.record_type)) {
    const recordType = kind.record_types.find(({ name }) => name === record_type)
    if (recordType === undefined) throw new RangeError(`the kind has no record type ${record_type}`)
    const ids = [...new Set(notifications.map(({ record }) => record))]
    const categories = await reader.categories(registry, recordType, ids)
    const isOfHidden = async (event: number, record: string): Promise<boolean> => {
      if (categories.get(record)?.some(isHiding)) return true
      const shown = await findDocument(db.pool, event)
      const texts = shown === undefined ? [] : [shown.document ?? '{}', shown.identifiers]
      return texts
        .flatMap((text) => protectedAs(kind, recordType, protection, JSON.parse(text)))
        .some(({ category }) => isHiding(category))
    }
    const events = [...Map.groupBy(notifications, ({ event }) => event)]
    for (let at = 0; at < events.length; at += PORTION) {
      const portion = events.slice(at, at + PORTION)
      const judged = await Promise.all(portion.map(([event, [one]]) => isOfHidden(event, one?.record ?? '')))
      hidden.push(...portion.flatMap(([, those], index) => (judged[index] ? those : [])))
    }
  }
  return hidden
}
