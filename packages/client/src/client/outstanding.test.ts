import type { SearchRequest, SearchResponse } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { OutstandingPages } from './outstanding.ts'

type Item = SearchResponse['search_response'][number]
type Asked = SearchRequest['search_request'][number]['search_criteria']['pagination']

const timestamp = '2026-02-03T09:15:00Z'

const waitingFor = (...items: readonly [reference_id: string, pagination?: Asked][]) =>
  new OutstandingPages({
    search_request: items.map(([reference_id, pagination]) => ({
      reference_id,
      timestamp,
      search_criteria: {
        query_type: 'idtype-value',
        query: { type: 'UIN', value: '1' },
        ...(pagination !== undefined && { pagination }),
      },
    })),
  })

const item = (reference_id: string, changes: Partial<Item> = {}): Item => ({
  reference_id,
  timestamp,
  status: 'succ',
  ...changes,
})
const page = (page_number: number, total_count: number, reference_id = '1'): Item =>
  item(reference_id, { pagination: { page_size: 2, page_number, total_count } })

const nobody: Partial<Item> = { data: { reg_records: [] } }

/** The number of callbacks after which the search is over; null: it is not over after all of them. */
function endsAfter(outstanding: OutstandingPages, callbacks: readonly (readonly Item[])[]): number | null {
  for (const [index, search_response] of callbacks.entries()) {
    outstanding.take({ search_response: [...search_response] })
    if (outstanding.isOver) return index + 1
  }
  return null
}

describe('a search is over', () => {
  it.each<[string, readonly (readonly Item[])[], number | null]>([
    ['with one page that holds all', [[page(1, 2)]], 1],
    ['with one page that holds nobody', [[page(1, 0)]], 1],
    ['with every page', [[page(1, 5)], [page(2, 5)], [page(3, 5)]], 3],
    ['with every page, whichever came last', [[page(3, 5)], [page(1, 5)], [page(2, 5)]], 3],
    ['with every page, where each counts as far as the next one', [[page(3, 5)], [page(1, 3)], [page(2, 5)]], 3],
    ['with a first page that says why it has nobody', [[{ ...page(1, 340), ...nobody, status_reason_message: 'no' }]], 1],
    ['not with a first page of which nothing is shown', [[{ ...page(1, 3), ...nobody }], [page(2, 3)]], 2],
    ['not with the same page again', [[page(1, 3)], [page(1, 3)]], null],
    ['with an item of no pages', [[item('1')]], 1],
    ['with a rejected item', [[item('1', { status: 'rjct' })]], 1],
    ['with a rejected page among others', [[page(1, 5)], [item('1', { status: 'rjct' })], [page(3, 5)]], 3],
    ['not with items of others', [[page(1, 2, 'another')]], null],
    ['not with an item that is worked on', [[item('1', { status: 'pdng' })], [page(1, 1)]], 2],
    ['not with an item that is received', [[item('1', { status: 'rcvd' })], [page(1, 1)]], 2],
    ['with a page of a registry that says of an answer that it is received', [[{ ...page(1, 1), ...nobody, status: 'rcvd' }]], 1],
  ])('%s', (_name, callbacks, expected) => {
    expect(endsAfter(waitingFor(['1']), callbacks)).toBe(expected)
  })

  it('when each of its items is', () => {
    const callbacks = [[page(1, 4), page(1, 1, '2')], [page(2, 4)]]
    expect(endsAfter(waitingFor(['1'], ['2']), callbacks)).toBe(2)
  })

  it('with the one later page that was asked for', () => {
    expect(endsAfter(waitingFor(['1', { page_size: 2, page_number: 2 }]), [[page(2, 9)]])).toBe(1)
    expect(endsAfter(waitingFor(['1', { page_size: 2, page_number: 1 }]), [[page(1, 9)]])).toBeNull()
  })

  it('at once when nothing was asked', () => {
    expect(waitingFor().isOver).toBe(true)
  })
})
