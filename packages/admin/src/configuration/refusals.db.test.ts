/** Configuration files that are refused before anything is changed. */
import { beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { acting } from '../../test/acting.ts'
import { configurationDatabase, FILE, GRANT, KEY, withA } from '../../test/configuration.ts'
import { revokeGrant, setGrant } from '../grants/grant-changes.ts'
import { setParticipantStatus } from '../participants/participants.ts'

const { deps, apply, changes, refusal } = await configurationDatabase()
beforeAll(() => apply(FILE))

describe('refused before anything is changed', () => {
  test.each<[unknown, string, readonly (string | number)[]]>([
    [[], 'the file must be an object', []],
    [{}, 'version: is required', ['version']],
    [{ version: 0 }, 'version: must be 1', ['version']],
    [
      { version: 2, anything: true },
      'version: this file is of format version 2, and this version of rollcall reads version 1',
      ['version'],
    ],
    [{ version: 1, participant: {} }, 'participant: is not a known member; the nearest is participants', ['participant']],
    [{ version: 1, zebra: {} }, 'zebra: is not a known member', ['zebra']],
    [
      { version: 1, registries: { civil: { kind: 'civil', primary_identifier: {} } } },
      'registries.civil.primary_identifier: is not a known member; the nearest is primary_identifiers',
      ['registries', 'civil', 'primary_identifier'],
    ],
    [
      withA({ grant: {} }),
      'participants["a.example"].grant: is not a known member; the nearest is grants',
      ['participants', 'a.example', 'grant'],
    ],
    [
      withA({ grants: { civil: { ...GRANT, sees: [] } } }),
      'participants["a.example"].grants.civil.sees: is not a known member; the nearest is see',
      ['participants', 'a.example', 'grants', 'civil', 'sees'],
    ],
    [
      withA({ grants: { civil: { ...GRANT, see: ['shoe_size'] } } }),
      'participants["a.example"].grants.civil.see: shoe_size is no attribute, relation or member of Person',
      ['participants', 'a.example', 'grants', 'civil', 'see'],
    ],
    [
      withA({ grants: { nowhere: GRANT } }),
      'participants["a.example"].grants.nowhere: there is no registry at this namespace, and the file has none',
      ['participants', 'a.example', 'grants', 'nowhere'],
    ],
    [
      withA({ grants: { cvil: GRANT } }),
      'participants["a.example"].grants.cvil: there is no registry at this namespace, and the file has none; the nearest is civil',
      ['participants', 'a.example', 'grants', 'cvil'],
    ],
    [
      { version: 1, participants: { 'c.example': { rate_limit: 5 } } },
      'participants["c.example"].name: is required for a new participant',
      ['participants', 'c.example', 'name'],
    ],
    [
      withA({ keys: [{ public_key: 'nonsense' }] }),
      'participants["a.example"].keys[0]: the file must hold a public key in PEM, a JWK or a JWK set',
      ['participants', 'a.example', 'keys', 0],
    ],
    [
      withA({ name: ' ' }),
      `participants["a.example"].name: a participant's name has 1 to 255 characters`,
      ['participants', 'a.example', 'name'],
    ],
    [
      withA({ rate_limit: 0 }),
      'participants["a.example"].rate_limit: must be greater than 0',
      ['participants', 'a.example', 'rate_limit'],
    ],
    [
      withA({ callback: { default_url: 'ftp://a' } }),
      'participants["a.example"].callback: the default address must be http or https without credentials, query and fragment',
      ['participants', 'a.example', 'callback'],
    ],
    [
      withA({ hosts: [{ host: 'a' }, { host: 'a', private: true }] }),
      'participants["a.example"].hosts[1]: this host stands in the list already',
      ['participants', 'a.example', 'hosts', 1],
    ],
    [
      withA({ policy: { signature_policy: 'off' } }),
      'participants["a.example"].policy: signature_policy off takes unsigned messages, so it needs allow_unsigned: true',
      ['participants', 'a.example', 'policy'],
    ],
    [
      { version: 1, registries: { civil: { kind: 'social' } } },
      'registries.civil.kind: cannot be changed; add a registry at another namespace',
      ['registries', 'civil', 'kind'],
    ],
    [
      { version: 1, registries: { civil: { kind: 'civil', attributes: { Person: { clan: {} } } } } },
      'registries.civil.attributes.Person.clan: needs type and paths: the kind has no attribute of this name',
      ['registries', 'civil', 'attributes', 'Person', 'clan'],
    ],
    [
      { version: 1, registries: { civil: { kind: 'civil', attributes: { Person: { sex: { fold: true } } } } } },
      'registries.civil.attributes.Person.sex: the kind has this attribute: it may have indexed: true, and nothing else',
      ['registries', 'civil', 'attributes', 'Person', 'sex'],
    ],
    [
      { version: 1, registries: { civil: { kind: 'civil', attributes: { Cat: {} } } } },
      'registries.civil.attributes.Cat: must be one of Person',
      ['registries', 'civil', 'attributes', 'Cat'],
    ],
  ])('case %#', async (file, message, at) => {
    expect(await refusal(file)).toEqual({ message, at })
  })
})

describe('what would lock everybody out', () => {
  const message =
    'this would lock everybody out: of the participants that can ask now, none would be active, have a grant with an operation, and have a key if it must sign; nothing was changed'
  test.each([
    ['no grant', { grants: {} }],
    ['disabled', { status: 'disabled' }],
    ['a grant of no operation', { grants: { civil: { ...GRANT, operations: [] } } }],
    ['no key', { keys: [], policy: { jwks_uri: null } }],
    [
      'a key that has ended',
      {
        keys: [{ public_key: KEY.pem, valid_from: '2020-01-01T00:00:00Z', valid_until: '2021-01-01T00:00:00Z' }],
        policy: { jwks_uri: null },
      },
    ],
    ['a grant that has not begun', { grants: { civil: { ...GRANT, valid_from: '2099-01-01T00:00:00Z' } } }],
  ])('%s', async (_, entry) => {
    expect(await refusal(withA(entry))).toEqual({ message, at: ['participants'] })
  })

  test('is accepted once somebody else has a grant and a key', async () => {
    const keys = [{ public_key: keyPair('Ed25519').pem }]
    await apply({ version: 1, participants: { 'b.example': { keys } } })
    await setParticipantStatus(deps, { sender_id: 'b.example', status: 'active' })
    await setGrant(acting(deps), { sender_id: 'b.example', namespace: 'civil', terms: { ...GRANT, see: 'all' } })
    expect(await changes(withA({ status: 'disabled' }))).toEqual(['change participants["a.example"].status'])
    await apply(withA({ status: 'active' }))
    await revokeGrant(acting(deps), { sender_id: 'b.example', namespace: 'civil' })
  })
})
