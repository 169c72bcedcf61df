/** What an exchange is answered with when the registry itself failed, after it has tried again for a while. */

import type { Exchange } from '../model/exchange.ts'
import type { Outcome } from '../model/outcome.ts'
import { referenceId } from '../model/reference-id.ts'
import { unansweredMembers } from './handlers.ts'
import type { Item } from './item.ts'

const REQUEST = 'the registry failed to answer this request; it may be sent again under a new message_id'
const LATER_PAGES =
  'the registry failed to answer this page and those after it; the request may be sent again under a new message_id'
const ITEM = 'the registry failed; nothing is known to be wrong with this item'

/**
 * Rejected as a whole, without a reason code: none of the standard's is true (N18).
 * @param items those that were still to be answered; none where they cannot be read
 * @param about.page from 1
 * @param about.count how many items the request has
 */
export function failedOutcome(
  exchange: Pick<Exchange, 'operation' | 'correlation_id'>,
  transaction_id: string,
  items: readonly Item[],
  { page, count }: { readonly page: number; readonly count: number },
): Outcome {
  const timestamp = new Date().toISOString()
  const rejected = items.map((item) => ({
    reference_id: referenceId(item),
    timestamp,
    status: 'rjct',
    status_reason_message: ITEM,
    ...(item.locale !== undefined && { locale: item.locale }),
  }))
  const { items: member } = exchange.operation.reply
  const reason = page === 1 ? REQUEST : LATER_PAGES
  return {
    status: 'rjct',
    status_reason_message: reason,
    total_count: items.length > 0 ? items.length : count,
    completed_count: items.length,
    members:
      member === null ? unansweredMembers(exchange, { transaction_id }, reason) : { [member]: rejected },
  }
}
