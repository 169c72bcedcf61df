/** Takes what an item uses from the daily quotas of a grant and from its rates. */

import type { CountedQuantity } from '@rollcall/core/model/grant'
import type { QuotaShortage } from '@rollcall/participants/admission/grant-quota'
import { ItemRejection, RequestFault } from '@rollcall/protocol'
import type { ItemWork } from './item.ts'

/**
 * Takes `wanted` of `what` from the grant's rate and quota. If the only item of a synchronous message exceeds the rate, the whole
 * message is refused, so that its sender can send it again. Otherwise only the item is rejected.
 * @param criteria the member of the message that the reason names
 * @throws ItemRejection the daily quota of the grant is used up, or its rate is reached
 * @throws RequestFault 429 err.request.too_many_requests with `retryAfter` in seconds
 */
export async function takeGrantQuota(
  { deps, exchange, mode, items }: Pick<ItemWork, 'deps' | 'exchange' | 'mode' | 'items'>,
  what: CountedQuantity,
  wanted: number,
  criteria = 'search_criteria',
): Promise<void> {
  const shortage = await deps.grantQuota.take(what, exchange, wanted)
  if (shortage === null) return
  const text = shortageText(shortage, what, deps.clock.date())
  if (shortage.of === 'minute' && mode.name === 'sync' && items === 1) {
    const { wait: retryAfter } = shortage
    throw new RequestFault('err.request.too_many_requests', `too many requests: ${text}`, undefined, { retryAfter })
  }
  throw new ItemRejection('rjct.search.too_many_records_found', `${criteria}: ${text}`)
}

const DAY_MS = 86_400_000

/** The time at which the daily quota is free again: the next midnight in UTC, as text. */
const nextUtcDayText = (now: number): string =>
  new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString().replace('.000Z', 'Z')

/** Says in words, for the rejection of an item, which quota or rate has too few left. */
export function shortageText(shortage: QuotaShortage, what: CountedQuantity, now: number): string {
  switch (shortage.of) {
    case 'day':
      return `the daily quota of ${what} that is granted to this participant is used up; it is free again from ${nextUtcDayText(now)} on`
    case 'minute':
      return `the rate of ${shortage.most} ${what} a minute that is granted to this participant is reached; ask again in ${shortage.wait} seconds`
    case 'burst':
      return `at most ${shortage.most} ${what} a minute are granted to this participant, and these are more at once; ask for fewer`
  }
}
