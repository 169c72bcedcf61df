import { expect, test } from 'vitest'
import { civilAddress, drawDwelling, socialAddress } from './places.ts'
import { populationOf, RandomStream, STREAM_PURPOSES } from './stream.ts'

const homes = Array.from({ length: 500 }, (_, index) =>
  drawDwelling(new RandomStream(populationOf(1), STREAM_PURPOSES.household, index)),
)

test('regions and sub-regions are coded, twelve and nine in each', () => {
  expect(new Set(homes.map((home) => home.region_code)).size).toBe(12)
  expect(new Set(homes.map((home) => home.region)).size).toBe(12)
  for (const home of homes) {
    expect(home.region_code).toMatch(/^XA-[01][0-9]$/)
    expect(home.sub_region_code).toMatch(new RegExp(`^${home.region_code}-0[1-9]$`))
    expect(home.postal_code).toMatch(/^0[0-9]{4}$/)
  }
})

test('the geometry of a plus code surrounds its location', () => {
  for (const home of homes) {
    expect(civilAddress(home, true)).toMatchObject({
      geo_location: {
        plus_code: {
          global_code: expect.stringMatching(/^3J[2-9CFGHJMPQRVWX]{6}\+[2-9CFGHJMPQRVWX]{2}$/),
          geometry: { location: { latitude: home.latitude, longitude: home.longitude } },
        },
      },
    })
  }
  const [home] = homes
  if (home === undefined) throw new Error('no dwelling')
  expect(civilAddress(home, false)).not.toHaveProperty('geo_location')
  expect(socialAddress(home)).toMatchObject({ city: home.locality, country: 'XA', region_code: home.region_code })
})
