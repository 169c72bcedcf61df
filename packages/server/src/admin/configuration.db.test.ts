import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../test/key-pairs.ts'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { withConfigurationClaim } from '../store/directory/configuration-claim.ts'
import { removeAttribute } from './attributes.ts'
import { applyConfiguration, Configuration, exportConfiguration } from './configuration.ts'
import { explainGrant, listGrants, revokeGrant, setGrant } from './grants.ts'
import { listParticipantKeys } from './participant-keys.ts'
import { listParticipants, setParticipantStatus } from './participants.ts'
import { AdminRefusal } from './use-case.ts'

let database: TestDatabase
let needs: Parameters<typeof applyConfiguration>[0]
const key = keyPair('Ed25519')
const GRANT = { operations: ['search'], see: ['identifier', 'clan'], basis: 'law' } as const

/** One file, which makes a working registry of an empty database. */
const FILE = {
  version: 1,
  registries: {
    civil: {
      kind: 'civil',
      sender_id: 'crvs.example.org',
      aliases: ['crvs'],
      time_zone: 'Africa/Kigali',
      attributes: {
        Person: { clan: { type: 'text', paths: ['clan'], fold: true }, marital_status: { indexed: true } },
      },
    },
    social: { kind: 'social' },
  },
  participants: {
    'a.example': {
      name: 'A',
      max_page_size: 50,
      rate_limit: 5,
      max_subscriptions: 'unlimited',
      hosts: [{ host: 'a.internal', private: true, ports: [8443] }],
      policy: { encryption_policy: 'required', jwks_uri: 'https://8.8.8.8/jwks.json' },
      callback: { allowed: ['https://a.example/z', 'https://a.example/b'], concurrency: 2 },
      keys: [{ kid: 'sig-1', public_key: key.pem }],
      grants: { civil: GRANT, social: { ...GRANT, see: 'all' } },
    },
    'b.example': { name: 'B', status: 'disabled' },
  },
}

beforeAll(async () => {
  database = await testDatabase()
  needs = { db: database.db, vault: () => Promise.reject(new Error('no vault is needed')) }
})
afterAll(() => database.close())

const apply = (configuration: unknown, dry_run = false) =>
  applyConfiguration(needs, { configuration, dry_run })
const refusal = async (configuration: unknown) => {
  const before = await exportConfiguration(needs, {})
  const error = await apply(configuration).then(
    () => null,
    (failed: unknown) => failed,
  )
  expect(error).toBeInstanceOf(AdminRefusal)
  expect(await exportConfiguration(needs, {})).toEqual(before)
  const { message, at } = error as AdminRefusal
  return { message, at }
}
const changes = async (configuration: unknown) => {
  const { changes: made } = await apply(configuration)
  return made.map(({ at, change }) => `${change} ${at}`)
}
/** The file with another entry for the participant `a.example`. */
const withA = (entry: object) => ({ version: 1, participants: { 'a.example': entry } })

test('what would change is said, and nothing is changed', async () => {
  const before = await exportConfiguration(needs, {})
  expect(before).toEqual({ version: 1, registries: {}, participants: {} })
  const { changes: wanted, applied, credentials } = await apply(FILE, true)
  expect({ applied, credentials }).toEqual({ applied: false, credentials: [] })
  expect(wanted.length).toBeGreaterThan(10)
  expect(await exportConfiguration(needs, {})).toEqual(before)
})

test('one file makes a working registry of an empty database, and changes nothing when it is applied again', async () => {
  const first = await apply(FILE)
  expect(validator(applyConfiguration.result).problem(first, '')).toBeNull()
  expect(first.applied).toBe(true)
  expect(first.credentials).toEqual([
    {
      sender_id: 'a.example',
      client_id: expect.any(String),
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
    },
    { sender_id: 'b.example', client_id: expect.any(String), client_secret: expect.any(String) },
  ])
  expect(first.changes[0]).toEqual({
    at: 'registries.civil',
    change: 'add',
    from: null,
    to: { kind: 'civil', sender_id: 'crvs.example.org', aliases: ['crvs'], time_zone: 'Africa/Kigali' },
  })
  expect(JSON.stringify(first.changes)).not.toContain(first.credentials[0]?.client_secret)
  expect(await apply(FILE)).toEqual({ changes: [], applied: true, credentials: [], unlisted: [] })
  const explained = await explainGrant(needs, { sender_id: 'a.example', namespace: 'civil' })
  expect(explained.sees).toEqual({ Person: ['clan'] })
  expect(await listParticipants(needs, {})).toMatchObject([
    { sender_id: 'a.example', status: 'active', max_page_size: 50, rate_limit: 5 },
    { sender_id: 'b.example', status: 'disabled' },
  ])
})

test('an export is a file that changes nothing here, and makes the same elsewhere', async () => {
  const exported = await exportConfiguration(needs, {})
  expect(validator(Configuration).problem(exported, '')).toBeNull()
  expect(exported.participants?.['a.example']).toMatchObject({
    ...{ rate_limit: 5, max_subscriptions: 'unlimited', concurrency_limit: null },
    callback: { allowed: ['https://a.example/b', 'https://a.example/z'], concurrency: 2 },
    grants: FILE.participants['a.example'].grants,
  })
  expect(exported.registries?.civil).toEqual(FILE.registries.civil)
  expect(JSON.stringify(exported)).not.toMatch(/secret|sealed/)
  expect((await apply(exported)).changes).toEqual([])

  const other = await testDatabase()
  try {
    const elsewhere = { ...needs, db: other.db }
    await applyConfiguration(elsewhere, { configuration: exported })
    expect(await exportConfiguration(elsewhere, {})).toEqual(exported)
  } finally {
    await other.close()
  }
})

test('what a file does not name stays, and is said', async () => {
  const { changes: made, unlisted } = await apply({ version: 1, participants: { 'b.example': {} } })
  expect(made).toEqual([])
  expect(unlisted).toEqual(['registry civil', 'registry social', 'participant a.example'])
})

test('members are changed one by one, and lists as a whole', async () => {
  const narrower = { ...GRANT, see: ['identifier'] }
  expect(
    await changes(
      withA({
        ...{ name: 'A2', rate_limit: 'unlimited', hosts: [], callback: { allowed: ['https://a.example/b'] } },
        policy: { jwks_uri: null },
        grants: { civil: narrower },
      }),
    ),
  ).toEqual([
    'change participants["a.example"].name',
    'change participants["a.example"].rate_limit',
    'remove participants["a.example"].hosts',
    'change participants["a.example"].policy',
    'change participants["a.example"].callback',
    'change participants["a.example"].grants.civil',
    'remove participants["a.example"].grants.social',
  ])
  expect(await listGrants(needs, {})).toMatchObject([{ namespace: 'civil', terms: narrower }])
  expect((await apply(FILE)).changes.map(({ at }) => at)).toHaveLength(7)
})

test('grants of several times stand in a list, and only what differs is changed', async () => {
  const now = { ...GRANT, valid_until: '2099-01-01T00:00:00Z' }
  const later = { ...GRANT, valid_from: '2099-01-01T00:00:00Z' }
  await apply(withA({ grants: { civil: [now] } }))
  const [kept] = await listGrants(needs, {})
  expect(await changes(withA({ grants: { civil: [now, later] } }))).toEqual([
    'change participants["a.example"].grants.civil',
  ])
  expect(await changes(withA({ grants: { civil: [later, now] } }))).toEqual([])
  expect((await listGrants(needs, {})).map(({ version }) => version)[0]).toBe(kept?.version)
  expect(await refusal(withA({ grants: { civil: [GRANT, later] } }))).toEqual({
    message:
      'participants["a.example"].grants.civil[1]: counts at the same time as the one before; only one grant counts at a time',
    at: ['participants', 'a.example', 'grants', 'civil', 1],
  })
  await apply(FILE)
})

test('keys: one more is added, times are changed, and one that is left out is revoked', async () => {
  const next = keyPair('Ed25519')
  const both = [
    { kid: 'sig-1', public_key: key.pem },
    { kid: 'sig-2', public_key: next.pem, valid_until: '2099-01-01T00:00:00Z' },
  ]
  expect(await changes(withA({ keys: both }))).toEqual(['add participants["a.example"].keys[1]'])
  expect(await changes(withA({ keys: both }))).toEqual([])
  expect(await changes(withA({ keys: both.map((row) => ({ ...row, valid_until: null })) }))).toEqual([
    'change participants["a.example"].keys[1]',
  ])
  const second = [{ kid: 'sig-2', public_key: next.pem }]
  expect(await changes(withA({ keys: second }))).toEqual(['remove participants["a.example"].keys'])
  const states = (await listParticipantKeys(needs, { sender_id: 'a.example' })).map(({ kid, state }) => [
    kid,
    state,
  ])
  expect(Object.fromEntries(states)).toEqual({ 'sig-1': 'revoked', 'sig-2': 'live' })
  const { message } = await refusal({ version: 1, participants: { 'b.example': { keys: second } } })
  expect(message).toBe('participants["b.example"].keys[0]: this key belongs to another participant')
})

test('attributes: one is declared in another way, and removed', async () => {
  const civil = (Person: object) => ({
    version: 1,
    registries: { civil: { kind: 'civil', attributes: { Person } } },
  })
  const clan = { type: 'text', paths: ['clan', 'tribe'] }
  const at = 'registries.civil.attributes.Person'
  expect(await changes(civil({ clan, marital_status: { indexed: true } }))).toEqual([
    `remove ${at}.clan`,
    `add ${at}.clan`,
  ])
  expect(await changes(civil({ clan }))).toEqual([`remove ${at}.marital_status`])
  expect(
    (await apply({ version: 1, registries: { civil: { kind: 'civil', time_zone: 'UTC' } } })).changes,
  ).toEqual([{ at: 'registries.civil.time_zone', change: 'change', from: 'Africa/Kigali', to: 'UTC' }])
})

test('an attribute that a grant names is not taken away', async () => {
  const without = { version: 1, registries: { civil: { kind: 'civil', attributes: {} } } }
  const grants = { civil: GRANT }
  const { registries } = FILE
  const file = { registries, ...withA({ grants: { civil: GRANT } }) }
  await apply(file)
  expect(await refusal(without)).toEqual({
    message:
      'registries.civil.attributes: the grant of a.example would mean nothing (see: clan is no attribute, relation or member of Person); change it in the same file',
    at: ['registries', 'civil', 'attributes'],
  })
  expect(await refusal({ ...without, ...withA({ grants }) })).toEqual({
    message: 'participants["a.example"].grants.civil.see: clan is no attribute, relation or member of Person',
    at: ['participants', 'a.example', 'grants', 'civil', 'see'],
  })
  const place = { namespace: 'civil', record_type: 'Person', name: 'clan' }
  await expect(removeAttribute(needs, place)).rejects.toThrow(
    new AdminRefusal('name: the grant of a.example in civil names clan; change the grant first', {
      reason: 'conflict',
    }),
  )
  const other = withA({ grants: { civil: { ...GRANT, see: ['identifier'] } } })
  await apply({ ...without, ...other })
  await apply(file)
  await apply(other)
  expect(await removeAttribute(needs, place)).toMatchObject({ removed: true })
  await apply(file)
})

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
    [{ version: 1, participant: {} }, 'participant: is not a known member', ['participant']],
    [
      withA({ grant: {} }),
      'participants["a.example"].grant: is not a known member',
      ['participants', 'a.example', 'grant'],
    ],
    [
      withA({ grants: { civil: { ...GRANT, sees: [] } } }),
      'participants["a.example"].grants.civil.sees: is not a known member',
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
      {
        version: 1,
        registries: { civil: { kind: 'civil', attributes: { Person: { sex: { fold: true } } } } },
      },
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
        keys: [
          { public_key: key.pem, valid_from: '2020-01-01T00:00:00Z', valid_until: '2021-01-01T00:00:00Z' },
        ],
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
    await setParticipantStatus(needs, { sender_id: 'b.example', status: 'active' })
    await setGrant(needs, { sender_id: 'b.example', namespace: 'civil', terms: { ...GRANT, see: 'all' } })
    expect(await changes(withA({ status: 'disabled' }))).toEqual(['change participants["a.example"].status'])
    await apply(withA({ status: 'active' }))
    await revokeGrant(needs, { sender_id: 'b.example', namespace: 'civil' })
  })
})

test('a change that fails says how many were made before it; a second try makes the rest, secrets included', async () => {
  const file = (sender_id: string) => ({
    version: 1,
    participants: {
      'd.example': { name: 'D' },
      'e.example': { name: 'E', policy: { jwks_uri: 'https://8.8.8.8/d.json' } },
    },
    registries: { ibr: { kind: 'ibr', sender_id } },
  })
  await expect(apply(file('crvs'))).rejects.toThrow(
    new AdminRefusal('registries.ibr: "crvs" is a name of the registry at civil already; choose another'),
  )
  const twice = { ...file('ibr'), participants: { 'd.example': { name: 'D' }, 'a|b': { name: 'E' } } }
  await expect(apply(twice)).rejects.toThrow(
    new AdminRefusal(
      'participants["a|b"]: sender_id contains | or "; what stands before it was changed (2 of 3)',
    ),
  )
  const { changes: made, credentials } = await apply(file('ibr'))
  expect(made.map(({ at }) => at)).toEqual(['participants["e.example"]', 'participants["e.example"].policy'])
  expect(credentials.map(({ sender_id }) => sender_id)).toEqual(['d.example', 'e.example'])
})

test('two at once: the second is refused, and a question what would change is not', async () => {
  await withConfigurationClaim(needs.db, async () => {
    await expect(apply(FILE)).rejects.toThrow(
      'another configuration is being applied to this database; try again when it has ended',
    )
    expect((await apply(FILE, true)).applied).toBe(false)
  })
})
