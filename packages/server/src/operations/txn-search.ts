/** Finding the exchange that holds items, by their reference_ids. */
import { type AskedExchange, type Asker, findAskedExchange } from '../store/exchanges/accepted-exchanges.ts'
import { findByReferences } from '../store/exchanges/references.ts'
import type { Answering } from './item.ts'
import { storeMissingReferences } from './references.ts'

/** Requests of an earlier version that one question opens, until all have been. */
const OPENED = 8

/** The one of the asker's exchanges that holds most of these items; of several, the newest. */
export async function findHolding(
  parts: Answering,
  asker: Asker,
  reference_ids: readonly string[],
): Promise<AskedExchange | null> {
  await storeMissingReferences(parts, OPENED, asker.participant)
  const correlation_id = await findByReferences(parts.db, asker, reference_ids)
  if (correlation_id === null) return null
  return findAskedExchange(parts.db, asker, { correlation_ids: [correlation_id] })
}
