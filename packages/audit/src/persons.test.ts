import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { pseudonymOf } from './persons.ts'

test('a pseudonym is the HMAC-SHA-256 of type and value', () => {
  const pseudonym = pseudonymOf(createSecretKey(Buffer.from('Jefe')), { type: 'UIN', value: '31' })
  // As `printf 'UIN\0%s' 31 | openssl dgst -sha256 -hmac Jefe` gives it.
  expect(pseudonym.toString('hex')).toBe('b450ffca5778bd3dc9d87522018d30ca6a362998b9f75b44a38f47658bb2516e')
})
