/** Reads values of a record in the plainest way, as a second opinion in tests of queries. */

/** Every value at a dotted path, through all arrays on the way. */
export function at(document: unknown, path: string): unknown[] {
  let found: unknown[] = [document]
  for (const key of path.split('.')) {
    found = found.flat(9).flatMap((value) => {
      const member = (value as Record<string, unknown> | null)?.[key]
      return member === undefined || member === null || member === '' ? [] : [member]
    })
  }
  return found.flat(9)
}

/** The values at the first of the paths that has one. */
export function firstOf(document: unknown, ...paths: string[]): unknown[] {
  for (const path of paths) {
    const values = at(document, path)
    if (values.length > 0) return values
  }
  return []
}

/** Days as numbers, 20240229: the first and the last of a date as the population writes it. */
export function days(text: unknown): [first: number, last: number] | null {
  if (typeof text !== 'string' || text === '') return null
  const local = /^(\d\d)\.(\d\d)\.(\d{4})$/.exec(text)
  const written = local ? `${local[3]}-${local[2]}-${local[1]}` : text.slice(0, 10)
  const [year = 0, month, day] = written.split('-').map(Number)
  return [
    year * 10_000 + (month ?? 1) * 100 + (day ?? 1),
    year * 10_000 + (month ?? 12) * 100 + (day ?? (month === undefined ? 31 : lastDay(year, month))),
  ]
}

const lastDay = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** Whole years since a date, for the last and for the first day that it may mean, on a day such as 20260203. */
export function ages(text: unknown, today: number): [least: number, most: number] | null {
  const born = days(text)
  return born && [Math.floor((today - born[1]) / 10_000), Math.floor((today - born[0]) / 10_000)]
}

/** Today in UTC, as a number. */
export const todayNumber = (): number => Number(new Date().toISOString().slice(0, 10).replaceAll('-', ''))
