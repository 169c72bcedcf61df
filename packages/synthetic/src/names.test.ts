import { expect, test } from 'vitest'
import { CULTURES, cultureAtPercent } from './cultures.ts'
import { decomposeAccents, familyName, firstAndLastName, givenName, makeProgrammePersonName, personName } from './names.ts'
import { populationOf, RandomStream, STREAM_PURPOSES } from './stream.ts'

const stream = new RandomStream(populationOf(1), STREAM_PURPOSES.person, 0)

test('the cultures share a hundred places, 35 of them in other scripts than Latin', () => {
  expect(CULTURES.reduce((sum, culture) => sum + culture.weight, 0)).toBe(100)
  const latin = CULTURES.filter((culture) => culture.name.endsWith('Latin'))
  expect(latin.reduce((sum, culture) => sum + culture.weight, 0)).toBe(65)
  expect(cultureAtPercent(99)).toBe(CULTURES.at(-1))
  expect(() => cultureAtPercent(100)).toThrow(new RangeError('culture place must be 0 to 99, not 100'))
})

test.each(CULTURES)('$name names are well formed, composed, and of their script', (culture) => {
  const scripts: Record<string, RegExp> = {
    Arabic: /^[\p{Script=Arabic} ]+$/u,
    Devanagari: /^[\p{Script=Devanagari}]+$/u,
    Cyrillic: /^[\p{Script=Cyrillic}]+$/u,
    Ethiopic: /^[\p{Script=Ethiopic}]+$/u,
    Han: /^[\p{Script=Han}]+$/u,
  }
  const script = scripts[culture.name] ?? /^[\p{Script=Latin}\p{M}' -]+$/u
  for (let draw = 0; draw < 300; draw++) {
    for (const name of [givenName(stream, culture, 'female'), familyName(stream, culture)]) {
      expect(name.isWellFormed()).toBe(true)
      expect(name).toMatch(script)
      expect(name).toBe(name.trim())
    }
  }
})

test('some Han surnames lie outside the Basic Multilingual Plane', () => {
  const han = CULTURES.at(-1)
  const openings: readonly string[] = han?.surnames.openings ?? []
  expect(openings.some((opening) => (opening.codePointAt(0) ?? 0) > 0xffff)).toBe(true)
})

test('a name has a surname or a given name, and a maiden name only where one is given', () => {
  const culture = cultureAtPercent(0)
  for (let draw = 0; draw < 2000; draw++) {
    const name = personName(stream, culture, 'male', 'Lorby', draw % 2 ? 'Ashica' : null)
    expect(name.surname ?? name.given_name).toBeDefined()
    if (draw % 2 === 0) expect(name.maiden_name).toBeUndefined()
  }
})

test('decomposing changes the characters and not the text', () => {
  const name = { surname: 'Ñuñez', given_name: 'Thểléa' }
  expect(decomposeAccents(name)).not.toEqual(name)
  expect(decomposeAccents(name).surname?.normalize('NFC')).toBe('Ñuñez')
})

test('other kinds write the parts under other names, and leave out those that are missing', () => {
  const name = { surname: 'Lorby', given_name: 'Talek', second_name: 'Corim' }
  expect(makeProgrammePersonName(name)).toEqual({ first_name: 'Talek', second_name: 'Corim', surname: 'Lorby' })
  expect(firstAndLastName(name)).toEqual({ first_name: 'Talek', last_name: 'Lorby' })
  expect(firstAndLastName({ surname: 'Lorby' })).toEqual({ last_name: 'Lorby' })
  expect(makeProgrammePersonName({ given_name: 'Talek' })).toEqual({ first_name: 'Talek' })
})
