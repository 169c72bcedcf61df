/** The daily quotas of a grant, as an item takes of them. */
import { ItemRejection } from '@rollcall/protocol'
import { nextDay } from '../admission/grant-quota.ts'
import type { Counted } from '../model/grant.ts'
import type { ItemWork } from './item.ts'

/**
 * @param criteria the member that asks
 * @throws ItemRejection the daily quota of the grant is used up
 */
export async function takeQuota(
  { parts, exchange }: Pick<ItemWork, 'parts' | 'exchange'>,
  what: Counted,
  wanted: number,
  criteria = 'search_criteria',
): Promise<void> {
  if (await parts.grantQuota.take(what, exchange, wanted)) return
  throw new ItemRejection(
    'rjct.search.too_many_records_found',
    `${criteria}: the daily quota of ${what} that is granted to this participant is used up; it is free again from ${nextDay(parts.clock.date())} on`,
  )
}
