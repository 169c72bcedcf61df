/** search: what is done with one search_request item (spec "SearchRequest", "SearchResponse"). */
import { CanonicalText, ItemRejection, PROTOCOL_VERSION } from '@rollcall/protocol'
import { readSearchCriteria } from '../query/search-criteria.ts'
import { findByIdentifier } from '../store/records.ts'
import type { Item, ItemWork } from './batch.ts'

/** The data and pagination members of the item's answer; no hit is `reg_records: []`, not a rejection. */
export async function searchItem({ context, exchange, budget }: ItemWork, item: Item): Promise<object> {
  const { registry, participant } = exchange
  const { limits } = context
  const criteria = readSearchCriteria(registry.kind, item, {
    defaultPageSize: limits.default_page_size,
    maxPageSize: participant.max_page_size ?? limits.page_size,
    maxResults: limits.search_results,
  })
  const { page_size, page_number } = criteria
  const found = await findByIdentifier(context.db, registry, criteria.recordType, criteria.identifier, {
    sort: criteria.sort,
    limit: page_size,
    offset: page_size * (page_number - 1),
    cap: limits.search_results,
  })
  spend(budget, found.documents)
  return {
    data: {
      version: PROTOCOL_VERSION,
      reg_type: criteria.reg_type,
      reg_record_type: criteria.reg_record_type,
      reg_records: found.documents.map((text) => new CanonicalText(text)),
    },
    pagination: { page_size, page_number, total_count: found.total },
  }
}

/** One answer holds so much and no more: a batch cannot make the server build an endless text. */
function spend(budget: ItemWork['budget'], documents: readonly string[]): void {
  const bytes = documents.reduce((sum, text) => sum + text.length, 0)
  if (bytes > budget.bytes) {
    throw new ItemRejection(
      'rjct.search.too_many_records_found',
      'search_criteria: the records of this answer are too many; send fewer items or ask for smaller pages',
    )
  }
  budget.bytes -= bytes
}
