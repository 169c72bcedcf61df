import fc from 'fast-check'
import { expect, test } from 'vitest'
import { forebearUin, identifierNumber, PERSON_INDEX_LIMIT } from './numbers.ts'
import { populationOf } from './stream.ts'

test('a UIN is ten digits, and one in ten has a leading zero', () => {
  const population = populationOf(1)
  const uins = Array.from({ length: 10_000 }, (_, index) => identifierNumber(population, 'UIN', index))
  expect(uins.every((uin) => /^[0-9]{10}$/.test(uin))).toBe(true)
  expect(uins.filter((uin) => uin.startsWith('0')).length / 10_000).toBeCloseTo(0.1, 1)
})

test('the arithmetic is exact for every index, so that it stays a bijection', () => {
  const index = fc.integer({ min: 0, max: 9_999_999_999 })
  fc.assert(
    fc.property(fc.integer(), index, (seed, at) => {
      const population = populationOf(seed)
      const zero = BigInt(identifierNumber(population, 'UIN', 0))
      const expected = (zero + BigInt(at) * 7_364_829_317n) % 10_000_000_000n
      expect(BigInt(identifierNumber(population, 'UIN', at))).toBe(expected)
    }),
  )
  expect(7_364_829_317n % 2n).not.toBe(0n)
  expect(7_364_829_317n % 5n).not.toBe(0n)
})

test('registers have prefixes and offsets of their own', () => {
  const population = populationOf(5)
  expect(identifierNumber(population, 'BRN', 3)).toMatch(/^B-[0-9]{10}$/)
  expect(identifierNumber(population, 'FARM_REG_NO', 3)).toMatch(/^FR-[0-9]{10}$/)
  expect(identifierNumber(population, 'BRN', 3).slice(2)).not.toBe(identifierNumber(population, 'UIN', 3))
})

test('a forebear never has the number of a listed person, nor of another forebear', () => {
  const population = populationOf(9)
  const listed = Array.from({ length: 2000 }, (_, index) => identifierNumber(population, 'UIN', index))
  listed.push(identifierNumber(population, 'UIN', PERSON_INDEX_LIMIT - 1))
  const forebears = listed.flatMap((_, index) => [forebearUin(population, index, 1), forebearUin(population, index, 2)])
  expect(new Set([...listed, ...forebears]).size).toBe(listed.length * 3)
})
