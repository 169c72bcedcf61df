import { SearchCriteria } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../test/processor-time.ts'
import { findMisspeltMember } from './near-names.ts'

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
    expect(findMisspeltMember({ query: 1, [member]: 1 }, KNOWN)).toEqual({ member, meant })
  })

  it.each(['query', 'query_types_of', '@context', 'id', 'locale', '', '__proto__', 'x'.repeat(100_000)])(
    'not %.20s',
    (member) => {
      expect(findMisspeltMember(JSON.parse(`{"${member}": 1}`), KNOWN)).toBeUndefined()
    },
  )
})

it.each([
  ['no length in common with any', 'pagination_'.padEnd(57, 'x')],
  ['the first half of a known one', 'response_xxxxx'],
])('as many names as a body may have, with %s, take little time', (_what, begin) => {
  const known = Object.keys(SearchCriteria.properties)
  const members = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`${begin}${String(index).padStart(3, '0')}`, 1]),
  )
  const before = processorTime()
  for (let item = 0; item < 124; item += 1) expect(findMisspeltMember(members, known)).toBeUndefined()
  // A comparison that does not give a name up early takes 15 times as long as one that does.
  expect(processorTime() - before).toBeLessThan(8_000)
})
