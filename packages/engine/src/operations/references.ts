/** Stores the reference_ids of exchanges that an earlier version accepted: that version left them only in the stored requests. */

import { referenceId } from '@rollcall/core/model/exchange'
import { isUnavailable, safeDatabaseError } from '@rollcall/database/database-errors'
import { BodyUnreadable } from '@rollcall/keys/bodies'
import type { Log } from '@rollcall/observe/log'
import { operation } from '@rollcall/protocol'
import { type AcceptedExchange, findAcceptedExchange } from '../store/exchanges/accepted-exchanges.ts'
import { findExchangesWithoutReferences, findRepeatedReferenceIds, storeReferences } from '../store/exchanges/references.ts'
import { openAndReadStoredRequest } from './accepted-request.ts'
import { batchItemsOf } from './item.ts'

/** The dependencies of `storeMissingReferenceIds`. */
export type StoreReferenceIdsDeps = Parameters<typeof openAndReadStoredRequest>[0] & { readonly log: Log }

/**
 * Reads at most `limit` requests whose reference_ids are not stored, the newest first, and stores them. A request that cannot be
 * read is not read again: it is stored as a request without items.
 * @param participant `Participant.id`; null: all
 * @returns how many requests there were to read
 */
export async function storeMissingReferenceIds(
  deps: StoreReferenceIdsDeps,
  limit: number,
  participant: number | null = null,
): Promise<number> {
  const missing = await findExchangesWithoutReferences(deps.db, limit, participant)
  for (const correlation_id of missing) {
    const accepted = await findAcceptedExchange(deps.db, correlation_id)
    if (accepted !== null) await storeReferenceIdsIfMissing(deps, accepted)
  }
  return missing.length
}

/** Stores the reference_ids of an exchange's items, if they are not stored yet. */
export async function storeReferenceIdsIfMissing(deps: StoreReferenceIdsDeps, accepted: AcceptedExchange): Promise<void> {
  if (accepted.references_stored) return
  await storeReferences(deps.db, accepted.correlation_id, await readReferenceIds(deps, accepted))
}

/**
 * The reference_ids of a chunk that are also in earlier chunks of its request. Stores the references first if an
 * earlier version accepted the request.
 */
export async function readRepeatedReferenceIds(deps: StoreReferenceIdsDeps, chunk: AcceptedExchange): Promise<readonly string[]> {
  const request = await findAcceptedExchange(deps.db, chunk.correlation_id)
  if (request !== null) await storeReferenceIdsIfMissing(deps, request)
  return findRepeatedReferenceIds(deps.db, chunk)
}

/** Reads the reference_ids in the stored request; none when the request cannot be read. */
async function readReferenceIds(deps: StoreReferenceIdsDeps, accepted: AcceptedExchange): Promise<readonly string[]> {
  try {
    return await openAndReadStoredRequest(deps, accepted, ({ message }) =>
      batchItemsOf({ operation: operation(accepted.operation) }, message).map(referenceId),
    )
  } catch (error) {
    if (isUnavailable(error)) throw error
    const { correlation_id } = accepted
    if (!(error instanceof BodyUnreadable)) {
      deps.log.warn({ correlation_id, ...safeDatabaseError(error) }, 'the items of an exchange cannot be read')
    }
    return []
  }
}
