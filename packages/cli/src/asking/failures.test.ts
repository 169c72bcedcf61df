import { AckError } from '@rollcall/client'
import { expect, test } from 'vitest'
import { callClient, makeClient } from './failures.ts'

const textOf = (error: unknown): Promise<string> =>
  callClient(Promise.reject(error)).then(
    () => 'nothing',
    (failure: Error) => failure.message,
  )

test.each([
  [
    ['err.request.not_found', 'there is no such namespace or path here', 404],
    '; --url must be the base address with namespace and version, such as https://registry.example.org/civil/v1.0.0',
  ],
  [['err.request.not_found', 'this operation is not served by this registry', 404], ''],
  [
    ['err.signature.missing', 'the message has no signature', 401],
    '; sign it: --sign-key with our private key, and --sign-kid with its kid at the registry',
  ],
  [['err.request.forbidden', 'nothing is granted', 403], ''],
] as const)('%j is said with the option that is usually the cause', async ([code, message, status], advice) => {
  expect(await textOf(new AckError([{ code, message }], status))).toBe(
    `the request was refused: ${code}: ${message} (HTTP ${status})${advice}`,
  )
})

test('a profile that does not fit the key names the option', () => {
  const make = () => {
    throw new TypeError('signing.profile: its algorithms must include that of the key')
  }
  expect(() => makeClient(make)).toThrow(
    '--profile: its algorithms must include that of the key; the algorithm of an Ed25519 key is EdDSA: --profile parameters,rfc8785,EdDSA',
  )
})
