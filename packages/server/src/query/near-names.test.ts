import { describe, expect, it } from 'vitest'
import { misspelt } from './near-names.ts'

const KNOWN = ['query', 'query_type', 'pagination', 'reg_type', 'page_size']

describe('a member that is nearly called like a known one', () => {
  it.each([
    ['queri', 'query'],
    ['qurey', 'query'],
    ['queryType', 'query_type'],
    ['Query', 'query'],
    ['paginaton', 'pagination'],
    ['pagenation', 'pagination'],
    ['PAGESIZE', 'page_size'],
    ['regtype', 'reg_type'],
  ])('%s: %s is meant', (member, meant) => {
    expect(misspelt({ query: 1, [member]: 1 }, KNOWN)).toEqual({ member, meant })
  })

  it.each(['query', 'query_types_of', '@context', 'id', 'locale', '', '__proto__', 'x'.repeat(100_000)])(
    'not %.20s',
    (member) => {
      expect(misspelt(JSON.parse(`{"${member}": 1}`), KNOWN)).toBeUndefined()
    },
  )
})
