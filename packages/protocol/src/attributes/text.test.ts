import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { composed, foldCase, foldCaseAndAccents } from './text.ts'

describe('composed', () => {
  it('makes one text of a letter with its accent, however it was typed', () => {
    expect(composed('E\u0301lodie')).toBe('\u00c9lodie')
  })

  it('leaves case, accents and space alone', () => {
    expect(composed(' \u00c9Lodie ')).toBe(' \u00c9Lodie ')
  })
})

describe('foldCase', () => {
  it.each([
    ['OKORO', 'okoro'],
    ['STRASSE', 'stra\u00dfe'],
    ['\u03a3\u03a9\u039a\u03a1\u0391\u03a4\u0397\u03a3', '\u03c3\u03c9\u03ba\u03c1\u03b1\u03c4\u03b7\u03c2'],
  ])('%s equals %s', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other))
  })

  it('keeps accents', () => {
    expect(foldCase('\u00c9lodie')).not.toBe(foldCase('Elodie'))
  })
})

describe('foldCaseAndAccents', () => {
  it.each([
    ['\u00c9LODIE', 'elodie'],
    ['\u00d6l\u00e7er', 'olcer'],
    ['\u0130zmir', 'izmir'],
    ['Nguy\u1ec5n', 'nguyen'],
  ])('%s equals %s', (one, other) => {
    expect(foldCaseAndAccents(one)).toBe(foldCaseAndAccents(other))
  })

  it('keeps the vowel signs and voicing marks that are letters to their readers', () => {
    expect(foldCaseAndAccents('\u0915\u093f')).not.toBe(foldCaseAndAccents('\u0915'))
    expect(foldCaseAndAccents('\u304c')).not.toBe(foldCaseAndAccents('\u304b'))
  })
})

it('each form is stable: made comparable twice is made comparable once', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 20 })
  fc.assert(
    fc.property(anyText, (text) => {
      for (const form of [composed, foldCase, foldCaseAndAccents]) expect(form(form(text))).toBe(form(text))
    }),
    { numRuns: 2000 },
  )
})
