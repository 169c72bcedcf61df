import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nearestName, nearestNameHint } from './message-words.ts'

const NAMES = ['birth_date', 'birth_place', 'name.given_name', 'sex', 'ROLLCALL_DATA']

test.each([
  ['birthdate', 'birth_date'],
  ['Birth-Date', 'birth_date'],
  ['brith_date', 'birth_date'],
  ['birth_dat', 'birth_date'],
  ['birth_plaze', 'birth_place'],
  ['name.givenname', 'name.given_name'],
  ['sxe', 'sex'],
  ['ROLLCAL_DATA', 'ROLLCALL_DATA'],
  ['address', undefined],
  ['se', 'sex'],
  ['', undefined],
])('%s is nearest to %s', (given, name) => {
  expect(nearestName(given, NAMES)).toBe(name)
})

test('a hint names the nearest, or says nothing', () => {
  expect(nearestNameHint('birthdate', NAMES)).toBe('; the nearest is birth_date')
  expect(nearestNameHint('address', NAMES)).toBe('')
})

test('a name with one character left out is found again', () => {
  const name = fc.stringMatching(/^[a-z]{6,20}$/)
  fc.assert(
    fc.property(name, fc.nat(), (known, at) => {
      const place = at % known.length
      expect(nearestName(known.slice(0, place) + known.slice(place + 1), [known])).toBe(known)
    }),
  )
})
