/** The calendar, day by day. */
import type { DayInterval } from '@rollcall/protocol'

const known = new Map<string, readonly string[]>()

/** Every day of the period, YYYY-MM-DD. */
export function daysOf({ from, to }: DayInterval): readonly string[] {
  const key = `${from} ${to}`
  let days = known.get(key)
  if (days === undefined) {
    const made: string[] = [from]
    for (let day = from; day !== to; made.push(day)) day = next(day)
    days = made
    known.set(key, days)
  }
  return days
}

function next(day: string): string {
  const date = new Date(`${day}T12:00:00.000Z`)
  date.setUTCDate(date.getUTCDate() + 1)
  return date.toISOString().slice(0, 10)
}

const agesKnown = new Map<string, number>()

/** The age on `today`: the birthdays until then, counted one year after the other; -1 before the birth. */
export function ageOf(birth: string, today: string): number {
  const key = `${birth} ${today}`
  const found = agesKnown.get(key)
  if (found !== undefined) return found
  let age = -1
  if (birth <= today) {
    age = 0
    for (let year = yearOf(birth) + 1; year < yearOf(today); year += 1) age += 1
    if (yearOf(birth) < yearOf(today) && birthdayIn(yearOf(today), birth.slice(5)) <= today) age += 1
  }
  agesKnown.set(key, age)
  return age
}

function yearOf(day: string): number {
  return Number(day.split('-')[0])
}

/** The day of a birthday in a year. In a year without 29 February the calendar turns this day into 1 March. */
function birthdayIn(year: number, monthAndDay: string): string {
  const [month, day] = monthAndDay.split('-').map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, (month ?? 0) - 1, day)
  return date.toISOString().slice(0, 10)
}
