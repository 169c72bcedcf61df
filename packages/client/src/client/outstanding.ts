/** Knows which callbacks an asynchronous search still waits for: pages of items, in any order. */
import type { SearchRequest, SearchResponse } from '@rollcall/protocol'

interface AwaitedItem {
  /** True when the request asked for another page than the first: the answer is that page alone. */
  readonly onePage: boolean
  readonly pages: Set<number>
  /** The number of answers without pagination, such as rejections, which do not name their page. */
  rejected: number
  /** The number of pages of the item: the greatest total_count / page_size of its callbacks, rounded up; 1 at first. */
  expected: number
}

type SearchItem = SearchResponse['search_response'][number]

/** The items of one search that still miss pages. */
export class OutstandingPages {
  /** The items that still miss pages, by reference_id. */
  readonly #items: Map<string, AwaitedItem>

  constructor({ search_request }: Pick<SearchRequest, 'search_request'>) {
    this.#items = new Map(
      search_request.map(({ reference_id, search_criteria: { pagination } }) => {
        const onePage = (pagination?.page_number ?? 1) !== 1
        return [reference_id, { onePage, pages: new Set(), rejected: 0, expected: 1 }]
      }),
    )
  }

  get isOver(): boolean {
    return this.#items.size === 0
  }

  /** Notes the items of a callback. An item is dropped when no more answers of it are awaited (`noteItemAnswer`). */
  take({ search_response }: Pick<SearchResponse, 'search_response'>): void {
    for (const item of search_response) {
      const awaitedItem = this.#items.get(item.reference_id)
      if (awaitedItem !== undefined && noteItemAnswer(awaitedItem, item)) this.#items.delete(item.reference_id)
    }
  }
}

/**
 * Notes one answer of an item; the statuses rcvd and pdng do not count. Returns true when no more answers are awaited: for
 * `onePage`, after one; after a first page that says why it has no records; else when as many have come as the item has pages.
 */
function noteItemAnswer(waiting: AwaitedItem, { status, pagination, data, status_reason_message: why }: SearchItem): boolean {
  // Some registries answer `rcvd` with data (D25).
  if (status === 'pdng' || (status === 'rcvd' && data === undefined)) return false
  if (pagination?.page_number === 1 && data?.reg_records.length === 0 && why !== undefined) return true
  if (pagination === undefined) waiting.rejected += 1
  else {
    waiting.pages.add(pagination.page_number)
    waiting.expected = Math.max(waiting.expected, Math.ceil(pagination.total_count / pagination.page_size))
  }
  return waiting.onePage || waiting.pages.size + waiting.rejected >= waiting.expected
}
