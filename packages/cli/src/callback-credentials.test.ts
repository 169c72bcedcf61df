import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopbackKey } from '../../server/test/loopback-certificate.ts'
import { partnerCertificate, partnerKey } from '../../server/test/partner-certificate.ts'
import { type CredentialOptions, credentialsFor } from './callback-credentials.ts'
import { CommandError } from './failure.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-credentials-'))
  const files = {
    cert: partnerCertificate,
    key: partnerKey,
    other: loopbackKey,
    secret: 's3cret\n',
    words: 'two words\n',
    nothing: '\n',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text)
})
afterAll(() => rm(folder, { recursive: true }))

const at = (name: string): string => join(folder, name)

const NOWHERE = { allowed: [], default_url: null }
const SP = { allowed: ['https://b.example/cb'], default_url: 'https://sp.example/dci' }

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

describe('what is sealed', () => {
  test.each<[string, () => CredentialOptions, object]>([
    ['a token', bearer, { auth: 'bearer', token: 's3cret' }],
    [
      'who we are at a token endpoint',
      oauth2,
      {
        auth: 'oauth2',
        token_url: 'https://tokens.example/token',
        client_id: 'us',
        client_secret: 's3cret',
        scope: null,
      },
    ],
    ['a scope', () => oauth2({ scope: 'callbacks' }), { auth: 'oauth2', scope: 'callbacks' }],
    ['a client certificate', mtls, { auth: 'mtls', cert: partnerCertificate, key: partnerKey }],
  ])('%s', async (_name, options, expected) => {
    expect(await credentialsFor(SP, options())).toMatchObject({ ...expected, origin: 'https://sp.example' })
  })

  test('is for the origin that is named, else the default address, else the only one that is allowed', async () => {
    const originOf = async (addresses: typeof SP | typeof NOWHERE, origin?: string) =>
      (await credentialsFor(addresses, bearer(origin === undefined ? {} : { origin })))?.origin
    expect(await originOf(SP, 'https://c.example:8443')).toBe('https://c.example:8443')
    expect(await originOf(SP)).toBe('https://sp.example')
    expect(await originOf({ ...NOWHERE, allowed: SP.allowed } as never)).toBe('https://b.example')
  })

  test('nothing where there shall be none, and what there was where nothing is said', async () => {
    expect(await credentialsFor(SP, { auth: 'none' })).toBeNull()
    expect(await credentialsFor(SP, {})).toBeUndefined()
  })
})

const ORIGIN = '--origin must say whom the credentials are for, such as https://spmis.example.org'

test.each<[string, () => CredentialOptions, string]>([
  [
    'a key of another certificate',
    () => mtls({ key: at('other') }),
    'the certificate and the key do not belong together',
  ],
  ['no key', () => ({ auth: 'mtls', cert: at('cert') }), '--auth mtls needs --key'],
  ['no certificate', () => ({ auth: 'mtls', key: at('key') }), '--auth mtls needs --cert'],
  [
    'no address of tokens',
    () => ({ auth: 'oauth2', clientId: 'us', clientSecretFile: at('secret') }),
    '--auth oauth2 needs --token-url',
  ],
  [
    'no client',
    () => ({ auth: 'oauth2', tokenUrl: 'https://tokens.example' }),
    '--auth oauth2 needs --client-id',
  ],
  [
    'no secret',
    () => ({ auth: 'oauth2', tokenUrl: 'https://tokens.example', clientId: 'us' }),
    '--auth oauth2 needs --client-secret-file',
  ],
  [
    'a strange address of tokens',
    () => oauth2({ tokenUrl: 'ftp://tokens.example' }),
    '--token-url must be an http or https address',
  ],
  [
    'a secret of two words',
    () => oauth2({ clientSecretFile: at('words') }),
    'what --client-secret-file names must hold one word of printable characters',
  ],
  [
    'an empty token',
    () => bearer({ tokenFile: at('nothing') }),
    'what --token-file names must hold one word of printable characters',
  ],
  ['a strange origin', () => mtls({ origin: 'sp.example' }), ORIGIN],
])('%s is refused', async (_name, options, told) => {
  const refusal = await credentialsFor(SP, options()).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(CommandError)
  expect((refusal as Error).message).toBe(told)
})

test('credentials for nobody are refused', async () => {
  await expect(credentialsFor(NOWHERE, bearer())).rejects.toThrow(ORIGIN)
})
