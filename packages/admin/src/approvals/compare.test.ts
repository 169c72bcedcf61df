/** Each act that waits where it permits more, compared with what is stored: by its function alone, without a database. */
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { APPROVABLE_ACTS } from './acts.ts'
import { diffLinesOf, type ProposedChanges } from './diff-lines.ts'

interface Case {
  readonly stored: unknown
  /** An input that changes nothing: the stored settings, or the act without the part for which it may wait. */
  readonly same: object
  readonly narrower: Readonly<Record<string, object>>
  readonly wider: Readonly<Record<string, object>>
}

const sender_id = 'a.example'
const TERMS = { operations: ['search'], see: ['name'], basis: 'law' }
const granted = { sender_id, namespace: 'civil' }
const PROFILE = { layout: 'jws', canonical_form: 'jcs', digest_prefix: '', algorithms: ['Ed25519'] }
const HOST = { host: 'a.internal', ports: [8443] }
const KEY = { kid: 'k-1', use: 'sig', algorithm: 'Ed25519', public_jwk: { kty: 'OKP' } }
const AUTHORITY = {
  name: 'https://consent.example',
  jwks_uri: null,
  hosts: [],
  keys: [{ kid: 'k-1', algorithm: 'Ed25519', public_key: { kty: 'OKP' } }],
}
const CALLBACK = {
  allowed: ['https://a.example/in', 'https://b.example/in'],
  default_url: 'https://a.example/in',
  notify_url: null,
  auth: 'none',
  sealed: null,
  rate: 5,
}
const STEP = { at: 'purposes.eligibility', change: 'add', from: null, to: {} }

const CASES: Readonly<Record<string, Case>> = {
  'grant set': {
    stored: {
      grants: [{ id: 1, participant: 1, registry: 1, terms: TERMS, valid_from: new Date(0), valid_until: null }],
      now: new Date('2026-06-01T00:00:00Z'),
    },
    same: { ...granted, terms: TERMS },
    narrower: {
      'nothing to see': { ...granted, terms: { ...TERMS, see: [] } },
      'an end': { ...granted, terms: { ...TERMS, valid_until: '2026-12-31T00:00:00Z' } },
    },
    wider: {
      'more to see': { ...granted, terms: { ...TERMS, see: ['name', 'birth_date'] } },
      'an earlier beginning': { ...granted, terms: { ...TERMS, valid_from: '1969-01-01T00:00:00Z' } },
      'another beside it': { ...granted, terms: TERMS, beside: true },
    },
  },
  'participant add': {
    stored: null,
    same: { sender_id, name: 'A' },
    narrower: { 'no grants': { sender_id, name: 'A', grants: {} } },
    wider: { 'a grant': { sender_id, name: 'A', grants: { civil: TERMS } } },
  },
  'participant policy': {
    stored: {
      signature_policy: 'if-present',
      allow_unsigned: true,
      signature_profile: PROFILE,
      encryption_policy: 'allowed',
      jwks_uri: 'https://a.example/keys',
    },
    same: { sender_id, signature_policy: 'if-present', jwks_uri: 'https://a.example/keys', signature_profile: PROFILE },
    narrower: {
      'signatures are required': { sender_id, signature_policy: 'required', allow_unsigned: false },
      'encryption is required': { sender_id, encryption_policy: 'required' },
      'no key set': { sender_id, jwks_uri: null },
    },
    wider: {
      'no signatures': { sender_id, signature_policy: 'off' },
      'no encryption': { sender_id, encryption_policy: 'refused' },
      'another key set': { sender_id, jwks_uri: 'https://b.example/keys' },
      'another profile': { sender_id, signature_profile: { ...PROFILE, algorithms: ['ES256'] } },
    },
  },
  'participant host allow': {
    stored: [HOST],
    same: { sender_id, ...HOST },
    // Any other rule waits: rules of hosts are not compared member by member.
    narrower: {},
    wider: {
      'another host': { sender_id, host: 'b.internal' },
      'another port': { sender_id, ...HOST, ports: [8443, 22] },
      'without TLS': { sender_id, ...HOST, plainHttp: true },
    },
  },
  'participant callback': {
    stored: CALLBACK,
    same: { sender_id, default_url: CALLBACK.default_url, allow: CALLBACK.allowed },
    narrower: {
      'an address less': { sender_id, disallow: ['https://b.example/in'] },
      'no default address': { sender_id, default_url: null },
      'no credentials': { sender_id, auth: 'none' },
      'another rate': { sender_id, rate: 7 },
    },
    wider: {
      'one more address': { sender_id, allow: ['https://c.example/in'] },
      'another default address': { sender_id, default_url: 'https://b.example/in' },
      'an address of notifications': { sender_id, notify_url: 'https://b.example/in' },
      credentials: { sender_id, auth: 'bearer', token: 's3cret', origin: 'https://a.example' },
    },
  },
  'participant enable': { stored: 'active', same: { sender_id }, narrower: {}, wider: {} },
  'participant secret rotate': { stored: 'required', same: { sender_id }, narrower: {}, wider: {} },
  'consent authority add': {
    stored: { authority: AUTHORITY, given: [KEY] },
    same: { name: AUTHORITY.name, keys: ['a key'] },
    // Any other authority waits: what it may sign is not compared.
    narrower: {},
    wider: {
      'an address of keys': { name: AUTHORITY.name, keys: ['a key'], jwks_uri: 'https://consent.example/keys' },
      'a host': { name: AUTHORITY.name, keys: ['a key'], hosts: [{ host: 'consent.internal' }] },
    },
  },
  'registry add': {
    stored: null,
    same: { kind: 'civil' },
    narrower: { 'a sandbox': { kind: 'civil', environment: 'sandbox' } },
    wider: { 'a source': { kind: 'civil', source: { url: { env: 'OFFICE' } } } },
  },
  'registry set': {
    stored: { namespace: 'civil', majority_age: 18, web_origins: ['https://a.example'], source: null, time_zone: 'UTC' },
    same: { namespace: 'civil', majority_age: 18, web_origins: ['https://a.example'] },
    narrower: {
      'a later age of majority': { namespace: 'civil', majority_age: 21 },
      'no web origin': { namespace: 'civil', web_origins: [] },
      'another time zone': { namespace: 'civil', time_zone: 'Africa/Lagos' },
    },
    wider: {
      'an earlier age of majority': { namespace: 'civil', majority_age: 16 },
      'one more web origin': { namespace: 'civil', web_origins: ['https://a.example', 'https://b.example'] },
      'another source': { namespace: 'civil', source: { url: 'env:OTHER' } },
    },
  },
  'operator add': {
    stored: null,
    same: { name: 'reader', roles: ['read'] },
    narrower: { 'may publish': { name: 'office', roles: ['publish'] } },
    wider: {
      'may decide about grants': { name: 'eve', roles: ['read', 'own'] },
      'may decide about bodies': { name: 'eve', roles: ['audit'] },
    },
  },
  apply: { stored: [], same: { configuration: {} }, narrower: {}, wider: {} },
  'deliveries change': { stored: { replayed: 10, most: 10 }, same: { change: 'replay', state: 'dead' }, narrower: {}, wider: {} },
  'deliveries replay': {
    stored: { replayed: 10, most: 10 },
    same: { state: 'dead' },
    narrower: { 'a preview': { state: 'dead', dry_run: true } },
    wider: {},
  },
  'deliveries show': {
    stored: null,
    same: { id: 'd-1' },
    narrower: { 'no body': { id: 'd-1', body: false } },
    wider: { 'its body': { id: 'd-1', body: true } },
  },
  'inbox show': {
    stored: null,
    same: { message_id: 'm-1' },
    narrower: { 'no body': { message_id: 'm-1', body: false } },
    wider: { 'its body': { message_id: 'm-1', body: true } },
  },
}

/** The same acts, wider by what is stored. */
const OTHERWISE_STORED: Readonly<Record<string, { readonly stored: unknown; readonly wanted: object }>> = {
  'grant set': { stored: { grants: [], now: new Date(0) }, wanted: { ...granted, terms: TERMS } },
  'participant host allow': { stored: [], wanted: { sender_id, ...HOST } },
  'participant enable': { stored: 'disabled', wanted: { sender_id } },
  'participant secret rotate': { stored: 'if-present', wanted: { sender_id } },
  'consent authority add': { stored: { authority: null, given: [KEY] }, wanted: { name: AUTHORITY.name } },
  'registry set': {
    stored: { majority_age: 21, web_origins: [], source: null },
    wanted: { namespace: 'civil', majority_age: 18 },
  },
  apply: { stored: [STEP], wanted: { configuration: {} } },
  'deliveries change': { stored: { replayed: 11, most: 10 }, wanted: { change: 'replay', ids: ['d-1'] } },
  'deliveries replay': { stored: { replayed: 11, most: 10 }, wanted: { ids: ['d-1'] } },
}

const acts = APPROVABLE_ACTS.flatMap(({ act }) => (act.compare === null ? [] : [act]))

test('each act that waits where something is wider is here', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(acts.map(({ name }) => name).toSorted())
  expect(acts.map(({ approval }) => approval)).toEqual(acts.map(() => 'wider'))
})

describe.each(acts.map((act) => [act.name, act] as const))('%s', (name, { compare, confidential }) => {
  const { stored, same, narrower, wider } = CASES[name] as Case
  /** The lines for a second operator; null: there need be none. */
  const lines = (wanted: object, found = stored) => {
    const [before, compared] = [structuredClone([wanted, found]), compare as (...given: unknown[]) => ProposedChanges | null]
    const result = compared(wanted, found)
    expect(compared(wanted, found)).toEqual(result)
    expect(isDeepStrictEqual([wanted, found], before)).toBe(true)
    return result && diffLinesOf(result, confidential)
  }

  test.each(Object.entries({ 'the same': same, ...narrower }))('does not wait for %s', (_, wanted) => {
    expect(lines(wanted)).toBeNull()
  })

  const otherwise = OTHERWISE_STORED[name]
  const waiting = Object.entries(wider).map(([what, wanted]) => [what, wanted, stored] as const)
  const all = otherwise ? [...waiting, ['what was narrower', otherwise.wanted, otherwise.stored] as const] : waiting
  test.each(all)('waits for %s, and shows a change', (_, wanted, found) => {
    const shown = lines(wanted, found)
    expect(shown?.filter(({ from, to }) => !isDeepStrictEqual(from, to))).not.toEqual([])
    expect(JSON.stringify(shown)).not.toContain('s3cret')
  })
})
