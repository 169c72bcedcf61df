/** Searches under a grant: what they may ask and see. No form of a query gets around the grant. */
import { describe, expect, it } from 'vitest'
import { accepted, byExpression, searchFor } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { byUin, expression, grantedServer, uins } from '../../granted.ts'
import { postSearch } from '../../server.ts'

const { server, peer, ask, item, granted, pagesOf } = await grantedServer()

describe('without a grant', () => {
  it('nothing is answered, whatever the message is', async () => {
    const stranger = await server.participant('stranger.demo')
    await server.database.db.pool.query(
      `update participant_grant set revoked_at = now()
       where participant = (select id from participant where sender_id = 'stranger.demo')`,
    )
    expectFault(
      await postSearch(server, stranger, [{ search_criteria: byUin('1') }]),
      403,
      'err.request.forbidden',
      'nothing in this registry is granted to this participant',
    )
  })

  it('of the operation, nor of one that has ended or has not begun', async () => {
    await granted({ operations: ['txn-status'] })
    expectFault(await ask(byUin('1')), 403, 'err.request.forbidden', 'this operation is not granted to this participant')
    const NOTHING = 'nothing in this registry is granted to this participant'
    await granted({ valid_from: '2020-01-01T00:00:00Z', valid_until: '2021-01-01T00:00:00Z' })
    expectFault(await ask(byUin('1')), 403, 'err.request.forbidden', NOTHING)
    await granted({ valid_from: '2100-01-01T00:00:00Z' })
    expectFault(await ask(byUin('1')), 403, 'err.request.forbidden', NOTHING)
  })
})

interface Found {
  readonly identifier: readonly { readonly identifier_value: string }[]
}

describe('asking', () => {
  it('is by the granted forms alone; what asks for identifiers alone is a look-up in every form', async () => {
    await granted({ query_forms: ['identifier'] })
    expect(uins(await item(byUin('1')))).toEqual(['1'])
    expect(uins(await item(expression({ UIN: { $eq: '1' } })))).toEqual(['1'])
    for (const criteria of [
      expression({ sex: { $eq: 'F' } }),
      { query_type: 'idtype-value', query: { sex: { $eq: 'F' } } },
      {
        query_type: 'predicate',
        query: [{ seq_num: 1, expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'F' } }],
      },
      { query_type: 'graphql', query: { type: 'graphql', value: '{ person(UIN: "1") { sex } }' } },
      expression({ UIN: { $eq: '1' } }, { sort: [{ attribute_name: 'birth_date', sort_order: 'asc' }] }),
      expression({ $or: [{ UIN: { $eq: '1' } }, { sex: { $eq: 'F' } }] }),
    ]) {
      expect(await item(criteria)).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message: 'search_criteria.query: this participant may ask by identifier only',
      })
    }
  })

  it('is by the granted attributes alone, by whichever name, path, sort or selection', async () => {
    await granted({ query_forms: 'all', ask: ['sex'] })
    expect(uins(await item(expression({ gender: { $eq: 'male' } })))).toEqual(['2'])
    for (const query of [
      { birth_date: { $gt: '1980' } },
      { dob: { $exists: true } },
      { age: { $gt: 40 } },
      { location: { $eq: 'Lagos' } },
      { 'address.locality': { $eq: 'Lagos' } },
      { $and: [{ sex: { $eq: 'F' } }, { surname: { $eq: 'Obi' } }] },
    ]) {
      const rejected = await item(expression(query))
      expect(rejected).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.search_criteria.invalid' })
      // The text that lists accepted members lists only askable ones.
      expect(rejected.status_reason_message.split('; those of ')[1]).not.toMatch(/birth_date|surname|age/)
    }
    expect(
      await item(expression({ sex: { $eq: 'F' } }, { sort: [{ attribute_name: 'birth_date', sort_order: 'asc' }] })),
    ).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.sort.invalid' })
  })

  it('hears the same of a name that does not exist and of one that is not granted', async () => {
    await granted({ query_forms: 'all', ask: ['sex'], identifier_types: ['UIN'] })
    const graphql = (value: string) => ({ query_type: 'graphql', query: { type: 'graphql', value } })
    const forms: readonly ((name: string) => object)[] = [
      (type) => ({ query_type: 'idtype-value', query: { type, value: '1' } }),
      (type) => expression({ identifier: { identifier_type: type, identifier_value: '1' } }),
      (name) => expression({ [name]: { $eq: '1' } }),
      (name) => expression({ sex: { $eq: 'F' } }, { sort: [{ attribute_name: name }] }),
      (attribute_name) => ({
        query_type: 'predicate',
        query: [{ seq_num: 1, expression1: { attribute_name, operator: 'eq', attribute_value: '1' } }],
      }),
      (name) => graphql(`{ person(${name}: "1") { sex } }`),
      (name) => graphql(`{ person(filter: { ${name}: { eq: "1" } }) { sex } }`),
    ]
    for (const form of forms) {
      const texts = new Set<string>()
      for (const name of ['NOSUCHNAME', 'NID', 'BRN', 'surname', 'death_date']) {
        const { status, status_reason_code, status_reason_message } = await item(form(name))
        expect(status).toBe('rjct')
        texts.add(`${status_reason_code} ${status_reason_message.replaceAll(name, '...')}`)
      }
      expect([...texts]).toHaveLength(1)
    }
  })

  it('is told so where nothing can be named', async () => {
    await granted({ event_types: [], ask: [], identifier_types: ['UIN', 'BRN'] })
    expect(await item({ ...byUin('1'), reg_event_type: 'Death' })).toMatchObject({
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria.reg_event_type: no event type can be named here',
    })
    const sort = [{ attribute_name: 'birth_date', sort_order: 'asc' }]
    await granted({ ask: [], identifier_types: ['BRN'] })
    const byBrn = { query_type: 'idtype-value', query: { type: 'BRN', value: 'B1' } }
    expect(await item({ ...byBrn, sort })).toMatchObject({
      status_reason_code: 'rjct.sort.invalid',
      status_reason_message: 'search_criteria.sort[0].attribute_name: nothing can be sorted by here',
    })
  })

  it('is not sorted by identifiers where these are asked for by their values only, or not at all', async () => {
    const sorted = expression({ sex: { $exists: true } }, { sort: [{ attribute_name: 'UIN', sort_order: 'desc' }] })
    await granted({ query_forms: 'all', ask: ['sex'] })
    expect(await item(sorted)).toMatchObject({
      status_reason_code: 'rjct.sort.invalid',
      status_reason_message:
        'search_criteria.sort: this participant may ask for identifiers by their values only: not in their order',
    })
    await granted({ query_forms: 'all', ask: 'all', identifier_types: ['BRN'] })
    expect(await item(sorted)).toMatchObject({ status_reason_code: 'rjct.sort.invalid' })
    await granted({ query_forms: 'all', ask: 'all' })
    const { data } = await item(sorted)
    expect(data.reg_records.map(({ identifier }: Found) => identifier[0]?.identifier_value)).toEqual(['3', '2', '1'])
  })

  it('is not sorted by what the grant does not let be seen, wherever it may stand', async () => {
    const sortedBy = (attribute_name: string) =>
      item(expression({ sex: { $exists: true } }, { sort: [{ attribute_name, sort_order: 'desc' }] }))
    const refusal = (name: string) => ({
      status_reason_code: 'rjct.sort.invalid',
      status_reason_message: `search_criteria.sort: this participant may sort by what it may see only, which ${name} is not`,
    })
    await granted({ query_forms: 'all', ask: 'all', see: ['birth_date', 'sex'] })
    expect(await sortedBy('UIN')).toMatchObject(refusal('UIN'))
    expect(await sortedBy('last_name')).toMatchObject(refusal('surname'))
    expect(await sortedBy('birth_date')).toMatchObject({ status: 'succ' })
    // An order by age is one by the birth date.
    expect(await sortedBy('age')).toMatchObject({ status: 'succ' })
    await granted({ query_forms: 'all', ask: 'all', see: ['identifier', 'name'] })
    expect(await sortedBy('UIN')).toMatchObject({ status: 'succ' })
    expect(await sortedBy('birth_date')).toMatchObject(refusal('birth_date'))
    expect(await sortedBy('age')).toMatchObject(refusal('birth_date'))
  })

  it('is not about everybody who bears an identifier, or another one', async () => {
    const queries = [
      { identifier_type: { $eq: 'UIN' } },
      { UIN: { $exists: true } },
      { UIN: { $ne: '0' } },
      { $or: [{ UIN: { $eq: '1' } }, { $not: { UIN: { $eq: '1' } } }] },
    ]
    await granted({ query_forms: ['expression'], ask: [] })
    for (const query of queries) {
      expect(await item(expression(query))).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message:
          'search_criteria.query: this participant may ask for identifiers by their values only: not for others than these, nor whether there is one',
      })
    }
    await granted({ query_forms: ['expression'], ask: 'all' })
    for (const query of queries) expect(await item(expression(query))).toMatchObject({ status: 'succ' })
  })

  it('is by the granted identifier types alone', async () => {
    await granted({ identifier_types: ['UIN'] })
    expect(uins(await item(byUin('2')))).toEqual(['2'])
    const byPhone = { query_type: 'idtype-value', query: { type: 'MOBILE', value: '+1 555 0100' } }
    expect(await item(byPhone)).toMatchObject({ status: 'rjct' })
    expect((await item(byPhone)).status_reason_message).not.toContain('BRN')
    // A question about "any identifier" is one about those that are granted.
    expect(uins(await item(expression({ identifier: { $eq: 'B-1' } })))).toEqual([])
    expect(uins(await item(expression({ identifier: { $eq: '1' } })))).toEqual(['1'])
  })

  it('finds records within the conditions of the grant, and counts no others', async () => {
    await granted({ query_forms: 'all', ask: 'all', rows: { Person: { sex: { $eq: 'F' } } } })
    const found = await item(expression({ location: { $eq: 'Lagos' } }))
    expect([uins(found), found.pagination.total_count]).toEqual([['1', '3'], 2])
    expect(uins(await item(byUin('2')))).toEqual([])
    expect(await item(byUin('2'))).toMatchObject({ status: 'succ', pagination: { total_count: 0 } })
  })
})

describe('seeing', () => {
  it('is what is granted', async () => {
    await granted({ see: ['identifier', 'sex'], identifier_types: ['UIN'] })
    expect((await item(byUin('3'))).data.reg_records).toEqual([
      { '@type': 'CRVS_Person', identifier: [{ identifier_type: 'UIN', identifier_value: '3' }], sex: 'F' },
    ])
  })

  it('is no more by a selection', async () => {
    await granted({ query_forms: 'all', ask: 'all', see: ['sex'] })
    const selecting = (selection: string) =>
      item({ query_type: 'graphql', query: { type: 'graphql', value: `{ person(UIN: "1") { ${selection} } }` } })
    expect((await selecting('sex')).data.reg_records).toEqual([{ sex: 'F' }])
    // Hidden members are refused like unknown ones, and the text lists only visible members.
    for (const name of ['birth_date', 'name', 'surname', 'BRN', 'no_such_field']) {
      expect(await selecting(`sex ${name}`), name).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message: `search_criteria.query.value.person.${name}: must be a field of Person: sex`,
      })
    }
    await granted({ query_forms: 'all', ask: 'all', see: ['surname', 'parents'] })
    expect((await selecting('name { surname } surname')).data.reg_records).toHaveLength(1)
    expect(await selecting('name { given_name }')).toMatchObject({
      status_reason_message: 'search_criteria.query.value.person.name.given_name: must be a field of Name: surname, last_name',
    })
  })

  it.each([
    ['exact', 2, 2],
    ['capped', 2, 2],
    ['rounded', 10, 10],
    ['none', 2, 2],
  ] as const)('counts %s', async (counts, onPageOfOne, onPageOfTwo) => {
    await granted({ query_forms: 'all', ask: 'all', counts })
    const total = async (page_size: number) =>
      (await item(expression({ sex: { $eq: 'F' } }, { pagination: { page_size, page_number: 1 } }))).pagination.total_count
    expect([await total(1), await total(2)]).toEqual([onPageOfOne, onPageOfTwo])
  })

  it.each([
    ['rounded', 10],
    ['none', 0],
  ] as const)('of nothing, with counts %s, has no record that could be counted', async (counts, total_count) => {
    await granted({ query_forms: 'all', ask: 'all', see: [], counts })
    const graphql = { type: 'graphql', value: '{ person(sex: "F") { __typename } }' }
    for (const criteria of [expression({ sex: { $eq: 'F' } }), { query_type: 'graphql', query: graphql }]) {
      const answer = await item(criteria)
      const status_reason_message = 'search_criteria: this participant is shown nothing of such records, so the answer has none'
      const nothing = { status: 'succ', status_reason_message, data: { reg_records: [] }, pagination: { total_count } }
      expect(answer).toMatchObject(nothing)
    }
    // Further pages would say by their number how many there are.
    const page = { pagination: { page_size: 1, page_number: 1 } }
    const id = await accepted(server, peer, searchFor(peer, [byExpression({ sex: { eq: 'F' } }, page)]))
    expect(await pagesOf(id)).toHaveLength(1)
    await granted({ query_forms: 'all', ask: 'all', see: ['sex'], counts })
    const other = await accepted(server, peer, searchFor(peer, [byExpression({ sex: { eq: 'F' } }, page)]))
    const pages = await pagesOf(other)
    expect(pages.map(({ pagination: { page_number, total_count } }) => [page_number, total_count]).toSorted()).toEqual([
      [1, 2],
      [2, 2],
    ])
  })

  it('a further page says, with counts none, up to where it goes', async () => {
    await granted({ query_forms: 'all', ask: 'all', counts: 'none' })
    const second = expression({ sex: { $eq: 'F' } }, { pagination: { page_size: 1, page_number: 2 } })
    expect(await item(second)).toMatchObject({ data: { reg_records: [{}] }, pagination: { page_number: 2, total_count: 2 } })
  })

  it('leaves out records of which nothing is shown where counts are not exact', async () => {
    await granted({ query_forms: 'all', ask: 'all', see: ['phone_number'], counts: 'none' })
    const found = await item(expression({ sex: { $eq: 'F' } }))
    expect([found.data.reg_records.length, found.pagination.total_count]).toEqual([1, 1])
  })

  it('is pages of the granted size', async () => {
    await granted({ query_forms: 'all', ask: 'all', page_size: 1 })
    expect(await item(expression({ sex: { $eq: 'F' } }))).toMatchObject({ pagination: { page_size: 1 } })
  })
})

describe('a daily quota', () => {
  const usedUp = (what: string) =>
    expect.stringMatching(
      new RegExp(
        `^search_criteria: the daily quota of ${what} that is granted to this participant is used up; it is free again from \\d{4}-\\d\\d-\\d\\dT00:00:00Z on$`,
      ),
    )

  it('is of a day in UTC, and takes all identifiers of an item or none', async () => {
    await server.database.db.pool.query('delete from grant_use')
    await granted({ query_forms: 'all', ask: 'all', items_per_day: 2 })
    expect(await item(expression({ UIN: { $in: ['1', '2', '3'] } }))).toMatchObject({ status: 'rjct' })
    expect(await item(expression({ UIN: { $in: ['1', '2'] } }))).toMatchObject({ status: 'succ' })
    expect(await item(byUin('1'))).toMatchObject({ status: 'rjct', status_reason_message: usedUp('items') })
    await server.database.db.pool.query('update grant_use set day = day - 1')
    expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
    await server.database.db.pool.query('delete from grant_use')
  })

  it('counts identifiers, not requests', async () => {
    await granted({ query_forms: 'all', ask: 'all', items_per_day: 3 })
    expect(await item(expression({ UIN: { $in: ['1', '2', '3'] } }))).toMatchObject({ status: 'succ' })
    expect(await item(byUin('1'))).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message: usedUp('items'),
    })
  })

  it('counts an identifier without a type once', async () => {
    await server.database.db.pool.query('delete from grant_use')
    await granted({ query_forms: 'all', ask: 'all', items_per_day: 3 })
    expect(uins(await item(expression({ identifier: { $in: ['1', '2'] } })))).toEqual(['1', '2'])
    // With its dashes it is a code, without them a telephone number.
    expect(await item(expression({ identifier: { $eq: '012-345-678' } }))).toMatchObject({ status: 'succ' })
    expect(await item(byUin('1'))).toMatchObject({ status: 'rjct', status_reason_message: usedUp('items') })
    await server.database.db.pool.query('delete from grant_use')
  })

  it('that is used up refuses an answer without records like one with them', async () => {
    await granted({ records_per_day: 1 })
    await server.database.db.pool.query('delete from grant_use')
    expect(await item(byUin('nobody'))).toMatchObject({ status: 'succ' })
    const [hit, miss] = [await item(byUin('1')), await item(byUin('nobody'))]
    expect(hit).toMatchObject({ status: 'rjct', status_reason_message: usedUp('records') })
    expect({ ...miss, timestamp: null }).toEqual({ ...hit, timestamp: null })
    await server.database.db.pool.query('delete from grant_use')
  })

  it('does not count the identifiers of the conditions of the grant', async () => {
    await server.database.db.pool.query('delete from grant_use')
    await granted({ items_per_day: 2, rows: { Person: { UIN: { $in: ['1', '2', '3', '4'] } } } })
    expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
    await server.database.db.pool.query('delete from grant_use')
  })

  it('counts records that are delivered, repeats included', async () => {
    await granted({ query_forms: 'all', ask: 'all', records_per_day: 3 })
    expect(await item(expression({ sex: { $eq: 'F' } }))).toMatchObject({ status: 'succ' })
    expect(await item(expression({ sex: { $eq: 'F' } }))).toMatchObject({ status: 'rjct' })
  })
})
