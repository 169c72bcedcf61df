import { ItemRejection } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type GrantTerms, TOTAL_COUNT_FORMS } from '../model/grant.ts'
import type { FoundPage } from '../model/records.ts'
import { applyCap, countingRulesOf } from './total.ts'

const CAP = 20
const PAGE = { page_size: 100, page_number: 1, others: 'on request' } as const
const grantOf = (counts: GrantTerms['counts']) => ({
  terms: { operations: 'all', see: 'all', basis: 'law', ...(counts && { counts }) } as const,
})

/** The result of a search where so many records match. Its total is at most one more than the cap. */
const foundOf = (matching: number): FoundPage => {
  const ids = Array.from({ length: Math.min(matching, CAP) }, (_, id) => String(id))
  return { total: Math.min(matching, CAP + 1), records: ids.map((id) => ({ id, document: '{}' })), ids }
}

function answerOf(counts: GrantTerms['counts'], matching: number) {
  const grant = grantOf(counts)
  try {
    const { records, ids, total, reason } = applyCap(grant, foundOf(matching), CAP)
    return { records, ids, reason, total_count: countingRulesOf(grant).total(total, { ...PAGE, shown: records.length }) }
  } catch (error) {
    if (!(error instanceof ItemRejection)) throw error
    return { code: error.code, message: error.message }
  }
}

const some = fc.nat(CAP * 3)

describe('two databases that differ beyond the cap answer alike', () => {
  it.each(TOTAL_COUNT_FORMS)('with counts %s', (counts) => {
    // Only `capped` answers at the cap as above it.
    const least = counts === 'capped' ? CAP : CAP + 1
    fc.assert(
      fc.property(some, some, (one, other) => {
        expect(answerOf(counts, least + one)).toEqual(answerOf(counts, least + other))
      }),
    )
  })
})

it('capped is exact below the cap, and never more than the cap', () => {
  fc.assert(
    fc.property(some, (matching) => {
      expect(answerOf('capped', matching)).toMatchObject({ total_count: Math.min(matching, CAP) })
      if (matching < CAP) expect(answerOf('capped', matching)).toEqual(answerOf('exact', matching))
    }),
  )
  expect(answerOf('capped', CAP)).toEqual({
    records: [],
    ids: [],
    total_count: CAP,
    reason: 'search_criteria: 20 records or more match; narrow the search to get them',
  })
})

it.each(['exact', 'rounded', 'none'] as const)('above the cap, with counts %s, the item is rejected', (counts) => {
  expect(answerOf(counts, CAP + 1)).toEqual({
    code: 'rjct.search.too_many_records_found',
    message: 'search_criteria: more than 20 records match; narrow the search',
  })
  expect(answerOf(counts, CAP)).not.toHaveProperty('code')
})

describe.each(['rounded', 'none'] as const)('with counts %s', (counts) => {
  const { total } = countingRulesOf(grantOf(counts))
  const sizes = fc.record({ matching: fc.nat(300), page_size: fc.integer({ min: 1, max: 40 }) })
  const pagesOf = (matching: number, page_size: number) =>
    Array.from({ length: Math.max(1, Math.ceil(matching / page_size)) }, (_, index) => {
      const shown = Math.min(page_size, matching - index * page_size)
      return { page_size, page_number: index + 1, shown, others: 'sent' } as const
    })

  it('the greatest total of the pages that are sent makes as many pages', () => {
    fc.assert(
      fc.property(sizes, ({ matching, page_size }) => {
        const pages = pagesOf(matching, page_size)
        const totals = pages.map((page) => total(matching, page))
        expect(Math.max(1, Math.ceil(Math.max(...totals) / page_size))).toBe(pages.length)
        expect(pages.map((page, index) => total(totals[index] ?? 0, page))).toEqual(totals)
      }),
    )
  })

  it('the total of each page that is asked for says whether to ask for the next one', () => {
    fc.assert(
      fc.property(sizes, ({ matching, page_size }) => {
        for (const page of pagesOf(matching, page_size).slice(0, -1)) {
          expect(total(matching, { ...page, others: 'on request' })).toBeGreaterThan(page.page_number * page_size)
        }
      }),
    )
  })
})
