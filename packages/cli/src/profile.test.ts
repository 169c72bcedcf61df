import { DEFAULT_SIGNATURE_PROFILE, profileProblem } from '@rollcall/protocol'
import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import { everyProfile, profileText, readProfile } from './profile.ts'

test.each([
  ['default', DEFAULT_SIGNATURE_PROFILE],
  ['parameters', DEFAULT_SIGNATURE_PROFILE],
  [
    'RS256,as-received,jws,ES256',
    { layout: 'jws', canonical_form: 'as-received', digest_prefix: '', algorithms: ['ES256', 'RS256'] },
  ],
  ['sorted-escaped,BLAKE-512=', { ...DEFAULT_SIGNATURE_PROFILE, canonical_form: 'sorted-escaped', digest_prefix: 'BLAKE-512=' }],
])('%s is a profile', (text, profile) => expect(readProfile(text)).toEqual(profile))

test('every profile is a good one, and reads back as it is written', () => {
  const all = everyProfile()
  expect(new Set(all.map(profileText)).size).toBe(all.length)
  expect(all.length).toBeGreaterThan(20)
  for (const profile of all) {
    expect(profileProblem(profile)).toBeNull()
    expect(readProfile(profileText(profile))).toEqual(profile)
  }
})

const WORDS =
  'A profile is one or more of these words, with commas between them: parameters, jws, jws-detached, raw-rsa, rfc8785, sorted-escaped, sorted-unescaped, as-received, SHA-256=, BLAKE-512=, EdDSA, ES256, RS256.'
test.each([
  ['', WORDS],
  ['xml', WORDS],
  ['jws,', WORDS],
  ['jws,parameters', 'It must name only one of parameters, jws, jws-detached, raw-rsa.'],
  ['raw-rsa', 'algorithms must be among those that the layout carries.'],
  ['jws,SHA-256=', 'digest_prefix must be "" in a layout without digest.'],
])('%j is none', (text, message) => expect(() => readProfile(text)).toThrow(new InvalidArgumentError(message)))
