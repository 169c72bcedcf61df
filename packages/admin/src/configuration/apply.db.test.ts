import { withSettingsLock } from '@rollcall/participants/store/session-claim'
import { validator } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { makeOffice, officeReader, officeSource } from '../../../source/test/office.ts'
import { acting } from '../../test/acting.ts'
import { configurationDatabase, FILE, GRANT, KEY, withA } from '../../test/configuration.ts'
import { AdminRefusal } from '../admin-function.ts'
import { explainGrant, listGrants } from '../grants/grants.ts'
import { listParticipantKeys } from '../participants/keys.ts'
import { listParticipants } from '../participants/participants.ts'
import { removeAttribute } from '../registries/attributes.ts'
import { applyConfiguration, Configuration, exportConfiguration } from './apply.ts'

const { deps, apply, changes, refusal } = await configurationDatabase()

test('what would change is said, and nothing is changed', async () => {
  const before = await exportConfiguration(deps, {})
  expect(before).toEqual({ version: 1, purposes: {}, consent_authorities: {}, registries: {}, participants: {} })
  const { changes: wanted, applied, credentials } = await apply(FILE, true)
  expect({ applied, credentials }).toEqual({ applied: false, credentials: [] })
  expect(wanted.length).toBeGreaterThan(10)
  expect(await exportConfiguration(deps, {})).toEqual(before)
})

test('one file makes a working registry of an empty database, and changes nothing when it is applied again', async () => {
  const first = await apply(FILE)
  expect(validator(applyConfiguration.result).problem(first, '')).toBeNull()
  expect(first.applied).toBe(true)
  expect(first.credentials).toEqual([
    { sender_id: 'a.example', client_id: expect.any(String), client_secret: expect.stringMatching(/^[\w-]{43}$/) },
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
  const explained = await explainGrant(deps, { sender_id: 'a.example', namespace: 'civil' })
  expect(explained.sees).toEqual({ Person: ['clan'] })
  expect(await listParticipants(deps, {})).toMatchObject([
    { sender_id: 'a.example', status: 'active', max_page_size: 50, rate_limit: 5 },
    { sender_id: 'b.example', status: 'disabled' },
  ])
})

test('an export is a file that changes nothing here, and makes the same elsewhere', async () => {
  const exported = await exportConfiguration(deps, {})
  expect(validator(Configuration).problem(exported, '')).toBeNull()
  expect(exported.participants?.['a.example']).toMatchObject({
    rate_limit: 5,
    max_subscriptions: 'unlimited',
    concurrency_limit: null,
    callback: { allowed: ['https://a.example/b', 'https://a.example/z'], concurrency: 2 },
    grants: FILE.participants['a.example'].grants,
  })
  expect(exported.registries?.civil).toEqual({ ...FILE.registries.civil, environment: 'live' })
  expect(JSON.stringify(exported)).not.toMatch(/secret|sealed/)
  expect((await apply(exported)).changes).toEqual([])

  const other = await testDatabase()
  try {
    const elsewhere = { ...deps, db: other.db }
    await applyConfiguration(acting(elsewhere), { configuration: exported })
    expect(await exportConfiguration(elsewhere, {})).toEqual(exported)
  } finally {
    await other.close()
  }
})

test('an export has a grant whose time is over, and makes all else elsewhere', async () => {
  const over = { ...GRANT, see: ['identifier', 'gone'], purposes: ['gone'], valid_until: '2020-01-01T00:00:00Z' }
  await deps.db.pool.query(
    `insert into participant_grant (participant, registry, terms, valid_from, valid_until)
    select participant.id, registry.id, $1, '2019-01-01', '2020-01-01' from participant, registry
    where participant.sender_id = 'b.example' and namespace = 'civil'`,
    [over],
  )
  const exported = await exportConfiguration(deps, {})
  expect(exported.participants?.['b.example']?.grants).toEqual({ civil: over })
  expect((await apply(exported)).changes).toEqual([])

  const other = await testDatabase()
  try {
    const elsewhere = { ...deps, db: other.db }
    await applyConfiguration(acting(elsewhere), { configuration: exported })
    expect((await exportConfiguration(elsewhere, {})).participants?.['b.example']?.grants ?? {}).toEqual({})
    const { changes: again } = await applyConfiguration(acting(elsewhere), { configuration: exported })
    expect(again).toEqual([])
  } finally {
    await other.close()
    await deps.db.pool.query(`delete from participant_grant where valid_until = '2020-01-01'`)
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
        name: 'A2',
        rate_limit: 'unlimited',
        hosts: [],
        callback: { allowed: ['https://a.example/b'] },
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
  expect(await listGrants(deps, {})).toMatchObject([{ namespace: 'civil', terms: narrower }])
  expect((await apply(FILE)).changes.map(({ at }) => at)).toHaveLength(7)
})

test('grants of several times stand in a list, and only what differs is changed', async () => {
  const now = { ...GRANT, valid_until: '2099-01-01T00:00:00Z' }
  const later = { ...GRANT, valid_from: '2099-01-01T00:00:00Z' }
  await apply(withA({ grants: { civil: [now] } }))
  const [kept] = await listGrants(deps, {})
  expect(await changes(withA({ grants: { civil: [now, later] } }))).toEqual(['change participants["a.example"].grants.civil'])
  expect(await changes(withA({ grants: { civil: [later, now] } }))).toEqual([])
  expect((await listGrants(deps, {})).map(({ version }) => version)[0]).toBe(kept?.version)
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
    { kid: 'sig-1', public_key: KEY.pem },
    // A leap second is read as the next second.
    { kid: 'sig-2', public_key: next.pem, valid_until: '2098-12-31T23:59:60Z' },
  ]
  expect(await changes(withA({ keys: both }))).toEqual(['add participants["a.example"].keys[1]'])
  expect(await changes(withA({ keys: both }))).toEqual([])
  expect(await changes(withA({ keys: both.map((row) => ({ ...row, valid_until: null })) }))).toEqual([
    'change participants["a.example"].keys[1]',
  ])
  const second = [{ kid: 'sig-2', public_key: next.pem }]
  expect(await changes(withA({ keys: second }))).toEqual(['remove participants["a.example"].keys'])
  const states = (await listParticipantKeys(deps, { sender_id: 'a.example' })).map(({ kid, state }) => [kid, state])
  expect(Object.fromEntries(states)).toEqual({ 'sig-1': 'revoked', 'sig-2': 'live' })
  const { message } = await refusal({ version: 1, participants: { 'b.example': { keys: second } } })
  expect(message).toBe('participants["b.example"].keys[0]: this key belongs to another participant')
})

test('attributes: one is declared in another way, and removed', async () => {
  const civil = (Person: object) => ({ version: 1, registries: { civil: { kind: 'civil', attributes: { Person } } } })
  const clan = { type: 'text', paths: ['clan', 'tribe'] }
  const at = 'registries.civil.attributes.Person'
  expect(await changes(civil({ clan, marital_status: { indexed: true } }))).toEqual([`change ${at}.clan`])
  expect(await changes(civil({ clan }))).toEqual([`remove ${at}.marital_status`])
  expect((await apply({ version: 1, registries: { civil: { kind: 'civil', time_zone: 'UTC' } } })).changes).toEqual([
    { at: 'registries.civil.time_zone', change: 'change', from: 'Africa/Kigali', to: 'UTC' },
  ])
})

test('attributes: one may take the other name of another one that is changed, too', async () => {
  const civil = (Person: object) => ({ version: 1, registries: { names: { kind: 'civil', attributes: { Person } } } })
  const attribute = (path: string, alias: string) => ({ type: 'text', paths: [path], aliases: [alias] })
  await apply(civil({ clan: attribute('clan', 'one'), tribe: attribute('tribe', 'other') }))
  const swapped = civil({ clan: attribute('clan', 'other'), tribe: attribute('tribe', 'one') })
  const at = 'registries.names.attributes.Person'
  const both = ['clan', 'tribe']
  expect(await changes(swapped)).toEqual(['remove', 'add'].flatMap((change) => both.map((name) => `${change} ${at}.${name}`)))
  expect((await apply(swapped)).changes).toEqual([])
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
  await expect(removeAttribute(acting(deps), place)).rejects.toThrow(
    new AdminRefusal('name: the grant of a.example in civil names clan; change the grant first', { reason: 'conflict' }),
  )
  const other = withA({ grants: { civil: { ...GRANT, see: ['identifier'] } } })
  await apply({ ...without, ...other })
  await apply(file)
  await apply(other)
  expect(await removeAttribute(acting(deps), place)).toMatchObject({ removed: true })
  await apply(file)
})

test('an identifier type that a grant names is not taken away', async () => {
  const civil = (identifier_types: object) => ({ version: 1, registries: { civil: { kind: 'civil', identifier_types } } })
  const grants = { civil: { ...GRANT, identifier_types: ['CEDULA'] } }
  await apply({ ...civil({ CEDULA: { compared_as: 'code' } }), ...withA({ grants }) })
  expect(await refusal(civil({}))).toEqual({
    message:
      'registries.civil.identifier_types: the grant of a.example would mean nothing (identifier_types: this registry has no CEDULA); change it in the same file',
    at: ['registries', 'civil', 'identifier_types'],
  })
  await apply({ ...civil({}), ...withA({ grants: { civil: GRANT } }) })
})

test('a change that fails says how many were made before it; a second try makes the rest, secrets included', async () => {
  const file = (sender_id: string) => ({
    version: 1,
    participants: { 'd.example': { name: 'D' }, 'e.example': { name: 'E', policy: { jwks_uri: 'https://8.8.8.8/d.json' } } },
    registries: { ibr: { kind: 'ibr', sender_id } },
  })
  await expect(apply(file('crvs'))).rejects.toThrow(
    new AdminRefusal('registries.ibr: "crvs" is a name of the registry at civil already; choose another'),
  )
  const twice = { ...file('ibr'), participants: { 'd.example': { name: 'D' }, 'a|b': { name: 'E' } } }
  await expect(apply(twice)).rejects.toThrow(
    new AdminRefusal('participants["a|b"]: sender_id contains | or "; what stands before it was changed (2 of 3)'),
  )
  const { changes: made, credentials } = await apply(file('ibr'))
  expect(made.map(({ at }) => at)).toEqual(['participants["e.example"]', 'participants["e.example"].policy'])
  expect(credentials.map(({ sender_id }) => sender_id)).toEqual(['d.example', 'e.example'])
})

test('while another one is applied, a question what would change is answered', async () => {
  await withSettingsLock(deps.db, async () => expect((await apply(FILE, true)).applied).toBe(false))
})

test('identifier types and the primary one are part of the file, which changes nothing when it is applied again', async () => {
  const entry = {
    kind: 'civil',
    primary_identifiers: { Person: 'CEDULA' },
    identifier_types: {
      CEDULA: { compared_as: 'code', patterns: ['[0-9]{8,10}'] },
      NID: { patterns: ['[0-9]{13}'], sortable: true },
    },
  }
  const file = (registry: object) => ({ version: 1, registries: { crvs: registry } })
  expect(await changes(file(entry))).toEqual([
    'add registries.crvs',
    'add registries.crvs.identifier_types.CEDULA',
    'add registries.crvs.identifier_types.NID',
    'change registries.crvs.primary_identifiers',
  ])
  expect(await changes(file(entry))).toEqual([])
  const exported = (await exportConfiguration(deps, {})).registries?.crvs
  expect(exported).toMatchObject(entry)
  expect(await changes(file(exported ?? {}))).toEqual([])
  expect(await changes(file({ ...entry, identifier_types: { CEDULA: { compared_as: 'code', aliases: ['DocNo'] } } }))).toEqual([
    'change registries.crvs.identifier_types.CEDULA',
    'remove registries.crvs.identifier_types.NID',
  ])
  expect(await refusal(file({ kind: 'civil', identifier_types: { A: { patterns: ['.*'] } } }))).toMatchObject({
    message: expect.stringMatching(/^registries\.crvs\.identifier_types\.A: patterns\[0\]: must be digits/),
  })
  expect(await refusal(file({ kind: 'civil', primary_identifiers: { Person: 'MOBILE' } }))).toMatchObject({
    message: expect.stringMatching(/^registries\.crvs: primary_identifiers\.Person: must be one of UIN, /),
  })
})

test('an attribute and an identifier type go with their columns in the source, in one file', async () => {
  const office = await emptyDatabase()
  try {
    await makeOffice(office.connection, [{ person_no: 1, national_no: 'A1', family_name: 'Okoro' }])
    const env = { READER: await officeReader(office.connection) }
    const source = officeSource({ env: 'READER' })
    const { Person } = source.records as { Person: { columns: object } }
    const columns = { ...Person.columns, clan: 'given_name', 'identifier[CEDULA]': 'mobile' }
    const mapped = { ...source, records: { Person: { ...Person, columns } } }
    const added = {
      attributes: { Person: { clan: { type: 'text', paths: ['clan'] } } },
      identifier_types: { CEDULA: { compared_as: 'code' } },
    }
    const live = async (entry: object) => {
      const configuration = { version: 1, registries: { live: { kind: 'civil', ...entry } } }
      const { changes: made } = await applyConfiguration(acting({ ...deps, env }), { configuration })
      return made.map(({ at, change }) => `${change} ${at}`)
    }
    await live({ ...added, source: mapped })
    const none = { attributes: {}, identifier_types: {} }
    const rule = 'the column mapping of clan: Person has no such path; docs/kinds lists the paths'
    for (const entry of [none, { ...none, source: mapped }]) {
      await expect(live(entry)).rejects.toThrow(new AdminRefusal(`registries.live.source: ${rule}`))
    }
    expect(await live({ ...added, source: mapped })).toEqual([])
    const folded = { attributes: { Person: { clan: { type: 'text', paths: ['clan'], fold: true } } } }
    expect(await live({ ...added, ...folded, source: mapped })).toEqual(['change registries.live.attributes.Person.clan'])
    expect(await live({ ...added, ...folded, source: mapped })).toEqual([])
    expect(await live({ ...none, source })).toEqual([
      'change registries.live.source',
      'remove registries.live.identifier_types.CEDULA',
      'remove registries.live.attributes.Person.clan',
    ])
    expect(await live({ ...none, source })).toEqual([])
  } finally {
    await office.drop()
  }
})
