import { expect, test } from 'vitest'
import { readAddressPrefix } from './address-prefix.ts'

test.each(['10.0.0.0/33', '10.0.0/8', '::/129', 'x', '', '10.0.0.1/', '10.0.0.1/-1', '10.0.0.0/8/9'])('%s is no prefix', (text) =>
  expect(readAddressPrefix(text)).toBeNull(),
)

test('an address is a prefix of all its bits', () => {
  expect(readAddressPrefix('10.0.0.1')).toEqual({ address: '10.0.0.1', bits: 32 })
  expect(readAddressPrefix('fc00::/7')).toEqual({ address: 'fc00::', bits: 7 })
})
