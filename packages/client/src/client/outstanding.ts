/** The callbacks that an asynchronous search still waits for: pages of items, in any order. */
import type { SearchRequest, SearchResponse } from '@rollcall/protocol'

interface Waiting {
  /** A request for a later page is answered with that page alone. */
  readonly onePage: boolean
  readonly pages: Set<number>
  /** Rejections do not name their page. */
  rejected: number
  /** Number of all pages; Infinity until a page tells it. */
  expected: number
}

type Item = SearchResponse['search_response'][number]

export class Outstanding {
  /** Items that are not complete, by reference_id. */
  readonly #items: Map<string, Waiting>

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

  /** Notes the items of one callback. */
  take({ search_response }: Pick<SearchResponse, 'search_response'>): void {
    for (const item of search_response) {
      const waiting = this.#items.get(item.reference_id)
      if (waiting !== undefined && isComplete(waiting, item)) this.#items.delete(item.reference_id)
    }
  }
}

/** True when all pages have come: 1 to total_count / page_size, or one without pagination. */
function isComplete(waiting: Waiting, { status, pagination }: Item): boolean {
  if (status === 'rcvd' || status === 'pdng') return false
  if (pagination === undefined) waiting.rejected += 1
  else {
    waiting.pages.add(pagination.page_number)
    waiting.expected = Math.ceil(pagination.total_count / pagination.page_size)
  }
  return waiting.onePage || waiting.pages.size + waiting.rejected >= waiting.expected
}
