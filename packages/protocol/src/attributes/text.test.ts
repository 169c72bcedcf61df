import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstUtf16Units, foldCase, foldText, normaliseToNfc } from './text.ts'

describe('composed', () => {
  it('makes one text of a letter with its accent, however it was typed', () => {
    expect(normaliseToNfc('E\u0301lodie')).toBe('\u00c9lodie')
  })

  it('leaves case, accents and space alone', () => {
    expect(normaliseToNfc(' \u00c9Lodie ')).toBe(' \u00c9Lodie ')
  })
})

describe('foldCase', () => {
  it.each([
    ['OKORO', 'okoro'],
    ['STRASSE', 'stra\u00dfe'],
    ['STRASSE', 'STRA\u1e9eE'],
    ['\u03a3\u03a9\u039a\u03a1\u0391\u03a4\u0397\u03a3', '\u03c3\u03c9\u03ba\u03c1\u03b1\u03c4\u03b7\u03c2'],
  ])('%s equals %s', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other))
  })

  it('keeps accents', () => {
    expect(foldCase('\u00c9lodie')).not.toBe(foldCase('Elodie'))
  })
})

describe('foldText', () => {
  it.each([
    ['\u00c9LODIE', 'elodie'],
    ['\u00d6l\u00e7er', 'olcer'],
    ['GRO\u1e9e', 'gro\u00df'],
    ['GRO\u1e9e', 'gross'],
    ['\u0130zmir', 'izmir'],
    ['Nguy\u1ec5n', 'nguyen'],
    ['S\u00d8REN', 'soren'],
    ['\u0141\u00f3d\u017a', 'lodz'],
    ['\u0110uri\u0107', 'duric'],
    ['\u0190\u0253\u0257\u0199\u01b4', '\u025bbdky'],
    ['\u00c6r\u00f8', 'aero'],
    ['\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f', '\u0645\u062d\u0645\u062f'],
    ['\u0645\u062d\u0640\u0640\u0645\u062f', '\u0645\u062d\u0645\u062f'],
    ['\uff21\uff44\uff41', 'ada'],
    ['O\u2019Brien', "o'brien"],
    ['O\u02bcBrien', "o'brien"],
    ['O\u00b4Brien', "o'brien"],
    ['O`Brien', "o'brien"],
    ['Anne\u2011Marie', 'anne-marie'],
    ['van\u00a0der  Berg', 'van der berg'],
    ['zero\u200bwidth\u00ad', 'zerowidth'],
  ])('%s equals %s', (one, other) => {
    expect(foldText(one)).toBe(foldText(other))
  })

  it('keeps hamza and madda', () => {
    expect(foldText('\u0623\u062d\u0645\u062f')).not.toBe(foldText('\u0627\u062d\u0645\u062f'))
  })

  it('keeps a space at an end, which part of a text may have', () => {
    expect(foldText('Van ')).toBe('van ')
  })

  it('keeps the vowel signs and voicing marks that are letters to their readers', () => {
    expect(foldText('\u0915\u093f')).not.toBe(foldText('\u0915'))
    expect(foldText('\u304c')).not.toBe(foldText('\u304b'))
  })
})

it('each form is stable: made comparable twice is made comparable once', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 20 })
  fc.assert(
    fc.property(anyText, (text) => {
      for (const form of [normaliseToNfc, foldCase, foldText]) expect(form(form(text))).toBe(form(text))
    }),
    { numRuns: 2000 },
  )
})

it('each form of each character is stable, and its upper case is the same text', () => {
  const unstable: string[] = []
  // Unicode has no characters in planes 4 to 13, and only private ones behind plane 14: of these a few are enough.
  const step = (code: number): number => ((code >= 0x40000 && code < 0xe0000) || code >= 0xf0000 ? 0x101 : 1)
  for (let code = 0; code <= 0x10ffff; code += step(code)) {
    if (code >= 0xd800 && code < 0xe000) continue
    const text = String.fromCodePoint(code)
    for (const form of [normaliseToNfc, foldCase, foldText]) {
      const made = form(text)
      if (form(made) !== made) unstable.push(`${form.name} of U+${code.toString(16)}`)
    }
    if (foldCase(text.toUpperCase()) !== foldCase(text)) unstable.push(`upper case of U+${code.toString(16)}`)
  }
  expect(unstable).toEqual([])
})

it('a cut leaves no half of a pair', () => {
  expect(firstUtf16Units('ab\u{1f600}', 3)).toBe('ab')
  expect(firstUtf16Units('ab\u{1f600}', 4)).toBe('ab\u{1f600}')
  expect(firstUtf16Units('ab', 2)).toBe('ab')
})
