/** Takes what an item uses from the daily quotas and the rates of a grant, and from the identifiers of its request. */

import type { CountedQuantity } from '@rollcall/core/model/grant'
import type { RequestItemAuditFacts } from '@rollcall/core/model/outcome'
import type { QuotaShortage } from '@rollcall/participants/admission/grant-quota'
import { type ItemCode, ItemRejection, RequestFault } from '@rollcall/protocol'
import type { ItemHandlerInput } from './item.ts'

/**
 * Takes `wanted` of `what` from the grant's rate and daily quota. If too few are left, the item is rejected. There is one
 * exception: a synchronous message of one item for which the rate has too few now is refused as a whole, so that its sender can
 * send it again. The rate of records refuses no message, because the records are found already, and a refused message has no
 * audit entry with their persons.
 * @param criteria the member of the message that the reason names
 * @throws ItemRejection the daily quota of the grant is used up, or its rate is reached
 * @throws RequestFault 429 err.request.too_many_requests with `retryAfter` in seconds
 */
export async function takeGrantQuota(
  { deps, exchange, mode, items }: Pick<ItemHandlerInput, 'deps' | 'exchange' | 'mode' | 'items'>,
  what: CountedQuantity,
  wanted: number,
  criteria = 'search_criteria',
): Promise<void> {
  // The clock is read first: if the day ends meanwhile, the text must not name the end of the next day.
  const now = deps.clock.date()
  const shortage = await deps.grantQuota.take(what, exchange, wanted)
  if (shortage === null) return
  const text = shortageText(shortage, what, now)
  if (shortage.of === 'minute' && what !== 'records' && mode.name === 'sync' && items === 1) {
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
function shortageText(shortage: QuotaShortage, what: CountedQuantity, now: number): string {
  switch (shortage.of) {
    case 'day':
      return `the daily quota of ${what} that is granted to this participant is used up; it is free again from ${nextUtcDayText(now)} on`
    case 'minute':
      return `the rate of ${shortage.most} ${what} a minute that is granted to this participant is reached; ask again in ${shortage.wait} seconds`
    case 'burst':
      return `at most ${shortage.most} ${what} a minute are granted to this participant, and these are more at once; ask for fewer`
  }
}

/**
 * Takes the identifiers that the query of an item names from those that its request, or its chunk, may name. Call it before
 * `persons` are added to the audit entry.
 * @param path the member of the item that has the query, for the reason
 * @throws ItemRejection the request has too few left; a later item that names fewer identifiers may still be answered
 */
export function takeRequestIdentifierBudget(
  { deps, budget }: Pick<ItemHandlerInput, 'deps' | 'budget'>,
  { persons = [] }: Pick<RequestItemAuditFacts, 'persons'>,
  code: ItemCode,
  path: string,
): void {
  const wanted = persons.reduce((sum, { identifiers }) => sum + identifiers.length, 0)
  if (wanted > budget.identifiers) {
    const rule = `a request may name at most ${deps.limits.asked_identifiers} identifiers`
    throw new ItemRejection(code, `${path}: ${rule}; a value without a type counts for each type`)
  }
  budget.identifiers -= wanted
}
