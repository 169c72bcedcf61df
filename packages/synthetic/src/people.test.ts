import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Person, syntheticPerson } from './people.ts'

const people = (seed: number, count: number) => Array.from({ length: count }, (_, index) => syntheticPerson(seed, index))

test('the same seed and index give the same person, another seed another', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 999_999_999 }), (seed, index) => {
      const person = syntheticPerson(seed, index)
      expect(syntheticPerson(String(seed), index)).toEqual(person)
      expect(syntheticPerson(`${seed}.`, index).uin).not.toBe(person.uin)
      expect(person.registration_date <= person.last_updated).toBe(true)
      expect(person.last_updated < '2026').toBe(true)
    }),
  )
})

test.each([-1, 0.5, 1_000_000_000, Number.NaN])('index %s is refused', (index) => {
  const message = `index must be a whole number from 0 to 999999999, not ${index}`
  expect(() => syntheticPerson(1, index)).toThrow(new RangeError(message))
})

test('parents of children are the head and the spouse they live with', () => {
  const byUin = new Map(people(11, 3000).map((person) => [person.uin, person]))
  let children = 0
  for (const person of byUin.values()) {
    if (person.place.role !== 'child') continue
    children += 1
    const [one, other] = person.parents
    expect(byUin.get(one)?.index).toBe(person.household.first)
    const second = person.household.places[1]
    expect(byUin.get(other)?.place.role).toBe(second?.role === 'spouse' ? 'spouse' : undefined)
  }
  expect(children).toBeGreaterThan(1000)
})

test('a head whose parent lives with them names that parent; all others name forebears nobody is', () => {
  const byUin = new Map(people(12, 3000).map((person) => [person.uin, person]))
  const roles = [...byUin.values()]
    .filter((person) => person.place.role !== 'child')
    .map((person) => [person.place.role, byUin.get(person.parents[0])?.place.role] as const)
  expect(roles.some(([role, parent]) => role === 'head' && parent === 'parent')).toBe(true)
  expect(roles.every(([role, parent]) => parent === undefined || (role === 'head' && parent === 'parent'))).toBe(true)
})

test('a household shares its telephone, and some telephones are given by strangers', () => {
  const holders = new Map<string, Set<number>>()
  const givers = new Map<string, number>()
  for (const { phone, household } of people(13, 5000)) {
    if (phone === null) continue
    const digits = phone.replace(/[ -]/g, '')
    expect(digits).toMatch(/^\+999[0-9]{9}$/)
    holders.set(digits, (holders.get(digits) ?? new Set()).add(household.number))
    givers.set(digits, (givers.get(digits) ?? 0) + 1)
  }
  expect([...givers.values()].filter((count) => count > 1).length).toBeGreaterThan(500)
  expect([...holders.values()].filter((households) => households.size > 1).length).toBeGreaterThan(50)
})

test('one in seven lives with a disability, and only people of working age work', () => {
  const all = people(14, 7000)
  const share = (of: (person: Person) => boolean) => all.filter(of).length / all.length
  expect(share((person) => person.is_disabled)).toBeCloseTo(1 / 7, 5)
  expect(share((person) => person.is_employed && (person.age < 15 || person.age > 64))).toBe(0)
  expect(share((person) => person.is_employed)).toBeGreaterThan(0.3)
})
