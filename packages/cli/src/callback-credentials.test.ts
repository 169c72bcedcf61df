import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partnerCertificate, partnerKey } from '../../participants/test/partner-certificate.ts'
import { type CredentialOptions, readCredentialOptions } from './callback-credentials.ts'
import { CommandError } from './failure.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-credentials-'))
  const files = { cert: partnerCertificate, key: partnerKey, secret: 's3cret\n', words: 'two words\n', nothing: '\n' }
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text)
})
afterAll(() => rm(folder, { recursive: true }))

const at = (name: string): string => join(folder, name)

const mtls = (changes: Partial<CredentialOptions> = {}): CredentialOptions => ({
  auth: 'mtls',
  cert: at('cert'),
  key: at('key'),
  ...changes,
})
const oauth2 = (changes: Partial<CredentialOptions> = {}): CredentialOptions => ({
  auth: 'oauth2',
  tokenUrl: 'https://tokens.example/token',
  clientId: 'us',
  clientSecretFile: at('secret'),
  ...changes,
})
const bearer = (changes: Partial<CredentialOptions> = {}): CredentialOptions => ({
  auth: 'bearer',
  tokenFile: at('secret'),
  ...changes,
})

describe('what is given to the admin function', () => {
  test.each<[string, () => CredentialOptions, object]>([
    ['a token', bearer, { auth: 'bearer', token: 's3cret' }],
    [
      'who we are at a token endpoint',
      oauth2,
      { auth: 'oauth2', token_url: 'https://tokens.example/token', client_id: 'us', client_secret: 's3cret' },
    ],
    ['a scope', () => oauth2({ scope: 'callbacks' }), { auth: 'oauth2', scope: 'callbacks' }],
    ['an origin', () => bearer({ origin: 'https://b.example' }), { origin: 'https://b.example' }],
    ['a client certificate', mtls, { auth: 'mtls', cert: partnerCertificate, key: partnerKey }],
    ['that there shall be none', () => ({ auth: 'none' }), { auth: 'none' }],
  ])('%s', async (_name, options, expected) => {
    expect(await readCredentialOptions(options())).toMatchObject(expected)
  })

  test('nothing where nothing is said', async () => {
    expect(await readCredentialOptions({})).toEqual({})
  })
})

test.each<[string, () => CredentialOptions, string]>([
  ['no key', () => ({ auth: 'mtls', cert: at('cert') }), '--auth mtls needs --key'],
  ['no certificate', () => ({ auth: 'mtls', key: at('key') }), '--auth mtls needs --cert'],
  [
    'no address of tokens',
    () => ({ auth: 'oauth2', clientId: 'us', clientSecretFile: at('secret') }),
    '--auth oauth2 needs --token-url',
  ],
  ['no client', () => ({ auth: 'oauth2', tokenUrl: 'https://tokens.example' }), '--auth oauth2 needs --client-id'],
  [
    'no secret',
    () => ({ auth: 'oauth2', tokenUrl: 'https://tokens.example', clientId: 'us' }),
    '--auth oauth2 needs --client-secret-file',
  ],
  [
    'a secret of two words',
    () => oauth2({ clientSecretFile: at('words') }),
    '--client-secret-file must name a file that holds one word of printable characters',
  ],
  [
    'an empty token',
    () => bearer({ tokenFile: at('nothing') }),
    '--token-file must name a file that holds one word of printable characters',
  ],
])('%s is refused', async (_name, options, told) => {
  const refusal = await readCredentialOptions(options()).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(CommandError)
  expect((refusal as Error).message).toBe(told)
})
