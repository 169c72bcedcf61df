/** Makes telephones. Their country code 999 belongs to nobody. */
import { ERROR_RATES } from './dirt.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from './stream.ts'

/** The telephone of a household, `+999` and nine digits. Two households may have the same. */
export function householdPhone(population: Population, household: number): string {
  const stream = new RandomStream(population, STREAM_PURPOSES.phone, household)
  return `+999${String(200_000_000 + stream.below(700_000_000))}`
}

/** The telephone of a person: that of the household, sometimes that of another one (with half the household number), or none. */
export function personPhone(
  stream: RandomStream,
  population: Population,
  household: number,
  phone: string | null,
): string | null {
  if (stream.chance(ERROR_RATES.strangers_phone)) return phoneAsWritten(stream, householdPhone(population, household >> 1))
  if (phone === null || stream.chance(ERROR_RATES.no_phone)) return null
  return phoneAsWritten(stream, phone)
}

/** The telephone as people write it: some with spaces or hyphens. */
function phoneAsWritten(stream: RandomStream, phone: string): string {
  if (!stream.chance(ERROR_RATES.spaced_phone)) return phone
  const gap = stream.chance(0.5) ? ' ' : '-'
  return [phone.slice(0, 4), phone.slice(4, 7), phone.slice(7, 10), phone.slice(10)].join(gap)
}
