/**
 * What a grant or a consent hides is answered like what is not there: the same code, text, counts and pages, and the same
 * statements to the database. What is refused is refused before a record is read.
 */
import { KINDS } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { protectPerson } from '../../src/admin/protected-persons.ts'
import type { GrantTerms } from '../../src/model/grant.ts'
import { type Got, gotten, masked } from '../answers.ts'
import { asyncPeer, searchFor } from '../asynchronous.ts'
import { testClock } from '../clock.ts'
import { exampleRecords } from '../example-requests.ts'
import { grant } from '../grants.ts'
import { askingOf } from '../person-questions.ts'
import { bearer, post, testServer } from '../server.ts'
import { noteStatements } from '../statements.ts'
import { about, subscribeFor } from '../subscribing.ts'
import { question } from '../txn-status.ts'

const server = await testServer({ ROLLCALL_RATE_LIMIT: '1000000' }, testClock())
/** Read anew by the time alone, whatever is asked. */
const BY_TIME = /join breaker|"body_key"|select next_due|from own_key/
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

/** From now on the participant may do this in the registry. */
async function granted(terms: Partial<GrantTerms>, namespace = 'civil'): Promise<void> {
  await grant(server.database, peer.sender_id, namespace, terms)
  server.clock.pass(1_000)
}

const send = (path: string, body: object, namespace = 'civil') =>
  gotten(server, peer, post(`${server.url}/${namespace}/v1.0.0/registry/${path}`, body, bearer(peer)))

const search = (criteria: object, path = 'sync/search') =>
  send(path, searchFor(peer, [{ search_criteria: criteria }]))

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
  const { results, statements: sent } = await statements.compared(
    answerTo(ask, absent),
    answerTo(ask, hidden),
  )
  expect(results[1]).toBe(results[0])
  expect(sent[1]).toEqual(sent[0])
  return { got: results[1], sent: sent[1] }
}

const UIN = ['HIDE-01', 'NONE-01'] as const
const uin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
const expression = (query: object, more: object = {}) => ({ query_type: 'expression', query, ...more })

type Way = readonly [string, readonly [string, string], (name: string) => object]

/** Every way of a search to name a person. */
function waysOf(hidden: string, absent: string, telephone: string): readonly Way[] {
  const names = [hidden, absent] as const
  const page = { pagination: { page_size: 1, page_number: 2 } }
  const sort = { sort: [{ attribute_name: 'birth_date', sort_order: 'desc' }] }
  const graphql = (value: string) => ({
    query_type: 'graphql',
    query: { type: 'graphql', value: `{ person(UIN: "${value}") { sex who: birth_date name { surname } } }` },
  })
  return [
    ['identifier', names, uin],
    ['second page', names, (name) => ({ ...uin(name), ...page })],
    ['sorted', names, (name) => ({ ...uin(name), ...sort })],
    ['record type', names, (name) => ({ ...uin(name), reg_record_type: 'CRVS_Person' })],
    ['event type', names, (name) => ({ ...uin(name), reg_event_type: 'Death' })],
    [
      'another identifier',
      [`BRN-${hidden}`, `BRN-${absent}`],
      (value) => ({ ...uin(''), query: { type: 'BRN', value } }),
    ],
    ['telephone', [telephone, '+1 555 0999'], (value) => ({ ...uin(''), query: { type: 'MOBILE', value } })],
    ['expression', names, (name) => expression({ UIN: { $eq: name } })],
    ['any identifier', names, (name) => expression({ identifier: { $eq: name } })],
    ['a list, with one that is seen', names, (name) => expression({ UIN: { $in: ['SEEN-01', name] } }, sort)],
    [
      'beside what is seen',
      names,
      (name) => expression({ $or: [{ UIN: { $eq: name } }, { sex: { $eq: 'F' } }] }, page),
    ],
    ['everybody else', names, (name) => expression({ $not: { UIN: { $eq: name } } }, page)],
    ['a name', [`Name-${hidden}`, `Name-${absent}`], (name) => expression({ surname: { $eq: name } }, page)],
    [
      'the beginning of a name',
      [`Name-${hidden.slice(0, -1)}`, `Name-${absent.slice(0, -1)}`],
      (name) => expression({ surname: { $like: `${name}%` } }),
    ],
    [
      'a list of expressions',
      names,
      (attribute_value) => ({
        query_type: 'predicate',
        query: [{ seq_num: 1, expression1: { attribute_name: 'UIN', operator: 'eq', attribute_value } }],
      }),
    ],
    ['graphql, with a selection', names, graphql],
  ]
}

/** In every form of a search, at once and later. */
async function expectHidden(hidden: string, telephone: string): Promise<void> {
  for (const [way, names, criteria] of waysOf(hidden, 'NONE-01', telephone)) {
    for (const path of ['sync/search', 'search']) {
      const { got } = await expectAlike(names, (name) => search(criteria(name), path))
      expect([way, got.includes(hidden)]).toEqual([way, false])
    }
  }
}

describe('a person outside of the rows of a grant is answered like one that is not there', () => {
  const ROWS: Partial<GrantTerms> = {
    query_forms: 'all',
    ask: 'all',
    rows: { Person: { sex: { $eq: 'F' } } },
  }
  it.each(['exact', 'rounded', 'none'] as const)(
    'in every form of a search, with counts %s',
    async (counts) => {
      await granted({ ...ROWS, counts })
      await expectHidden('HIDE-01', '+1 555 0199')
    },
  )

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
      send(
        'sync/search',
        searchFor(peer, [{ search_criteria: uin('SEEN-01') }, { search_criteria: uin(name) }]),
      ),
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
    const known = JSON.stringify(exampleRecords(kind)).match(
      /"identifier_value":"([^"]+)"|"member_identifier":"([^"]+)"/,
    )
    const hidden = known?.[1] ?? known?.[2] ?? expect.fail('the example has no identifier')
    const none = { UIN: { $eq: 'SEEN-01' } }
    const rows = Object.fromEntries(kind.record_types.map(({ name }) => [name, none]))
    await granted({ rows, query_forms: 'all', ask: 'all' }, namespace)
    const absent = `${hidden.slice(0, -3)}XYZ`
    await expectAlike([hidden, absent], (name) =>
      send(
        path,
        askingOf(peer, action, { [member]: { query_type: 'expression', query: { UIN: { $eq: name } } } }),
        namespace,
      ),
    )
  })
})

describe('a protected person is answered like one that is not there', () => {
  it('in every form of a search, and in a subscription', async () => {
    const named = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'SAFE-01' }
    await protectPerson({ db: server.database.db }, { ...named, category: 'shelter', reason: 'a test' })
    await granted({ query_forms: 'all', ask: 'all' })
    await expectHidden('SAFE-01', '+1 555 0188')
    await expectAlike(['SAFE-01', 'NONE-03', 'NONE-04'], (name) =>
      send('subscribe', subscribeFor(peer, [about(name)])),
    )
  })
})

describe('under a consent', () => {
  const CONSENT = {
    ts: new Date(server.clock.date()).toISOString(),
    purpose: { text: 'Check', code: 'eligibility' },
  }
  const TERMS: Partial<GrantTerms> = {
    ...{ operations: ['search', 'txn-status'], basis: 'consent', purposes: ['eligibility'] },
    ...{ query_forms: ['identifier'], ask: [], see: ['identifier', 'name'], event_types: [], programmes: [] },
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
      const { got, sent } = await expectAlike(['SEEN-01', 'NONE-01'], (name) =>
        search({ ...uin(name), ...consent }, path),
      )
      expect(got).toContain('rjct.search_criteria.invalid')
      expect(sent.filter((text) => /\br\d+_/.test(text))).toEqual([])
    }
  })
})

describe('what is not granted is refused like what does not exist, and before a record is read', () => {
  const NARROW: Partial<GrantTerms> = {
    ...{ query_forms: 'all', ask: ['surname'], identifier_types: ['UIN'], see: ['identifier'] },
    ...{ event_types: ['Death'] },
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
    [
      'an identifier type',
      ['BRN', 'BRM'],
      (type) => ({ query_type: 'idtype-value', query: { type, value: 'B' } }),
    ],
    ['an identifier type in an expression', ['BRN', 'BRM'], compare],
    [
      'an event type',
      ['LiveBirth', 'LiveEarth'],
      (reg_event_type) => ({ ...uin('SEEN-01'), reg_event_type }),
    ],
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
      (name) => ({
        query_type: 'graphql',
        query: { type: 'graphql', value: `{ person(UIN: "SEEN-01") { ${name} } }` },
      }),
    ],
    [
      'an argument of graphql',
      ['sex', 'sax'],
      (name) => ({
        query_type: 'graphql',
        query: { type: 'graphql', value: `{ person(${name}: "F") { identifier } }` },
      }),
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
        subscribeFor(peer, [
          about('', { reg_event_type: 'Death', filter_type: 'expression', filter: { [name]: { $eq: 'F' } } }),
        ]),
      ),
    )
  })
})
