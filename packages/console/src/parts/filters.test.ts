import fc from 'fast-check'
import { expect, it } from 'vitest'
import { filterQueryText, findShortcutField, isoTimeOf, localTimeOf, readFilter } from './filters.ts'

it('reads back every filter that it writes', () => {
  const names = ['state', 'participant', 'before']
  const values = fc.record(Object.fromEntries(names.map((name) => [name, fc.string({ unit: 'grapheme', minLength: 1 })])), {
    requiredKeys: [],
  })
  fc.assert(
    fc.property(values, (given) => {
      expect(readFilter(filterQueryText(given).slice(1), names)).toEqual({ ...given })
    }),
  )
})

it('has no member that the list does not have, and none without a value', () => {
  expect(readFilter('state=dead&role=own&before=', ['state', 'before'])).toEqual({ state: 'dead' })
  expect(filterQueryText({ state: undefined })).toBe('')
})

it('writes times into fields and reads them back', () => {
  const minutes = fc.integer({ min: 0, max: 66_000_000 })
  fc.assert(
    fc.property(minutes, (minute) => {
      const iso = new Date(Date.UTC(1970, 0, 2) + minute * 60_000).toISOString()
      // An hour that the clock runs through twice has one name only.
      const back = Date.parse(isoTimeOf(localTimeOf(iso)) ?? '')
      expect(Math.abs(back - Date.parse(iso)) % 3_600_000).toBe(0)
    }),
  )
  expect(localTimeOf(undefined)).toBe('')
  expect(isoTimeOf('')).toBe(undefined)
})

it('searches in the first text, and in the first field when there is no text', () => {
  const choice = { name: 'state', options: ['dead'] }
  const time = { name: 'since', time: true }
  const text = { name: 'participant' }
  expect(findShortcutField([choice, time, text, { name: 'origin' }])).toBe(text)
  expect(findShortcutField([choice, time])).toBe(choice)
  expect(findShortcutField([])).toBeUndefined()
})
