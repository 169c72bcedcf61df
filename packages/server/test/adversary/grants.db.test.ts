/**
 * What a grant or a consent hides is answered like what is not there: the same code, text, counts and pages, and the same
 * statements to the database. What is refused is refused before a record is read.
 */

import { revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { KINDS } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { consentAuthority } from '../../../admin/test/consents.ts'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { testClock } from '../../../observe/test/clock.ts'
import { grant } from '../../../participants/test/grants.ts'
import { type Got, gotten, masked } from '../answers.ts'
import { asyncPeer, searchFor } from '../asynchronous.ts'
import { exampleRecords } from '../example-requests.ts'
import { askingOf } from '../person-questions.ts'
import { expression, searchesFor, uin } from '../searches-for.ts'
import { bearer, post, QUIET, testServer } from '../server.ts'
import { noteStatements } from '../statements.ts'
import { about, subscribeFor } from '../subscribing.ts'
import { question } from '../txn-status.ts'

const server = await testServer({ limits: { participant_rate: 1_000_000 } }, testClock(), QUIET)
/** By the time alone, whatever is asked: what is read anew, and checkpoints of the audit log. */
const BY_TIME = /join breaker|\bbody_key\b|select next_due|from own_key|insert into account_checkpoint/
const statements = noteStatements(BY_TIME)
afterAll(async () => {
  statements.stop()
  await server.close()
})

/** Everybody with an M is outside of the rows of the grants below. */
const person = (uin: string, sex: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `BRN-${uin}` },
  ],
  name: { surname: `Name-${uin}`, given_name: 'Ada' },
  sex,
  birth_date: '1990-05-05',
  ...more,
})
const shared = { phone_number: ['+1 555 0100'] }
await server.registry('civil', [
  person('SEEN-01', 'F', shared),
  person('SEEN-02', 'F'),
  person('HIDE-01', 'M', { ...shared, phone_number: ['+1 555 0199'] }),
  person('SAFE-01', 'F', { phone_number: ['+1 555 0188'] }),
  person('TWIN-01', 'F', { phone_number: ['+1 555 0177'] }),
  person('TWIN-02', 'F', { phone_number: ['+1 555 0177'] }),
])
for (const kind of KINDS) {
  if (kind.name !== 'civil') await server.registry(kind.name, exampleRecords(kind))
}
const peer = await asyncPeer(server, 'sp.example')

/** Grants terms to the participant, which apply from now on. */
async function granted(terms: Partial<GrantTerms>, namespace = 'civil'): Promise<void> {
  await grant(server.database, peer.sender_id, namespace, terms)
  server.clock.pass(1_000)
}

const send = (path: string, body: object, namespace = 'civil') =>
  gotten(server, peer, post(`${server.url}/${namespace}/v1.0.0/registry/${path}`, body, bearer(peer)))

const search = (criteria: object, path = 'sync/search') => send(path, searchFor(peer, [{ search_criteria: criteria }]))

/** @param name stands for itself in the answer */
const answerTo = (ask: (name: string) => Promise<Got>, name: string) => async (): Promise<string> => {
  const named = new RegExp(`(?<!\\w)${name.replace(/[+.]/g, '\\$&')}(?!\\w)`, 'g')
  return masked(JSON.parse(JSON.stringify(await ask(name)).replace(named, 'NAMED')))
}

/**
 * Both names are asked for in the same way, and answered alike.
 * @param names the third one is asked for before, which fills what is read once
 * @returns the answer, and the statements
 */
async function expectAlike(
  [hidden, absent, first = absent]: readonly [string, string, string?],
  ask: (name: string) => Promise<Got>,
): Promise<{ readonly got: string; readonly sent: readonly string[] }> {
  await answerTo(ask, first)()
  const { results, statements: sent } = await statements.compared(answerTo(ask, absent), answerTo(ask, hidden))
  expect(results[1]).toBe(results[0])
  expect(sent[1]).toEqual(sent[0])
  return { got: results[1], sent: sent[1] }
}

const UIN = ['HIDE-01', 'NONE-01'] as const

/** Expects of these forms of a search, at once and later, the same answers as for a person who does not exist. */
async function expectHidden(hidden: string, telephone: string): Promise<void> {
  for (const [way, names, criteria] of searchesFor(hidden, 'NONE-01', telephone)) {
    for (const path of ['sync/search', 'search']) {
      const { got } = await expectAlike(names, (name) => search(criteria(name), path))
      expect([way, got.includes(hidden)]).toEqual([way, false])
    }
  }
}

describe('a person outside of the rows of a grant is answered like one that is not there', () => {
  const ROWS: Partial<GrantTerms> = { query_forms: 'all', ask: 'all', rows: { Person: { sex: { $eq: 'F' } } } }
  it.each(['exact', 'capped', 'rounded', 'none'] as const)('in every form of a search, with counts %s', async (counts) => {
    await granted({ ...ROWS, counts })
    await expectHidden('HIDE-01', '+1 555 0199')
  })

  it('in a status question about the search', async () => {
    await granted(ROWS)
    await expectAlike(UIN, async (name) => {
      const asked = await search(uin(name), 'search')
      const { correlation_id } = asked.body.message
      return send('sync/txn/status', question(peer, 'correlation_id', correlation_id))
    })
  })

  it('in a batch, beside one that is seen', async () => {
    await granted(ROWS)
    await expectAlike(UIN, (name) =>
      send('sync/search', searchFor(peer, [{ search_criteria: uin('SEEN-01') }, { search_criteria: uin(name) }])),
    )
  })

  it('in a subscription', async () => {
    await granted(ROWS)
    await expectAlike([...UIN, 'NONE-02'], (name) => send('subscribe', subscribeFor(peer, [about(name)])))
  })

  it.each([
    ['ibr', 'sync/enrolled', 'search', 'enrolled_criteria'],
    ['ess', 'sync/check-enrollment', 'enrollementstatus', 'enrolled_criteria'],
    ['disability', 'sync/disabled', 'search', 'disabled_criteria'],
    ['disability', 'sync/get-disability-details', 'search', 'disabled_criteria'],
    ['disability', 'sync/get-disability-support', 'search', 'disabled_criteria'],
  ])('in a question about a person: %s %s', async (namespace, path, action, member) => {
    const kind = KINDS.find(({ name }) => name === namespace) ?? expect.fail()
    const known = JSON.stringify(exampleRecords(kind)).match(/"identifier_value":"([^"]+)"|"member_identifier":"([^"]+)"/)
    const hidden = known?.[1] ?? known?.[2] ?? expect.fail('the example has no identifier')
    const none = { UIN: { $eq: 'SEEN-01' } }
    const rows = Object.fromEntries(kind.record_types.map(({ name }) => [name, none]))
    await granted({ rows, query_forms: 'all', ask: 'all' }, namespace)
    const absent = `${hidden.slice(0, -3)}XYZ`
    await expectAlike([hidden, absent], (name) =>
      send(path, askingOf(peer, action, { [member]: { query_type: 'expression', query: { UIN: { $eq: name } } } }), namespace),
    )
  })
})

describe('a protected person is answered like one that is not there', () => {
  it('in every form of a search, and in a subscription', async () => {
    const named = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'SAFE-01' }
    await protectPerson(acting({ db: server.database.db }), { ...named, category: 'shelter', reason: 'a test' })
    await granted({ query_forms: 'all', ask: 'all' })
    await expectHidden('SAFE-01', '+1 555 0188')
    await expectAlike(['SAFE-01', 'NONE-03', 'NONE-04'], (name) => send('subscribe', subscribeFor(peer, [about(name)])))
  })
})

describe('under a consent', () => {
  const CONSENT = { ts: new Date(server.clock.date()).toISOString(), purpose: { text: 'Check', code: 'eligibility' } }
  const TERMS: Partial<GrantTerms> = {
    operations: ['search', 'txn-status'],
    basis: 'consent',
    purposes: ['eligibility'],
    query_forms: ['identifier'],
    ask: [],
    see: ['identifier', 'name'],
    event_types: [],
    programmes: [],
  }

  it('an identifier of two people is answered like one of nobody', async () => {
    await granted(TERMS)
    for (const path of ['sync/search', 'search']) {
      const { got } = await expectAlike(['+1 555 0177', '+1 555 0977'], (value) =>
        search({ query_type: 'idtype-value', query: { type: 'MOBILE', value }, consent: CONSENT }, path),
      )
      expect(got).toContain('"total_count": 0')
    }
  })

  it.each([
    ['is missing', {}],
    ['is of another purpose', { consent: { ...CONSENT, purpose: { text: 'Check', code: 'appeal' } } }],
    ['is of an emergency that is not granted', { authorize: { ...CONSENT, purpose: { code: 'emergency' } } }],
    ['is too old', { consent: { ...CONSENT, ts: '1999-01-01T00:00:00Z' } }],
    ['is of the future', { consent: { ...CONSENT, ts: '2999-01-01T00:00:00Z' } }],
    ['has no time', { consent: { purpose: CONSENT.purpose } }],
  ])('one that %s is refused before a record is read', async (_, consent) => {
    await granted(TERMS)
    for (const path of ['sync/search', 'search']) {
      const { got, sent } = await expectAlike(['SEEN-01', 'NONE-01'], (name) => search({ ...uin(name), ...consent }, path))
      expect(got).toContain('rjct.search_criteria.invalid')
      expect(sent.filter((text) => /\br\d+_/.test(text))).toEqual([])
    }
  })
})

describe('under a signed consent', async () => {
  const authority = await consentAuthority(server.database)
  const deps = { db: server.database.db, vault: server.context.vault }
  const TERMS: Partial<GrantTerms> = {
    operations: ['search', 'txn-status'],
    basis: 'consent',
    purposes: ['eligibility'],
    query_forms: ['identifier'],
    ask: [],
    see: ['identifier', 'name'],
    event_types: [],
    programmes: [],
    consent: 'signed',
    authorities: [authority.name],
  }
  const signed = async (identifier_value: string, claims: object = {}, ...signing: object[]) => {
    const subject = { identifier_type: 'UIN', identifier_value }
    return { authorize: { consent_jws: await authority.sign({ subject, ...claims }, ...signing) } }
  }
  const asked = async (path: string, name: string, claims: object = {}) =>
    search({ ...uin(name), ...(await signed(name, claims)) }, path)

  it('that is revoked, a person is answered like one that is not there', async () => {
    await granted(TERMS)
    const jti = (name: string) => ({ jti: `of ${name}` })
    // Used before: who used a consent first is written once.
    expect(JSON.stringify(await asked('sync/search', 'SEEN-01', jti('SEEN-01')))).toContain('Name-SEEN-01')
    await revokeConsents(acting(deps), { authority: authority.name, revoked: ['of SEEN-01'] })
    for (const path of ['sync/search', 'search']) {
      const { got } = await expectAlike(['SEEN-01', 'NONE-01'], (name) => asked(path, name, jti(name)))
      expect(got).toContain('"total_count": 0')
    }
  })

  it('that is withdrawn by the person, the person is answered like one that is not there', async () => {
    await granted(TERMS)
    expect(JSON.stringify(await asked('sync/search', 'SEEN-02'))).toContain('Name-SEEN-02')
    const person = { identifier_type: 'UIN', identifier_value: 'SEEN-02' }
    await withdrawConsent(acting(deps), { ...person, purpose: 'eligibility' })
    for (const path of ['sync/search', 'search']) {
      const { got } = await expectAlike(['SEEN-02', 'NONE-01'], (name) => asked(path, name))
      expect(got).toContain('"total_count": 0')
    }
    await granted({ ...TERMS, consent: 'asserted' })
    const ts = new Date(server.clock.date()).toISOString()
    const consent = { ts, purpose: { code: 'eligibility' } }
    await expectAlike(['SEEN-02', 'NONE-01'], (name) => search({ ...uin(name), consent }))
  })

  it('that covers nothing of a record, its person is answered like one that is not there', async () => {
    await granted(TERMS)
    for (const path of ['sync/search', 'search']) {
      const answerOf = (name: string) => answerTo(() => asked(path, name, { attributes: ['death_date'] }), name)()
      // The record is read to see what of it is covered, so statements differ.
      const got = await answerOf('SEEN-01')
      expect(got).toBe(await answerOf('NONE-01'))
      expect(got).toContain('"total_count": 0')
    }
  })

  const now = Math.floor(Date.now() / 1_000)
  it.each<[string, object, object]>([
    ['is of another person', { subject: { identifier_type: 'UIN', identifier_value: 'TWIN-01' } }, {}],
    ['is of another participant', { azp: 'other.example' }, {}],
    ['is of another registry', { aud: 'social.example' }, {}],
    ['is of another purpose', { purpose: { code: 'appeal' } }, {}],
    ['is of another authority', { iss: 'https://other.example' }, {}],
    ['has expired', { exp: now - 1 }, {}],
    ['is of the future', { iat: now + 86_400, exp: now + 90_000 }, {}],
    ['is signed by somebody else', {}, { key: keyPair('Ed25519') }],
  ])('one that %s is refused before a record is read', async (_, claims, signing) => {
    await granted(TERMS)
    for (const path of ['sync/search', 'search']) {
      const { got, sent } = await expectAlike(['SEEN-01', 'NONE-01'], async (name) =>
        search({ ...uin(name), ...(await signed(name, claims, signing)) }, path),
      )
      expect(got).toContain('rjct.search_criteria.invalid')
      expect(sent.filter((text) => /\br\d+_/.test(text))).toEqual([])
    }
  })
})

describe('what is not granted is refused like what does not exist, and before a record is read', () => {
  const NARROW: Partial<GrantTerms> = {
    query_forms: 'all',
    ask: ['surname'],
    identifier_types: ['UIN'],
    see: ['identifier'],
    event_types: ['Death'],
  }
  const compare = (attribute: string, more: object = {}) => expression({ [attribute]: { $eq: 'F' } }, more)
  it.each<[string, readonly [string, string], (name: string) => object]>([
    ['an attribute', ['sex', 'sax'], compare],
    [
      'an attribute beside one that is granted',
      ['sex', 'sax'],
      (name) => expression({ surname: { $eq: 'Obi' }, [name]: { $eq: 'F' } }),
    ],
    ['whether there is an attribute', ['sex', 'sax'], (name) => expression({ [name]: { $exists: true } })],
    ['an alias', ['gender', 'gander'], compare],
    ['a path', ['address.locality', 'address.lacality'], compare],
    ['a derived attribute', ['age', 'ape'], (name) => expression({ [name]: { $gt: 40 } })],
    [
      'a sort',
      ['birth_date', 'berth_date'],
      (attribute_name) => ({ ...uin('SEEN-01'), sort: [{ attribute_name, sort_order: 'asc' }] }),
    ],
    ['an identifier type', ['BRN', 'BRM'], (type) => ({ query_type: 'idtype-value', query: { type, value: 'B' } })],
    ['an identifier type in an expression', ['BRN', 'BRM'], compare],
    ['an event type', ['LiveBirth', 'LiveEarth'], (reg_event_type) => ({ ...uin('SEEN-01'), reg_event_type })],
    [
      'an attribute in a list of expressions',
      ['sex', 'sax'],
      (attribute_name) => ({
        query_type: 'predicate',
        query: [{ seq_num: 1, expression1: { attribute_name, operator: 'eq', attribute_value: 'F' } }],
      }),
    ],
    [
      'a selection of graphql',
      ['sex', 'sax'],
      (name) => ({ query_type: 'graphql', query: { type: 'graphql', value: `{ person(UIN: "SEEN-01") { ${name} } }` } }),
    ],
    [
      'an argument of graphql',
      ['sex', 'sax'],
      (name) => ({ query_type: 'graphql', query: { type: 'graphql', value: `{ person(${name}: "F") { identifier } }` } }),
    ],
  ])('%s', async (_, names, criteria) => {
    await granted(NARROW)
    const { got, sent } = await expectAlike(names, (name) => search(criteria(name)))
    expect(got).toContain('"status": "rjct"')
    expect(sent.filter((text) => /\br\d+_/.test(text))).toEqual([])
  })

  it('a record type', async () => {
    await granted({ ...NARROW, ask: [], record_types: ['Member'], event_types: [] }, 'social')
    await expectAlike(['Group', 'Grope'], (reg_record_type) =>
      send('sync/search', searchFor(peer, [{ search_criteria: { ...uin('1'), reg_record_type } }]), 'social'),
    )
  })

  it('an event type of a subscription, and an attribute of its filter', async () => {
    await granted(NARROW)
    await expectAlike(['LiveBirth', 'LiveEarth'], (reg_event_type) =>
      send('subscribe', subscribeFor(peer, [about('SEEN-01', { reg_event_type })])),
    )
    await expectAlike(['sex', 'sax'], (name) =>
      send(
        'subscribe',
        subscribeFor(peer, [about('', { reg_event_type: 'Death', filter_type: 'expression', filter: { [name]: { $eq: 'F' } } })]),
      ),
    )
  })
})
