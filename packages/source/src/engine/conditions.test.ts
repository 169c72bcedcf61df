import { type Attribute, kindNamed, readAttribute } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { mayBePlainAscii, NOT_PLAIN_ASCII_PATTERN, widenNumberBounds } from './conditions.ts'

test('a bound beyond the largest number is none', () => {
  const largest = { is: 'numbers', from: -Number.MAX_VALUE, to: Number.MAX_VALUE } as const
  expect(widenNumberBounds(largest, 1e-15)).toEqual({ least: null, most: null })
  expect(widenNumberBounds({ is: 'numbers', from: 1, to: null }, 0.5)).toEqual({ least: 0.5, most: null })
})

test('a database can fold each text that is not unplain, and no other text has its folded form', () => {
  const surname = kindNamed('civil')?.record_types[0].attributes.find(({ name }) => name === 'surname') as Attribute
  const folded = (text: string) => readAttribute({ ...surname, paths: [''] }, text)
  const isPlain = (text: string): boolean => !new RegExp(NOT_PLAIN_ASCII_PATTERN).test(text)
  const letters = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code))
  const texts = letters.flatMap((one) => [one, `a${one}`, `${one}A`, `a${one}B`, `A${one}${one}b`])
  for (const text of texts.filter((one) => one !== '' && isPlain(one))) {
    expect(folded(text), JSON.stringify(text)).toBe(text.toLowerCase())
    expect(mayBePlainAscii(text.toLowerCase())).toBe(true)
  }
  expect(texts.filter(isPlain).length).toBeGreaterThan(300)
  for (const text of ['a b', "o'brien-x", 'a_b[c]\\d']) expect(isPlain(text)).toBe(true)
  for (const text of ['', 'é', 'a  b', ' a', 'a ', 'a`b', 'a\n', 'a\nb', 'a\u00a0b', '\u007f']) {
    expect(text === '' || !isPlain(text), JSON.stringify(text)).toBe(true)
  }
  for (const text of ['é', 'þ', 'ab`']) expect(mayBePlainAscii(text)).toBe(false)
})
