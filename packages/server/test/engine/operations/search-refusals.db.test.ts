/** Items that are refused because of what they ask for, with the text that says why. */
import { describe, expect, it } from 'vitest'
import { searchedServer, uins } from '../../searched.ts'
import { postSearch } from '../../server.ts'

const { server, peer, askOne } = await searchedServer()

describe('rjct.search_criteria.invalid', () => {
  const types = 'UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID, MOBILE, EMAIL'
  const badValue = 'search_criteria.query.value: must be a string of 1 to 256 characters or a whole number'
  const shape = 'search_criteria.query: must be an object or an array'
  const attributes = 'is no attribute that this participant may ask about; those of Person are '
  it.each([
    ['unknown identifier type', { query: { type: 'SHOE', value: '9' } }, `search_criteria.query.type: must be one of ${types}`],
    [
      'the type of another kind',
      { query: { type: 'HOUSEHOLD_ID', value: 'H' } },
      `search_criteria.query.type: must be one of ${types}`,
    ],
    ['a type that is no text', { query: { type: 5, value: '9' } }, `search_criteria.query.type: must be one of ${types}`],
    ['__proto__ as type', { query: { type: '__proto__', value: '9' } }, `search_criteria.query.type: must be one of ${types}`],
    ['no value', { query: { type: 'UIN' } }, badValue],
    [
      'a third member',
      { query: { type: 'UIN', value: '007', sex: 'female' } },
      'search_criteria.query.sex: is not a known member; known members are type, value',
    ],
    ['another operator', { query: { field: 'UIN', operator: 'gt', value: '0' } }, 'search_criteria.query.operator: must be eq'],
    ['no query', { query: undefined }, shape],
    ['a query that is a number', { query: 7 }, shape],
    [
      'a list without expression1',
      { query_type: 'predicate', query: [{ seq_num: 1 }] },
      'search_criteria.query[0].expression1: must be an object {attribute_name, operator, attribute_value}',
    ],
    [
      'an unknown attribute',
      { query: { type: 'expression', value: { expression: { query: { shoe_size: 9 } } } } },
      new RegExp(`^search_criteria\\.query\\.value\\.expression\\.query\\.shoe_size: ${attributes}surname, `),
    ],
    [
      'an unknown collection',
      { query: { collection: 'Shoe', query: { sex: 'F' } } },
      'search_criteria.query.collection: must be one of Person',
    ],
    ['null as value', { query: { type: 'UIN', value: null } }, badValue],
    ['true as value', { query: { type: 'UIN', value: true } }, badValue],
    ['an array as value', { query: { type: 'UIN', value: ['007'] } }, badValue],
    ['a fraction', { query: { type: 'UIN', value: 0.5 } }, badValue],
    ['a rounded number', { query: { type: 'UIN', value: 1e21 } }, badValue],
    ['an empty value', { query: { type: 'UIN', value: ' ' } }, badValue],
    ['a long value', { query: { type: 'UIN', value: '7'.repeat(257) } }, badValue],
    [
      'an unknown query_type',
      { query_type: 'namedQuery' },
      'search_criteria.query_type: must be one of idtype-value, expression, predicate, graphql',
    ],
    [
      'no query_type',
      { query_type: undefined },
      'search_criteria.query_type: must be one of idtype-value, expression, predicate, graphql',
    ],
    [
      'a foreign reg_type',
      { reg_type: 'ns:org:RegistryType:IBR' },
      'search_criteria.reg_type: this registry is ns:org:RegistryType:Civil',
    ],
    ['a foreign record type', { reg_record_type: 'Farmer' }, 'search_criteria.reg_record_type: must be one of Person'],
    ['a foreign entity', { response_entity: 'Group' }, 'search_criteria.response_entity: must be one of Person'],
    ['an unknown event', { reg_event_type: 'Coronation' }, /^search_criteria\.reg_event_type: must be one of LiveBirth, Death, /],
    ['a misspelt member', { queri: {} }, 'search_criteria.queri: is not known; query may be meant'],
    [
      'a member in another style',
      { regRecordType: 'Person' },
      'search_criteria.regRecordType: is not known; reg_record_type may be meant',
    ],
    [
      'a star for the rest of a name',
      { query_type: 'expression', query: { given_name: 'Mar*' } },
      /^search_criteria\.query\.given_name: must not have "\*" for other characters: ask with \$startsWith or \$contains$/,
    ],
    ['another version', { version: '3.0' }, 'search_criteria.version: must be 1.0.0'],
    ['consent that is text', { consent: 'yes' }, 'search_criteria.consent: must be an object'],
    ['consent that is a list', { consent: [] }, 'search_criteria.consent: must be an object'],
    ['a purpose that is text', { consent: { purpose: 'help' } }, 'search_criteria.consent.purpose: must be an object'],
    [
      'a purpose that is a list',
      { authorize: { purpose: [{ text: 'help' }] } },
      'search_criteria.authorize.purpose: must be an object',
    ],
    [
      'a text of a purpose that is a number',
      { consent: { purpose: { text: 1 } } },
      'search_criteria.consent.purpose.text: must be a string',
    ],
    [
      'a code of a purpose that is a list',
      { authorize: { purpose: { code: ['x'] } } },
      'search_criteria.authorize.purpose.code: must be a string',
    ],
    [
      'a ref_uri that is no address',
      { consent: { purpose: { ref_uri: 'see above' } } },
      'search_criteria.consent.purpose.ref_uri: must be an absolute URI',
    ],
    [
      'a refUri that is no address',
      { authorize: { purpose: { refUri: 7 } } },
      'search_criteria.authorize.purpose.ref_uri: must be a string',
    ],
    ['a time that is a number', { consent: { ts: 5 } }, 'search_criteria.consent.ts: must be a string'],
  ])('%s', async (_name, criteria, message) => {
    const item = await askOne(criteria)
    expect(item).toEqual({
      reference_id: 'r-0',
      timestamp: expect.any(String),
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  it('a misspelt member of pagination', async () => {
    expect(await askOne({ pagination: { page_size: 1, pageNumber: 2 } })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.pagination.invalid',
      status_reason_message: 'search_criteria.pagination.pageNumber: is not known; page_number may be meant',
    })
    expect(await askOne({}, { pagination: { page_size: 1, page_numbr: 2 } })).toMatchObject({
      status: 'rjct',
      status_reason_message: 'pagination.page_numbr: is not known; page_number may be meant',
    })
  })

  it('an attribute of another record type names it', async () => {
    const criteria = { query_type: 'expression', query: { group_size: { gt: 3 } } }
    expect(await askOne({ ...criteria }, {}, 'social')).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: expect.stringMatching(
        /is no attribute that this participant may ask about; those of Member are .*; it is one of Group: ask with response_entity: Group$/,
      ),
    })
    const list = [{ expression1: { attribute_name: 'group_size', operator: 'gt', attribute_value: 3 } }]
    expect(await askOne({ query_type: 'predicate', query: list }, {}, 'social')).toMatchObject({
      status_reason_message: expect.stringMatching(/; it is one of Group: ask with response_entity: Group$/),
    })
    expect((await askOne({ ...criteria, response_entity: 'Group' }, {}, 'social')).status).toBe('succ')
  })

  it.each([
    { consent: '', authorize: {} },
    { consent: { purpose: '' }, authorize: { purpose: {} } },
    { consent: { ts: '2026-02-03T09:15:00Z', purpose: { text: 'help', code: 'C', ref_uri: 'https://a.example/p' } } },
    { consent: { '@type': 'Consent', id: 1, purpose: { id: 'c-1', refUri: 'urn:x:1', text: '' } } },
    { authorize: { consent_jws: 'a.b.c', purpose: { text: 'help', extra: [] } } },
  ])('consent and authorize as they are written: %j', async (criteria) => {
    expect(uins(await askOne(criteria))).toEqual(['007'])
  })

  it.each([[undefined], ['text'], [[]], [null]])('search_criteria as %j', async (search_criteria) => {
    const answer = await postSearch(server, peer, [{ search_criteria }])
    expect(answer.body.message.search_response[0]).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria: must be an object',
    })
  })
})

it.each(['filter', 'Filters', 'where', 'predicate'])('a filter beside the query: %s', async (member) => {
  const query = { type: 'UIN', value: '2' }
  expect(await askOne({ query, [member]: { sex: 'female' } })).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.search_criteria.invalid',
    status_reason_message: `search_criteria.${member}: is not read; write the query into search_criteria.query`,
  })
  expect(uins(await askOne({ query, 'x-origin': 'form 7' }))).toEqual(['2'])
})

it('a graphql query whose directive has the variable null, and not the item beside it', async () => {
  const text = 'query($x: Boolean = true) { person(UIN: "007") { sex @include(if: $x) } }'
  const asked = [
    { query_type: 'graphql', query: { query: text, variables: { x: null } } },
    { query_type: 'idtype-value', query: { type: 'UIN', value: '007' } },
  ]
  const items = asked.map((search_criteria) => ({ search_criteria }))
  const [refused, answered] = (await postSearch(server, peer, items)).body.message.search_response
  expect(refused).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.search_criteria.invalid',
    status_reason_message: 'search_criteria.query.query.person: the argument "if" of a directive must be true or false',
  })
  expect(uins(answered)).toEqual(['007'])
})

describe('rjct.filter.invalid', () => {
  it.each([
    ['UIN=007', 'search_criteria.query: must be GraphQL or JSON text'],
    [
      { type: 'expression', value: { expression: '{"sex": "F", "sex": "M"}' } },
      'search_criteria.query.value.expression: must be JSON that can be read: sex: the member name occurs twice in one object',
    ],
  ])('a text that cannot be parsed: %j', async (query, message) => {
    expect(await askOne({ query })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.filter.invalid',
      status_reason_message: message,
    })
  })
})
