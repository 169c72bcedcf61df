/** Yields records page by page (spec "SearchRequest", pagination). */
import type { SearchCriteria, SearchResponse } from '@rollcall/protocol'
import type { RegistryRecord } from './records.ts'
import { itemsOrThrow } from './results.ts'

const PAGE_SIZE = 100

/** Yields the records of a search, and requests one page after another. @param search requests one page */
export async function* pagesOf(
  search: (criteria: SearchCriteria) => Promise<{ readonly message: SearchResponse }>,
  criteria: SearchCriteria,
): AsyncGenerator<RegistryRecord, void, void> {
  const page_size = criteria.pagination?.page_size ?? PAGE_SIZE
  for (let page_number = criteria.pagination?.page_number ?? 1; ; page_number += 1) {
    const answer = await search({ ...criteria, pagination: { page_size, page_number } })
    const [item] = itemsOrThrow(answer)
    const records = item?.data?.reg_records ?? []
    yield* records
    // The registry may give smaller pages than requested. An answer without pagination has the only page.
    const { pagination } = item ?? {}
    if (pagination === undefined || records.length === 0) return
    if (pagination.page_number * pagination.page_size >= pagination.total_count) return
  }
}
