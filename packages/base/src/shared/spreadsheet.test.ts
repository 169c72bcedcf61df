import { expect, test } from 'vitest'
import { spreadsheetCell } from './spreadsheet.ts'

test.each([
  ['=HYPERLINK("https://evil.example")', `'=HYPERLINK("https://evil.example")`],
  ['+cmd', "'+cmd"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', "'\r=1"],
  ['-2', '-2'],
  ['+41.5', '+41.5'],
  ['Ministry = Office', 'Ministry = Office'],
  ['', ''],
])('%j is written as %j', (text, written) => {
  expect(spreadsheetCell(text)).toBe(written)
})
