/** Consents that an authority has signed: nothing leaves under one that does not name its person and its attribute. */
import { randomUUID } from 'node:crypto'
import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { reinstateConsent, withdrawConsent } from '@rollcall/admin/consents/consents'
import { deleteExpiredConsents } from '@rollcall/consents/store/consent-uses'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { keySetServer } from '../../../../participants/test/key-set-server.ts'
import { runHousekeeping } from '../../../src/app/housekeeping.ts'
import { asyncPeer } from '../../asynchronous.ts'
import { postSearch, type TestParticipant, testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())

const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi', given_name: `Given ${uin}` },
  sex: 'F',
  birth_date: `199${uin}-05-05`,
  parent1_identifier: { identifier_type: 'UIN', identifier_value: '9' },
  ...more,
})
await server.registry('civil', [
  person('1'),
  person('2', { phone_number: ['+1 555 0100'] }),
  person('3', { phone_number: ['+1 555 0100'] }),
])
const peer = await asyncPeer(server, 'spmis.demo')
const other = await asyncPeer(server, 'other.demo')
const authority = await consentAuthority(server.database)
const second = await consentAuthority(server.database, 'https://second.example')

const TERMS: Partial<GrantTerms> = {
  operations: ['search', 'txn-status'],
  query_forms: ['identifier'],
  see: ['identifier', 'name', 'birth_date', 'sex'],
  basis: 'consent',
  purposes: ['eligibility', 'appeal'],
  consent: 'signed',
  authorities: [authority.name],
}
async function granted(terms: Partial<GrantTerms> = {}): Promise<void> {
  for (const { sender_id } of [peer, other]) {
    await grant(server.database, sender_id, 'civil', { ...TERMS, ...terms })
  }
  server.clock.pass(1_000)
}
beforeAll(() => granted())

const by = (type: string, value: string) => ({ query_type: 'idtype-value', query: { type, value } })
const byUin = (value: string) => by('UIN', value)
const item = async (criteria: object, sender: TestParticipant = peer) =>
  (await postSearch(server, sender, [{ search_criteria: criteria }])).body.message.search_response[0]
const under = async (claims: object = {}, ...signing: object[]) => ({
  authorize: { consent_jws: await authority.sign(claims, ...signing) },
})
const NOBODY = { status: 'succ', data: { reg_records: [] }, pagination: { total_count: 0 } }
const rejected = (message: string) => ({
  status: 'rjct',
  status_reason_code: 'rjct.search_criteria.invalid',
  status_reason_message: message,
})
const AT = 'search_criteria.authorize.consent_jws'

describe('a signed consent', () => {
  it('shows what it covers, as far as the grant shows it, any number of times', async () => {
    const consent = await under({ attributes: ['surname', 'birth_date', 'death_date', 'shoe_size', 'parents'] })
    for (const criteria of [byUin('1'), by('uin', ' 1 ')]) {
      expect(await item({ ...criteria, ...consent })).toMatchObject({
        status: 'succ',
        data: { reg_records: [{ '@type': 'CRVS_Person', name: { surname: 'Obi' }, birth_date: '1991-05-05' }] },
        pagination: { total_count: 1 },
      })
    }
    await granted({ see: ['surname', 'sex'] })
    expect((await item({ ...byUin('1'), ...consent })).data.reg_records).toEqual([
      { '@type': 'CRVS_Person', name: { surname: 'Obi' } },
    ])
    await granted()
  })

  it('stands in consent as well, beside its time and purpose', async () => {
    const consent_jws = await authority.sign()
    const consent = { ts: new Date().toISOString(), purpose: { code: 'eligibility', text: 'x' }, consent_jws }
    expect((await item({ ...byUin('1'), consent })).data.reg_records).toHaveLength(1)
    expect(await item({ ...byUin('1'), consent: { ...consent, purpose: { code: 'appeal' } } })).toMatchObject(
      rejected('search_criteria.consent.purpose.code: must be that of the signed consent'),
    )
    expect(await item({ ...byUin('1'), consent: { ...consent, ts: '1999-01-01T00:00:00Z' } })).toMatchObject(
      rejected('search_criteria.consent.ts: must not be older than 365 days'),
    )
    expect(await item({ ...byUin('1'), consent: { ...consent, purpose: { code: 'marketing' } } })).toMatchObject(
      rejected('search_criteria.consent.purpose.code: must be one of eligibility, appeal'),
    )
  })

  it('counts from its nbf on, by a clock that may be a minute ahead', async () => {
    const now = Math.floor(Date.now() / 1_000)
    for (const nbf of [now - 5, now + 30]) {
      expect(await item({ ...byUin('1'), ...(await under({ nbf })) })).toMatchObject({ pagination: { total_count: 1 } })
    }
  })

  it('is one alone: consent and authorize may not have different ones', async () => {
    const [given, forged] = [await authority.sign(), await authority.sign({}, { key: keyPair('Ed25519') })]
    const both = (consent_jws: string) => ({ ...byUin('1'), consent: { consent_jws: given }, authorize: { consent_jws } })
    expect(await item(both(given))).toMatchObject({ pagination: { total_count: 1 } })
    for (const other of [forged, 'garbage']) {
      expect(await item(both(other))).toMatchObject(
        rejected(`${AT}: must not differ from that of consent; give one signed consent`),
      )
    }
  })

  it('that covers nothing of the record is answered as of an unknown person', async () => {
    for (const attributes of [['death_date'], ['shoe_size'], ['parents', 'parent1_identifier']]) {
      expect(await item({ ...byUin('1'), ...(await under({ attributes })) })).toMatchObject(NOBODY)
    }
  })

  it('of an identifier that several people have finds nobody', async () => {
    const subject = { identifier_type: 'MOBILE', identifier_value: '+1 555 0100' }
    const found = await item({ ...by('MOBILE', '+1 555 0100'), ...(await under({ subject })) })
    expect(found).toMatchObject(NOBODY)
  })

  it('is needed where the grant demands it, and may be given where it does not', async () => {
    const asserted = { ts: new Date().toISOString(), purpose: { code: 'eligibility' } }
    const needed = `is required here, a consent for eligibility or appeal that ${authority.name} has signed`
    expect(await item({ ...byUin('1'), consent: asserted })).toMatchObject(
      rejected(`search_criteria.consent.consent_jws: ${needed}`),
    )
    expect(await item(byUin('1'))).toMatchObject(rejected(`search_criteria.consent: ${needed}`))
    await granted({ consent: 'asserted' })
    expect((await item({ ...byUin('1'), consent: asserted })).data.reg_records).toHaveLength(1)
    expect((await item({ ...byUin('1'), ...(await under()) })).data.reg_records[0]).not.toHaveProperty('sex')
    expect(await item({ ...byUin('1'), ...(await under({ exp: 1 })) })).toMatchObject({ status: 'rjct' })
    await granted()
  })

  it('is of one of the authorities that the grant names', async () => {
    const authorize = { consent_jws: await second.sign() }
    expect(await item({ ...byUin('1'), authorize })).toMatchObject(rejected(`${AT}: iss: must be one of ${authority.name}`))
    const { authorities: _, ...any } = TERMS
    for (const { sender_id } of [peer]) await grant(server.database, sender_id, 'civil', any)
    server.clock.pass(1_000)
    expect((await item({ ...byUin('1'), authorize })).data.reg_records).toHaveLength(1)
    const foreign = await authority.sign({ iss: 'https://nobody.example' })
    expect(await item({ ...byUin('1'), authorize: { consent_jws: foreign } })).toMatchObject(
      rejected(`${AT}: iss: must be a registered consent authority`),
    )
    await granted()
  })

  it('is of its person, and of the participant that used it first', async () => {
    const consent = await under({ jti: 'once' })
    expect(await item({ ...byUin('2'), ...consent })).toMatchObject(rejected(`${AT}: is for another person than is asked for`))
    expect(await item({ ...by('BRN', 'B-1'), ...consent })).toMatchObject(
      rejected(`${AT}: is for another person than is asked for`),
    )
    expect(await item({ ...byUin('1'), ...consent })).toMatchObject({ pagination: { total_count: 1 } })
    expect(await item({ ...byUin('1'), ...consent }, other)).toMatchObject(
      rejected(`${AT}: was used by another participant before`),
    )
    const subject = { identifier_type: 'UIN', identifier_value: '2' }
    expect(await item({ ...byUin('2'), ...(await under({ jti: 'once', subject })) })).toMatchObject(
      rejected(`${AT}: jti: names a consent of another person`),
    )
    const theirs = await under({ azp: other.sender_id })
    expect(await item({ ...byUin('1'), ...theirs })).toMatchObject(rejected(`${AT}: azp: names another participant`))
    expect((await item({ ...byUin('1'), ...theirs }, other)).data.reg_records).toHaveLength(1)
  })

  it.each([
    ['ES256', 'P-256'],
    ['RS256', 'RSA'],
  ] as const)('may be signed with %s', async (alg, type) => {
    const key = keyPair(type)
    const name = `https://${alg}.example`
    const own = await consentAuthority(server.database, name)
    const keys = [{ ...key.jwk, kid: alg }]
    await addConsentAuthority(acting({ db: server.database.db }), { name, keys })
    await granted({ authorities: [name] })
    const signing = { header: { alg, kid: alg }, key }
    const found = await item({ ...byUin('1'), authorize: { consent_jws: await own.sign({}, signing) } })
    expect(found.data.reg_records).toHaveLength(1)
    const other = { ...signing, key: keyPair(type) }
    expect(await item({ ...byUin('1'), authorize: { consent_jws: await own.sign({}, other) } })).toMatchObject(
      rejected(`${AT}: must be signed with a key of its authority`),
    )
    await granted()
  })

  it('is verified with keys that its authority publishes, also with new ones', async () => {
    const [first, next] = [keyPair('Ed25519'), keyPair('P-256')]
    const keySet = await keySetServer()
    const { jwks_uri } = keySet.owner(0)
    const name = 'https://publishing.example'
    const hosts = [{ host: '127.0.0.1', ports: 'any' as const, plainHttp: true, loopback: true }]
    await addConsentAuthority(acting(server.database), { name, jwks_uri, hosts })
    await granted({ authorities: [name] })
    keySet.publish({ keys: [{ ...first.jwk, kid: 'p-1', use: 'sig' }] })
    const asked = async (signing: object) => item({ ...byUin('1'), ...(await under({ iss: name, jti: randomUUID() }, signing)) })
    try {
      expect(await asked({ key: first, header: { kid: 'p-1' } })).toMatchObject({ pagination: { total_count: 1 } })
      expect(await asked({ key: next, header: { kid: 'p-2', alg: 'ES256' } })).toMatchObject(
        rejected(`${AT}: must be signed with a key of its authority`),
      )
      keySet.publish({ keys: [{ ...next.jwk, kid: 'p-2', use: 'sig' }] })
      server.clock.pass(70_000)
      expect(await asked({ key: next, header: { kid: 'p-2', alg: 'ES256' } })).toMatchObject({ pagination: { total_count: 1 } })
      expect(await asked({ key: first, header: { kid: 'p-1' } })).toMatchObject({ status: 'rjct' })
    } finally {
      await keySet.close()
      await granted()
    }
  })

  it('of the latest end that there is hides the person once it is withdrawn', async () => {
    const deps = acting({ db: server.database.db, vault: server.context.vault })
    const person = { identifier_type: 'UIN', identifier_value: '1', purpose: 'eligibility' }
    const asked = { ...byUin('1'), ...(await under({ exp: 253_402_300_799 })) }
    expect((await item(asked)).data.reg_records).toHaveLength(1)
    await withdrawConsent(deps, person)
    expect(await item(asked)).toMatchObject(NOBODY)
    await reinstateConsent(deps, person)
    expect((await item(asked)).data.reg_records).toHaveLength(1)
  })

  it('is forgotten some days after its end, unless it is revoked', async () => {
    const { pool } = server.database.db
    for (const jti of ['ended', 'ended-revoked', 'going-on']) {
      await item({ ...byUin('1'), ...(await under({ jti })) })
    }
    await pool.query("update signed_consent set expires_at = now() - interval '8 days' where jti like 'ended%'")
    await pool.query("update signed_consent set revoked_at = now() where jti = 'ended-revoked'")
    await runHousekeeping(server.context, new AbortController().signal)
    const { rows } = await pool.query(
      "select jti from signed_consent where jti = any('{ended,ended-revoked,going-on}') order by jti",
    )
    expect(rows).toEqual([{ jti: 'ended-revoked' }, { jti: 'going-on' }])
  })

  it('is forgotten with many others in statements of a bounded length', async () => {
    const { pool } = server.database.db
    await pool.query(`insert into signed_consent (authority, jti, expires_at) select (select min(id) from consent_authority),
      'many-' || number, now() - interval '8 days' from generate_series(1, 10001) as number`)
    const query = vi.spyOn(pool, 'query')
    expect(await deleteExpiredConsents({ pool })).toBe(10_001)
    const deleted = await Promise.all(query.mock.results.map(({ value }) => value))
    query.mockRestore()
    expect(deleted.map(({ rowCount }) => rowCount)).toEqual([5_000, 5_000, 1])
  })

  const now = Math.floor(Date.now() / 1_000)
  it.each<[string, object, object, string]>([
    ['for another registry', { aud: 'social.example' }, {}, 'aud: must have the sender_id of this registry'],
    ['for another purpose', { purpose: { code: 'marketing' } }, {}, 'purpose.code: must be one of eligibility, appeal'],
    ['that has expired', { exp: now - 1 }, {}, 'exp: the consent has expired'],
    ['that ends before it begins', { iat: now, exp: now - 10 }, {}, 'exp: must be later than iat'],
    ['of the future', { iat: now + 600 }, {}, 'iat: must not be in the future'],
    ['that counts later', { nbf: now + 600 }, {}, 'nbf: the consent is not valid yet'],
    ['that counts from a text on', { nbf: 'x' }, {}, 'its payload: claims.nbf: must be a whole nu'],
    ['that is too old', { iat: 1_000_000_000 }, {}, 'iat: must not be older than 365 days'],
    ['that counts microseconds', { exp: now * 1_000_000 }, {}, 'its payload: claims.exp: must be at most 253402300799'],
    ['without jti', { jti: undefined }, {}, 'its payload: claims.jti: is required'],
    ['without attributes', { attributes: [] }, {}, 'its payload: claims.attributes: must have at least 1 elem'],
    ['of a purpose that is no object', { purpose: 'eligibility' }, {}, 'its payload: claims.purpose: must be an object'],
    [
      'with a ref_uri that is no address',
      { purpose: { code: 'eligibility', ref_uri: 'see above' } },
      {},
      'its payload: claims.purpose.ref_uri: must be an absolute URI',
    ],
    [
      'with an extension that must be understood',
      {},
      { header: { crit: ['b64'], b64: true } },
      'crit: no extension of JWS is accepted',
    ],
    ['with a payload that is said not to be encoded', {}, { header: { b64: false } }, 'b64: no extension of JWS is accepted'],
    ['of another type', {}, { header: { typ: 'JWT' } }, 'must have the typ consent+jwt'],
    ['without a type', {}, { header: { typ: undefined } }, 'must have the typ consent+jwt'],
    ['of another key', {}, { key: keyPair('Ed25519') }, 'must be signed with a key of its authority'],
    ['of an unknown key', {}, { header: { kid: 'c-2' } }, 'must be signed with a key of its authority'],
  ])('%s is rejected', async (_, claims, signing, rule) => {
    const answered = await item({ ...byUin('1'), ...(await under(claims, signing)) })
    expect({
      ...answered,
      status_reason_message: answered.status_reason_message.slice(0, AT.length + 2 + rule.length),
    }).toMatchObject(rejected(`${AT}: ${rule}`))
  })

  it.each([
    ['a text', 'consent'],
    ['a JWS without a signature', 'eyJhbGciOiJub25lIn0.e30.'],
    ['a long text', `${'a'.repeat(9_000)}.b.c`],
  ])('%s is none', async (_, consent_jws) => {
    expect(await item({ ...byUin('1'), authorize: { consent_jws } })).toMatchObject(
      rejected(`${AT}: must be a compact JWS of at most 8192 characters`),
    )
  })

  it('of the algorithm none is none', async () => {
    const [, payload] = (await authority.sign()).split('.')
    const head = (alg: string) => Buffer.from(JSON.stringify({ alg, typ: 'consent+jwt' })).toString('base64url')
    for (const alg of ['none', 'HS256', 'EdDSA2']) {
      const authorize = { consent_jws: `${head(alg)}.${payload}.AAAA` }
      expect(await item({ ...byUin('1'), authorize })).toMatchObject(
        rejected(`${AT}: must be signed with one of EdDSA, ES256, RS256`),
      )
    }
  })

  it('is read before any record: what is refused asks the records nothing', async () => {
    const { rows } = await server.database.db.pool.query('select count(*) from signed_consent')
    await item({ ...byUin('1'), ...(await under({ exp: 1 })) })
    expect((await server.database.db.pool.query('select count(*) from signed_consent')).rows).toEqual(rows)
  })
})

/** The leaves of a record with their paths. */
function leaves(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => leaves(one, path))
  if (!isJsonObject(value)) return [path.join('.')]
  return Object.entries(value).flatMap(([name, one]) => leaves(one, [...path, name]))
}

/** The paths that a consent covers, by its name. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  surname: ['name.surname'],
  given_name: ['name.given_name'],
  birth_date: ['birth_date'],
  sex: ['sex'],
  identifier: ['identifier.identifier_type', 'identifier.identifier_value'],
  parents: [],
}

it('no record leaves under a consent that does not name its person and its attribute', async () => {
  const names = Object.keys(PATHS)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('1', '2', '3'),
      fc.constantFrom('1', '2', '3'),
      fc.subarray(names, { minLength: 1 }),
      fc.subarray(
        names.filter((name) => name !== 'parents'),
        { minLength: 1 },
      ),
      async (asked, consenting, attributes, see) => {
        await granted({ see })
        const subject = { identifier_type: 'UIN', identifier_value: consenting }
        const answered = await item({ ...byUin(asked), ...(await under({ attributes, subject })) })
        if (asked !== consenting) {
          expect(answered).toMatchObject(rejected(`${AT}: is for another person than is asked for`))
          return
        }
        const allowed = new Set(attributes.filter((name) => see.includes(name)).flatMap((name) => PATHS[name] ?? []))
        const records: JsonValue[] = answered.data.reg_records
        expect(records.length).toBe(allowed.size === 0 ? 0 : 1)
        expect(answered.pagination.total_count).toBe(records.length)
        const shown = new Set(records.flatMap((one) => leaves(one)).filter((path) => path !== '@type'))
        expect(shown).toEqual(allowed)
      },
    ),
    { numRuns: 40 },
  )
  await granted()
})
