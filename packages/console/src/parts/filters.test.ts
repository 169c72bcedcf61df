import fc from 'fast-check'
import { expect, it } from 'vitest'
import { filterText, readFilter } from './filters.ts'

it('reads back every filter that it writes', () => {
  const names = ['state', 'participant', 'before']
  const values = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.string({ unit: 'grapheme', minLength: 1 })])),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(values, (given) => {
      expect(readFilter(filterText(given).slice(1), names)).toEqual({ ...given })
    }),
  )
})

it('has no member that the list does not have, and none without a value', () => {
  expect(readFilter('state=dead&role=own&before=', ['state', 'before'])).toEqual({ state: 'dead' })
  expect(filterText({ state: undefined })).toBe('')
})
