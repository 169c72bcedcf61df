import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RowCutter } from './csv-rows.ts'
import { LineCutter } from './lines.ts'

/** Texts of lines with one cell, some of them blank. */
const TEXT = fc.array(fc.constantFrom('a', 'b c', '', '', ' ', '\t\r', '  x'), { maxLength: 30 }).map((lines) => lines.join('\n'))
const CUTS = fc.array(fc.nat(60), { maxLength: 6 })

/** The text in pieces, cut anywhere. */
function pieces(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

/** The lines of a text, found without any cutter. */
function expected(text: string): { line: number; end: number; text: string }[] {
  const lines = text.split('\n')
  return lines.flatMap((content, index) => {
    const whole = lines.slice(0, index + 1).join('\n').length
    const end = index < lines.length - 1 ? whole + 1 : whole
    return content.trim() === '' ? [] : [{ line: index + 1, end, text: content }]
  })
}

const cutters = {
  lines: () => new LineCutter(1_000, { line: 0, bytes: 0 }),
  rows: () => new RowCutter({ delimiter: ',', longest: 1_000, tooLong: () => new Error('too long') }),
}

describe.each(Object.entries(cutters))('blank %s', (_name, cutter) => {
  it('are counted and left out, wherever the stream is cut', () => {
    fc.assert(
      fc.property(TEXT, CUTS, (text, cuts) => {
        const cut = cutter()
        const found = [...pieces(text, cuts).flatMap((piece) => cut.push(piece)), ...cut.finish()]
          .map(({ line, end, bytes }) => ({ line, end, text: String(bytes) }))
          .filter((row) => row.text.trim() !== '')
        expect(found).toEqual(expected(text))
      }),
    )
  })

  it('make nothing, however many they are', () => {
    const cut = cutter()
    expect(cut.push(Buffer.from(`${'\n'.repeat(5_000)}${' \r\n'.repeat(5_000)}`))).toEqual([])
    const [row] = [...cut.push(Buffer.from('x')), ...cut.finish()]
    expect(row).toMatchObject({ line: 10_001, end: 20_001 })
  })
})
