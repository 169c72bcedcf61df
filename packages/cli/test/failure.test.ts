/** What a failed command says. */
import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import { expect, it } from 'vitest'
import { failureText } from '../src/failure.ts'

it.each([StoreRefusal, StoreUnavailable])('a %o is told in its own words', async (Refusal) => {
  expect(await failureText(new Refusal('the journal cannot be written'))).toBe('the journal cannot be written')
})

it('the message of an unexpected error is not told, because it may have personal data', async () => {
  expect(await failureText(new Error('Ada Lovelace'))).not.toContain('Ada')
})
