/** The forms in which a search may ask, and what it answers. */
import { describe, expect, it } from 'vitest'
import { HOUSEHOLD, MEMBER, PEOPLE, searchedServer, uins } from '../../searched.ts'
import { bearer, post, searchRequest } from '../../server.ts'

const { server, peer, askOne } = await searchedServer()

describe('the identifier form', () => {
  it.each([
    [{ type: 'UIN', value: '007' }],
    [{ type: 'uin', value: ' 007 ' }],
    [{ type: 'ns:org:IdentifierType:UIN', value: '007' }],
    [{ identifier_type: 'UIN', identifier_value: '007' }],
    [{ type: 'idtype-value', value: { id_type: 'UIN', id_value: '007' } }],
    [{ field: 'UIN', operator: 'eq', value: '007' }],
  ])('%j', async (query) => {
    expect(uins(await askOne({ query }))).toEqual(['007'])
  })

  it('the older word idtype', async () => {
    expect(uins(await askOne({ query_type: 'idtype' }))).toEqual(['007'])
  })

  it('the shape decides when query_type says otherwise', async () => {
    expect(uins(await askOne({ query_type: 'expression' }))).toEqual(['007'])
  })

  it('a number is read by its digits, and refused where it would be rounded', async () => {
    const body = (digits: string) =>
      JSON.stringify(
        searchRequest(peer.sender_id, { type: 'UIN', value: 'DIGITS' }, { item: { timestamp: new Date().toISOString() } }),
      ).replace('"DIGITS"', digits)
    const url = `${server.url}/civil/v1.0.0/registry/sync/search`
    const exact = await post(url, body('9007199254740992'), bearer(peer))
    expect(uins(exact.body.message.search_response[0])).toEqual(['9007199254740992'])
    const rounded = await post(url, body('9007199254740993'), bearer(peer))
    expect(rounded.status).toBe(400)
    expect(rounded.body.message.error).toMatchObject({
      code: 'err.request.bad',
      message:
        'message.search_request[0].search_criteria.query.value: the number cannot be kept as it is written; write it as a string',
    })
  })

  it('no hit is an empty array and a true total', async () => {
    const item = await askOne({ query: { type: 'UIN', value: '7' } })
    expect(item).toMatchObject({
      status: 'succ',
      data: { reg_records: [] },
      pagination: { page_size: 10, page_number: 1, total_count: 0 },
    })
  })

  it.each([
    "' or 1=1 --",
    '%',
    '_',
    '$.identifier[*]',
    '\\',
    '"; drop table registry; --',
    '*',
    '{}',
    "$1 'x' || pg_sleep(9)",
    '../../etc/passwd',
  ])('%j is a value like any other', async (value) => {
    const item = await askOne({ query: { type: 'UIN', value } })
    expect(item.status).toBe('succ')
    expect(item.data.reg_records).toEqual([])
  })

  it('the record is answered as it is held', async () => {
    const item = await askOne({ query: { type: 'UIN', value: '9007199254740992' } })
    expect(item.data.reg_records).toEqual([PEOPLE[4]])
  })
})

describe('every form finds the same', () => {
  const comparison = { attribute_name: 'birth_date', operator: 'gt', attribute_value: '1995' }
  const expression = { collection: 'Person', query: { birth_date: { $gt: '1995' } } }
  it.each([
    [{ type: 'UIN', value: '2' }],
    [[{ seq_num: 1, expression1: comparison }]],
    [{ type: 'predicate', value: [{ expression1: comparison }] }],
    [comparison],
    [{ type: 'ns:org:QueryType:NoSql', value: { expression } }],
    [{ type: 'expression', value: { expression: JSON.stringify(expression) } }],
    [{ birth_date: { gt: '1995' } }],
  ])('%j', async (query) => {
    expect(uins(await askOne({ query }))).toEqual(['2'])
  })

  it('GraphQL, in the shape of its selection', async () => {
    const query = { query: '{ person(birth_date: {gt: "1995"}) { name { given_name } } }' }
    expect((await askOne({ query_type: 'graphql', query })).data.reg_records).toEqual([{ name: { given_name: '2' } }])
  })

  it('the query names the record type where the criteria name none', async () => {
    const item = await askOne({ query: { collection: 'Group', query: { UIN: 'U-7' } } }, {}, 'social')
    expect(item.data).toMatchObject({ reg_record_type: 'Group', reg_records: [HOUSEHOLD] })
    const criteria = { reg_record_type: 'Member', query: { collection: 'Group', query: { UIN: 'U-7' } } }
    expect(await askOne(criteria, {}, 'social')).toMatchObject({
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria.query.collection: must mean the same record type as the criteria around the query',
    })
  })
})

describe('what is asked for and answered', () => {
  it.each([
    [{ reg_type: 'ns:org:RegistryType:CRVS' }, { reg_type: 'ns:org:RegistryType:CRVS', reg_record_type: 'Person' }],
    [
      { reg_record_type: 'spdci-extensions-dci:Person' },
      { reg_type: 'ns:org:RegistryType:Civil', reg_record_type: 'spdci-extensions-dci:Person' },
    ],
    [{ reg_event_type: 'spdci-common:RegistryEventType:LiveBirth' }, { reg_record_type: 'Person' }],
  ])('%j is answered in the spelling asked', async (criteria, data) => {
    expect((await askOne(criteria)).data).toMatchObject(data)
  })

  it('a member asked as Group gives the household, as Member the person', async () => {
    const query = { type: 'UIN', value: 'U-7' }
    const group = await askOne({ query, response_entity: 'Group' }, {}, 'social')
    expect(group.data).toMatchObject({ reg_record_type: 'Group', reg_records: [HOUSEHOLD] })
    const member = await askOne({ query, reg_record_type: 'SRPerson' }, {}, 'social')
    expect(member.data).toMatchObject({ reg_record_type: 'SRPerson', reg_records: [MEMBER] })
    expect((await askOne({ query }, {}, 'social')).data).toMatchObject({ reg_record_type: 'Member', reg_records: [MEMBER] })
  })

  it('two names of the result must mean the same', async () => {
    const criteria = { query: { type: 'UIN', value: 'U-7' }, reg_record_type: 'Member', response_entity: 'Group' }
    expect(await askOne(criteria, {}, 'social')).toMatchObject({
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria.response_entity: must mean the same record type as reg_record_type',
    })
  })
})
