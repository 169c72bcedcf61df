import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDateFormat } from './date-format.ts'

function read(format: string, text: string): string | null {
  const reader = parseDateFormat(format)
  if (typeof reader === 'string') throw new Error(reader)
  return reader(text)
}

test.each([
  ['dd/MM/yyyy', '31/12/1990', '1990-12-31'],
  ['dd/MM/yyyy', ' 31/12/1990 ', '1990-12-31'],
  ['dd/MM/yyyy', '1/2/1990', null],
  ['d/M/yyyy', '1/2/1990', '1990-02-01'],
  ['d/M/yyyy', '11/12/1990', '1990-12-11'],
  ['MM-dd-yyyy', '12-31-1990', '1990-12-31'],
  ['yyyyMMdd', '19901231', '1990-12-31'],
  ['dd.MM.yyyy', '31x12x1990', null],
  ['d MMM yyyy', '3 mar 1990', '1990-03-03'],
  ['MMMM d, yyyy', 'December 1, 1990', '1990-12-01'],
  ['d MMM yyyy', '3 Foo 1990', null],
  ['dd/MM/yyyy HH:mm', '31/12/1990 23:59', '1990-12-31T23:59'],
  ["yyyy-MM-dd'T'HH:mm:ss", '1990-12-31T23:59:01', '1990-12-31T23:59:01'],
  ['dd/MM/yyyy HH:mm', '31/12/1990 25:00', null],
  ['dd/MM/yyyy', '30/02/1990', null],
  ['dd/MM/yyyy', '00/01/1990', null],
  ['dd/MM/yyyy', '31/12/90', null],
  ['dd/MM/yyyy', '', null],
])('%s of %s is %s', (format, text, iso) => {
  expect(read(format, text)).toBe(iso)
})

test('every day that is written in the format is read', () => {
  const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(day, (date) => {
      const iso = date.toISOString().slice(0, 10)
      const [year, month, dayOfMonth] = iso.split('-')
      expect(read('dd/MM/yyyy', `${dayOfMonth}/${month}/${year}`)).toBe(iso)
      expect(read('M-d-yyyy', `${Number(month)}-${Number(dayOfMonth)}-${year}`)).toBe(iso)
    }),
  )
})

test.each([
  ['dd/MM/yy', 'yy is ambiguous: a date needs a year of four digits, written yyyy'],
  ['dd/mm/yyyy', 'has no month: mm means minutes; write MM for the month'],
  ['DD/MM/YYYY', 'DD is not a token: write dd for the day'],
  ['dd/MM/YYYY', 'YYYY is not a token: write yyyy for the year'],
  ['dd/MM/yyyy hh:mm', 'hh is not a token: write HH for the hour, 00 to 23'],
  ['dd/MM', 'has no year: write yyyy; a partial date such as 1985 needs no format'],
  ['MM/yyyy', 'has no day: write dd; a partial date such as 1985 needs no format'],
  ['yyyy', 'has no day: write dd; a partial date such as 1985 needs no format'],
  ['dd/yyyy', 'has no month: write MM; a partial date such as 1985 needs no format'],
  ['dd/MM/yyyy/dd', 'has the day twice'],
  ['dd/MM/yyyy HH', 'must have both HH and mm, or neither'],
  ['dd/MM/yyyy ss', 'must have HH and mm before ss'],
  ['dMyyyy', 'is ambiguous: d has one or two digits, so a separator must follow; or write dd'],
  ['%d/%m/%Y', 'is written with letters, such as dd/MM/yyyy, and not with %'],
  ["dd/MM/yyyy 'T", 'has a quotation mark that is never closed'],
  ['dd/MM/yyyy q', 'q is not a token: use yyyy, MMMM, MMM, MM, M, dd, d, HH, mm, ss, and write other letters in single quotes'],
])('format %s is refused', (format, rule) => {
  expect(parseDateFormat(format)).toBe(rule)
})
