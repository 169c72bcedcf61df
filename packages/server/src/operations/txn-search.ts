/** Finding the exchange that holds items, by their reference_ids. */
import type { Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../exchange.ts'
import { BodyClosed } from '../keys/bodies.ts'
import {
  type AcceptedExchange,
  type AskedExchange,
  type Asker,
  findAccepted,
  findAskedExchange,
  findByReferences,
  findWaiting,
  type ItemMatches,
} from '../store/accepted-exchanges.ts'
import { readRequest } from './accepted-request.ts'
import { itemsOf, referenceId } from './batch.ts'
import { PORTION } from './portions.ts'

/**
 * The one of the asker's exchanges that holds most of these items; of several, the newest. One that is not answered
 * yet has its items in its sealed request alone.
 */
export async function findHolding(
  context: Context,
  about: { readonly exchange: Exchange; readonly operation: Operation },
  asker: Asker,
  reference_ids: readonly string[],
): Promise<AskedExchange | null> {
  const asked = new Set(reference_ids)
  const waiting = await findInWaiting(context, about.operation, asker, asked)
  const answered =
    waiting?.matches === asked.size ? null : await findByReferences(context.db, asker, [...asked])
  const best = (answered?.matches ?? 0) > (waiting?.matches ?? 0) ? answered : waiting
  if (best === null) return null
  return findAskedExchange(context.db, asker, { correlation_ids: [best.correlation_id] })
}

async function findInWaiting(
  context: Context,
  operation: Operation,
  asker: Asker,
  asked: ReadonlySet<string>,
): Promise<ItemMatches | null> {
  let best: ItemMatches | null = null
  for (const correlation_id of await findWaiting(context.db, asker, PORTION)) {
    const accepted = await findAccepted(context.db, correlation_id)
    const matches = accepted === null ? 0 : await countItems(context, operation, accepted, asked)
    if (matches > (best?.matches ?? 0)) best = { correlation_id, matches }
    if (matches === asked.size) break
  }
  return best
}

async function countItems(
  context: Context,
  operation: Operation,
  accepted: AcceptedExchange,
  asked: ReadonlySet<string>,
): Promise<number> {
  try {
    const named = await readRequest(
      context,
      accepted,
      ({ message }) => new Set(itemsOf({ operation }, message).map(referenceId)),
    )
    return [...asked].filter((reference_id) => named.has(reference_id)).length
  } catch (error) {
    if (error instanceof BodyClosed) return 0
    throw error
  }
}
