/** Makes places in an invented country with twelve regions. Its code is in ISO 3166's range for private use. */
import type { RandomStream } from './stream.ts'

export const COUNTRY_CODE = 'XA'

/** The regions, numbered from 1. A region_code is `XA-` and two digits; a sub_region_code has two more digits. */
const REGIONS = [
  'North Hills',
  'South Hills',
  'Upper Tarn',
  'Lower Tarn',
  'East Saltmarsh',
  'West Saltmarsh',
  'Long Valley',
  'Capital District',
  'Copper Coast',
  'Lake Province',
  'Old Forest',
  'Islands',
] as const

const LOCALITIES = ['Arven', 'Belcombe', 'Dorra', 'Emberly', 'Farrow', 'Gessa', 'Hallin', 'Ister', 'Kestral'] as const
const STREETS = ['Mill Road', 'Harbour Street', 'Well Lane', 'Market Square', 'Orchard Way', 'Station Road'] as const
const PLUS_CODE_LETTERS = '23456789CFGHJMPQRVWX'

/** A home with its address. Latitude and longitude, to five decimals, lie in an ocean. */
export interface Dwelling {
  readonly house: number
  readonly street: string
  readonly locality: string
  readonly region: string
  readonly region_code: string
  readonly sub_region_code: string
  readonly postal_code: string
  readonly latitude: number
  readonly longitude: number
}

/** Draws a home; each region is equally likely. */
export function drawDwelling(stream: RandomStream): Dwelling {
  const region = stream.below(REGIONS.length)
  const sub = stream.between(1, 9)
  const region_code = `${COUNTRY_CODE}-${twoDigits(region + 1)}`
  return {
    house: stream.between(1, 240),
    street: stream.pick(STREETS),
    locality: stream.pick(LOCALITIES),
    region: REGIONS[region] ?? REGIONS[0],
    region_code,
    sub_region_code: `${region_code}-${twoDigits(sub)}`,
    postal_code: `0${region % 10}${sub}${twoDigits(stream.below(100))}`,
    latitude: roundDegrees(-38 - region / 4 - stream.below(20_000) / 100_000),
    longitude: roundDegrees(-21 - sub / 4 - stream.below(20_000) / 100_000),
  }
}

/** The first line of a home's address. */
export function addressLine(home: Dwelling): string {
  return `${home.house} ${home.street}`
}

/** The address as in civil records (spec "Record shapes", Civil person record). */
export function civilAddress(home: Dwelling, withGeometry: boolean): object {
  return {
    '@type': 'Address',
    address_line1: addressLine(home),
    locality: home.locality,
    sub_region_code: home.sub_region_code,
    region_code: home.region_code,
    postal_code: home.postal_code,
    country_code: COUNTRY_CODE,
    ...(withGeometry && { geo_location: { plus_code: plusCode(home) } }),
  }
}

/** The address as in members of the social registry (spec "Record shapes", Group record). */
export function socialAddress(home: Dwelling): object {
  return {
    '@type': 'Address',
    street_address: addressLine(home),
    city: home.locality,
    postal_code: home.postal_code,
    country: COUNTRY_CODE,
    region_code: home.region_code,
    sub_region_code: home.sub_region_code,
  }
}

/** A plus code, and the coordinates of the home. The code is invented, and does not belong to these coordinates. */
function plusCode(home: Dwelling): object {
  const { latitude, longitude } = home
  let digits = home.house * 6151 + Math.round(-latitude * 1000)
  let code = ''
  for (let at = 0; at < 6; at++) {
    code += PLUS_CODE_LETTERS[digits % 20]
    digits = Math.floor(digits / 7)
  }
  return {
    global_code: `3J${code.slice(0, 2)}${code.slice(2, 6)}+${code.slice(0, 2)}`,
    geometry: {
      bounds: {
        northeast: { latitude: roundDegrees(latitude + 0.0001), longitude: roundDegrees(longitude + 0.0001) },
        southwest: { latitude: roundDegrees(latitude - 0.0001), longitude: roundDegrees(longitude - 0.0001) },
      },
      location: { latitude, longitude },
    },
  }
}

function roundDegrees(degrees: number): number {
  return Math.round(degrees * 100_000) / 100_000
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
