import { expect, it } from 'vitest'
import { findSignInCode } from './code.ts'

const SECRET = 'a'.repeat(43)

it.each([
  [`#12_${SECRET}`, `12_${SECRET}`],
  [`#/12_${SECRET}`, null],
  [`#0_${SECRET}`, null],
  [`#12_${SECRET}b`, null],
  ['#/deliveries', null],
  ['', null],
])('reads the code of %j', (hash, code) => {
  expect(findSignInCode(hash)).toBe(code)
})
