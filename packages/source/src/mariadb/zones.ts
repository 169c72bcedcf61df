/**
 * Converts times between UTC and the zone of a source. MariaDB's own tables of time zones are often empty, so they are not used.
 */
import { dropOffsetOfExtremeDate } from '../engine/column-type.ts'

const TIME_PATTERN = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(\.\d+)?$/

/** Makes a function that adds to the text of a time the offset that this zone has then, such as +02; other texts stay. */
export const addZoneOffset =
  (zone: string) =>
  (text: string): string => {
    const local = findEpochMilliseconds(text)
    if (local === null) return text
    // The first offset takes the local time as UTC, so it may be wrong near a change of the offset. The second one corrects it.
    const roughOffsetMinutes = zoneOffsetMinutes(zone, local)
    const offset = zoneOffsetMinutes(zone, local - roughOffsetMinutes * 60_000)
    return dropOffsetOfExtremeDate(formatZonedTime(local, readFractionOfSecond(text), offset))
  }

/** Makes a function that returns the text of a UTC time as the same instant in this zone, with its offset; other texts stay. */
export const convertUtcToZone =
  (zone: string) =>
  (text: string): string => {
    const time = findEpochMilliseconds(text)
    if (time === null) return text
    const offset = zoneOffsetMinutes(zone, time)
    return formatZonedTime(time + offset * 60_000, readFractionOfSecond(text), offset)
  }

/** The milliseconds since 1970 of a time, taken as UTC; null: the text is no time. */
function findEpochMilliseconds(text: string): number | null {
  if (!TIME_PATTERN.test(text)) return null
  const time = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`)
  // MariaDB may have a day such as 30 February (`ALLOW_INVALID_DATES`), which Date.parse would make 1 March.
  return new Date(time).getUTCDate() === Number(text.slice(8, 10)) ? time : null
}

const readFractionOfSecond = (text: string): string => text.slice(19).replace(/\.?0*$/, '')

/** Returns the text of a time with its offset. @param local milliseconds of the local time, as if in UTC @param offset minutes */
const formatZonedTime = (local: number, fraction: string, offset: number): string => {
  const time = new Date(local).toISOString().slice(0, 19).replace('T', ' ')
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) => String(part).padStart(2, '0'))
  return `${time}${fraction}${offset < 0 ? '-' : '+'}${hours}${minutes === '00' ? '' : `:${minutes}`}`
}

/** The formatters that were made so far, one for each zone. */
const formattersByZone = new Map<string, Intl.DateTimeFormat>()

/** The minutes by which the zone is ahead of UTC at an instant. */
function zoneOffsetMinutes(zone: string, time: number): number {
  let formatter = formattersByZone.get(zone)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
    formattersByZone.set(zone, formatter)
  }
  const name = formatter.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
