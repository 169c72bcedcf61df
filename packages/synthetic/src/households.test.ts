import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CENSUS_DAY } from './dates.ts'
import { type Household, householdNumbered, householdOfPerson, PERSONS_PER_BLOCK } from './households.ts'
import { populationOf } from './stream.ts'

const anyHousehold = fc.tuple(fc.integer(), fc.nat({ max: 100_000_000 }))

test('a household lists the persons who find it, and no others', () => {
  fc.assert(
    fc.property(anyHousehold, ([seed, number]) => {
      const population = populationOf(seed)
      const household = householdNumbered(population, number)
      const last = household.first + household.places.length - 1
      expect(householdOfPerson(population, household.first)).toEqual(household)
      expect(householdOfPerson(population, last)).toEqual(household)
      expect(householdOfPerson(population, last + 1).number).toBe(number + 1)
    }),
  )
})

test('a household is the same whether its neighbours were asked for or not', () => {
  const population = populationOf(4)
  const alone = householdNumbered(populationOf(4), 31)
  for (let number = 0; number < 40; number++) householdNumbered(population, number)
  expect(householdNumbered(population, 31)).toEqual(alone)
})

test('a block of 55 persons holds households of every size from 1 to 8', () => {
  const population = populationOf(2)
  const sizes: number[] = []
  for (let index = 0; index < PERSONS_PER_BLOCK; ) {
    const { places } = householdOfPerson(population, index)
    sizes.push(places.length)
    index += places.length
  }
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(55)
  expect(new Set(sizes)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]))
  expect(sizes).not.toEqual([...sizes].sort((one, other) => one - other))
})

test('families are possible: ages, marriages, births and deaths fit each other', () => {
  fc.assert(
    fc.property(anyHousehold, ([seed, number]) => checkFamily(householdNumbered(populationOf(seed), number))),
    // The example: a head of twenty, with a child, who died.
    { numRuns: 2000, examples: [[[-2147483631, 9]]] },
  )
})

function checkFamily({ places }: Household): void {
  const [head, second] = places
  const parents = second?.role === 'spouse' ? [head, second] : [head]
  expect(head.role).toBe('head')
  for (const place of places) {
    const { birth_day, death_day, union, role, marital_status } = place
    expect(birth_day).toBeLessThan(CENSUS_DAY)
    if (death_day !== null) expect(death_day).toBeGreaterThanOrEqual(birth_day)
    if (union) {
      const end = Math.min(death_day ?? CENSUS_DAY, union.divorce_day ?? CENSUS_DAY)
      expect(union.marriage_day).toBeGreaterThanOrEqual(birth_day + 6574)
      expect(union.marriage_day).toBeLessThanOrEqual(end)
      expect(union.divorce_day ?? 0).toBeLessThanOrEqual(death_day ?? CENSUS_DAY)
    }
    expect(marital_status === 'D').toBe(union?.divorce_day != null)
    expect(marital_status === 'S').toBe(union === null)
    if (role === 'parent') expect(birth_day + 6574).toBeLessThan(head.birth_day)
    if (role !== 'child') continue
    for (const parent of parents) {
      expect(birth_day).toBeGreaterThanOrEqual(parent.birth_day + 6574)
      expect(birth_day).toBeLessThanOrEqual(parent.death_day ?? CENSUS_DAY)
    }
  }
}
