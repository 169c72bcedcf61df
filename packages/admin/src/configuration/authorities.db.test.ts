import { expect, test } from 'vitest'
import { configurationDatabase, KEY } from '../../test/configuration.ts'
import { listConsentAuthorities } from '../consents/authorities.ts'
import { exportConfiguration } from './apply.ts'

const { deps, apply, changes, refusal } = await configurationDatabase()
const NAME = 'https://consent.example'
const file = (consent_authorities: object) => ({ version: 1, consent_authorities })

test('authorities of the file are all that there are, and an export says the same', async () => {
  const published = { jwks_uri: 'https://8.8.8.8/jwks.json' }
  const both = file({ [NAME]: { keys: [{ ...KEY.jwk, kid: 'c-1' }] }, 'https://other.example': published })
  expect(await changes(both)).toEqual([
    expect.stringContaining(`add consent_authorities`),
    expect.stringContaining(`add consent_authorities`),
  ])
  expect(await changes(both)).toEqual([])
  const exported = await exportConfiguration(deps, {})
  expect(Object.keys(exported.consent_authorities ?? {}).toSorted()).toEqual([NAME, 'https://other.example'])
  expect(await changes(exported)).toEqual([])
  expect(await changes(file({ [NAME]: {} }))).toEqual([expect.stringContaining('remove consent_authorities')])
  expect((await listConsentAuthorities(deps, {})).map(({ name, keys }) => [name, keys[0]?.kid])).toEqual([[NAME, 'c-1']])
  await apply({ version: 1 })
  expect(await listConsentAuthorities(deps, {})).toHaveLength(1)
})

test.each([
  ['a key that is none', { [NAME]: { keys: ['no key'] } }],
  ['an address without https', { [NAME]: { jwks_uri: 'http://8.8.8.8/jwks.json' } }],
  ['a member that is not known', { [NAME]: { jwks: [] } }],
])('%s is refused, and nothing is changed', async (_, authorities) => {
  expect((await refusal(file(authorities))).at?.slice(0, 2)).toEqual(['consent_authorities', NAME])
})

const HOST = { host: 'keys.example' }
const SPELLING = 'an allowed host must be written as in an address, in lower case, and IPv6 without brackets'

test.each([
  ['in capitals', [{ host: 'Keys.Example' }], SPELLING],
  ['with a wildcard', [{ host: '*.example' }], SPELLING],
  ['given twice', [HOST, HOST], 'an allowed host must have one row'],
  [
    'in a private network',
    [{ host: '10.1.2.3' }],
    '10.1.2.3 is in the network "private", which this does not open: add --private',
  ],
])('a host %s is refused, with a jwks_uri and without', async (_, hosts, rule) => {
  for (const keys of [{ jwks_uri: 'https://keys.example/jwks.json' }, { keys: [{ ...KEY.jwk, kid: 'c-1' }] }]) {
    const { message, at } = await refusal(file({ [NAME]: { ...keys, hosts } }))
    expect(at).toEqual(['consent_authorities', NAME])
    expect(message).toMatch(`: hosts: ${rule}`)
  }
})
