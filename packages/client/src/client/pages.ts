/** Yields records page by page (spec "SearchRequest", pagination). */
import type { SearchCriteria, SearchResponse } from '@rollcall/protocol'
import { TransportError } from '../errors.ts'
import type { Answer } from './messages.ts'
import type { RegistryRecord } from './records.ts'
import { onlySearchItem } from './results.ts'

const PAGE_SIZE = 100

/**
 * Yields the records of a search, and requests one page after another.
 * @param search requests one page
 * @throws ItemRejected
 * @throws TransportError `unreadable` the registry answers with another page, with several items, or has not searched yet
 */
export async function* recordsOfAllPages(
  search: (criteria: SearchCriteria) => Promise<Answer<SearchResponse>>,
  criteria: SearchCriteria,
): AsyncGenerator<RegistryRecord, void, void> {
  const page_size = criteria.pagination?.page_size ?? PAGE_SIZE
  for (let page_number = criteria.pagination?.page_number ?? 1; ; page_number += 1) {
    const item = onlySearchItem(await search({ ...criteria, pagination: { page_size, page_number } }))
    const records = item?.data?.reg_records ?? []
    const { pagination } = item ?? {}
    if (pagination !== undefined && pagination.page_number !== page_number) {
      if (records.length === 0) return
      const member = 'message.search_response[0].pagination.page_number'
      throw new TransportError('unreadable', `${member}: must be ${page_number}, the requested page`)
    }
    yield* records
    // The registry may give smaller pages than requested, and empty ones before others, because it leaves out records of which it
    // shows nothing. An answer without pagination has all records, so no page follows.
    if (pagination === undefined || page_number * pagination.page_size >= pagination.total_count) return
  }
}
