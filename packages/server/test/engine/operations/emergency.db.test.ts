/** The emergency part of a grant: more of one person, for a reason, few times a day, and never unnoticed. */

import { listEmergencies } from '@rollcall/admin/audit/list'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { auditing } from '../../../../settings/test/audit.ts'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { accepted, answerExchange, asyncPeer, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { postSearch, testServer } from '../../server.ts'
import { askStatus } from '../../txn-status.ts'

const server = await testServer()
afterAll(() => server.close())

const PHONE = '+1 555 0100'
const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi', given_name: uin },
  sex: 'F',
  birth_date: '1990-05-05',
  ...more,
})
await server.registry('civil', [
  person('1', { parent1_identifier: { identifier_type: 'UIN', identifier_value: '2' } }),
  person('2', { phone_number: [PHONE] }),
  person('3', { phone_number: [PHONE] }),
])
const peer = await asyncPeer(server, 'hospital.demo')

const REASON = 'Unconscious patient, ward 7'
const authorize = (more: object = {}) => ({ ts: new Date().toISOString(), purpose: { text: REASON, code: 'emergency' }, ...more })
const TERMS: Partial<GrantTerms> = {
  operations: ['search', 'txn-status'],
  query_forms: ['identifier', 'expression'],
  ask: ['sex'],
  see: ['birth_date'],
  basis: 'law',
  emergency: { see: ['name', 'parents'], items_per_day: 2 },
}

async function granted(terms: Partial<GrantTerms> = {}): Promise<void> {
  await grant(server.database, peer.sender_id, 'civil', { ...TERMS, ...terms })
  server.clock.pass(1_000)
}

const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
const items = async (...criteria: object[]) =>
  (
    await postSearch(
      server,
      peer,
      criteria.map((search_criteria) => ({ search_criteria })),
    )
  ).body.message.search_response
const item = async (criteria: object) => (await items(criteria))[0]
const CUT = { birth_date: '1990-05-05' }
const WIDE = {
  '@type': 'CRVS_Person',
  birth_date: '1990-05-05',
  name: { surname: 'Obi', given_name: '1' },
  parent1_identifier: { identifier_type: 'UIN', identifier_value: '2' },
}

beforeEach(() => server.database.db.pool.query('delete from grant_use'))

describe('an emergency', () => {
  it('shows what the grant shows, and more, and only the item that asks for it', async () => {
    await granted()
    const [ordinary, emergency] = await items(byUin('1'), { ...byUin('1'), authorize: authorize() })
    expect(ordinary.data.reg_records).toEqual([expect.objectContaining(CUT)])
    expect(ordinary.data.reg_records[0]).not.toHaveProperty('name')
    expect(emergency.data.reg_records).toEqual([WIDE])
  })

  it('is answered asynchronously as well', async () => {
    await granted()
    const search_criteria = { ...byUin('1'), authorize: authorize() }
    const correlation_id = await accepted(server, peer, searchFor(peer, [{ search_criteria }]))
    await answerExchange(server, correlation_id)
    await deliverAll(server)
    const replies = callbacksTo(peer.receiver).map(({ envelope }) => envelope.message)
    const reply = replies.find((message) => message.correlation_id === correlation_id)
    expect(reply?.search_response[0].data.reg_records).toEqual([WIDE])
    // A repeated answer shows what the grant itself shows.
    const asked = await askStatus(server, peer, 'correlation_id', correlation_id)
    expect(JSON.stringify(asked)).toContain('1990-05-05')
    expect(JSON.stringify(asked)).not.toContain('Obi')
  })

  it('stands in place of the consent that the grant demands', async () => {
    await granted({ basis: 'consent', purposes: ['eligibility'], query_forms: ['identifier'] })
    expect(await item({ ...byUin('1'), authorize: authorize() })).toMatchObject({ data: { reg_records: [WIDE] } })
    expect(await item(byUin('1'))).toMatchObject({ status: 'rjct' })
  })

  it('is about one person', async () => {
    await granted()
    const byPhone = { query_type: 'idtype-value', query: { type: 'MOBILE', value: PHONE } }
    expect((await item(byPhone)).data.reg_records).toHaveLength(2)
    expect(await item({ ...byPhone, authorize: authorize() })).toMatchObject({
      status: 'succ',
      data: { reg_records: [] },
      pagination: { total_count: 0 },
    })
    for (const query of [{ UIN: { $in: ['1', '2'] } }, { sex: { $eq: 'F' } }]) {
      const asked = { query_type: 'expression', query, authorize: authorize() }
      expect(await item(asked)).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.search_criteria.invalid' })
    }
  })

  it('is not about a household, which the identifier of a member finds', async () => {
    const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
    const group_identifier = [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }]
    const member_list = ['1', '2'].map((value) => ({ member_identifier: [uin(value)] }))
    await server.registry('social', [{ '@type': 'Group', group_identifier, member_list }])
    await grant(server.database, peer.sender_id, 'social', {
      operations: ['search'],
      see: ['identifier'],
      basis: 'law',
      emergency: { see: ['member_list'], items_per_day: 9 },
    })
    server.clock.pass(1_000)
    const search_criteria = { ...byUin('1'), reg_record_type: 'Group', authorize: authorize() }
    const { body } = await postSearch(server, peer, [{ search_criteria }], 'social')
    expect(body.message.search_response[0]).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria.reg_record_type: must not be Group in an emergency, which is about one person',
    })
  })

  it('takes from its own quota, and goes on when the ordinary ones are used up', async () => {
    await granted({ items_per_day: 1, records_per_day: 1 })
    expect(await item(byUin('1'))).toMatchObject({ status: 'succ' })
    const asked = { ...byUin('1'), authorize: authorize() }
    for (const status of ['succ', 'succ', 'rjct']) expect(await item(asked)).toMatchObject({ status })
    expect(await item(asked)).toMatchObject({
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message: expect.stringMatching(
        /^search_criteria: the daily quota of emergencies that is granted to this participant is used up; it is free again from \d{4}-\d\d-\d\dT00:00:00Z on$/,
      ),
    })
  })

  const OF_NOW = 'search_criteria.authorize.ts: must be of the last 24 hours in an emergency'
  const WHY = 'search_criteria.authorize.purpose.text: must say the reason of the emergency, in 10 to 1000 characters'
  it.each([
    ['no time', { ts: undefined }, OF_NOW],
    ['a time of long ago', { ts: '2026-01-01T00:00:00Z' }, OF_NOW],
    ['a time of the future', { ts: '2100-01-01T00:00:00Z' }, OF_NOW],
    ['no reason', { purpose: { code: 'emergency' } }, WHY],
    ['a reason of blanks', { purpose: { code: 'emergency', text: ' '.repeat(40) } }, WHY],
    ['a word', { purpose: { code: 'emergency', text: 'urgent' } }, WHY],
    ['a novel', { purpose: { code: 'emergency', text: 'x'.repeat(1_001) } }, WHY],
  ])('is refused with %s', async (_, more, message) => {
    await granted()
    expect(await item({ ...byUin('1'), authorize: authorize(more) })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: message,
    })
  })

  it.each([
    ['a reason that is a number', { purpose: { code: 'emergency', text: 5 } }, 'purpose.text'],
    ['a list as its time', { ts: [new Date().toISOString()] }, 'ts'],
  ])('is refused with %s, and the item beside it is answered', async (_, more, member) => {
    await granted({ query_forms: ['identifier', 'graphql'] })
    const query = { query_type: 'graphql', query: '{ person(UIN: "1") { birth_date } }' }
    const [refused, good] = await items({ ...query, authorize: authorize(more) }, byUin('1'))
    expect(refused).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: `search_criteria.authorize.${member}: must be a string`,
    })
    expect(good.data.reg_records).toEqual([expect.objectContaining(CUT)])
  })

  it('needs authorize, the purpose and a grant with such a part', async () => {
    await granted()
    const { purpose, ts } = authorize()
    for (const member of [{ consent: { purpose, ts } }, { authorize: { ts, purpose: { ...purpose, code: 'x' } } }]) {
      expect((await item({ ...byUin('1'), ...member })).data.reg_records[0]).not.toHaveProperty('name')
    }
    const { emergency: _, ...without } = TERMS
    await grant(server.database, peer.sender_id, 'civil', without)
    server.clock.pass(1_000)
    const found = await item({ ...byUin('1'), authorize: authorize() })
    expect(found.data.reg_records[0]).not.toHaveProperty('name')
  })

  it('waits in the audit log for a review, with its reason', async () => {
    await granted()
    await items(byUin('2'), { ...byUin('1'), authorize: authorize() })
    const waiting = await listEmergencies(acting(auditing(server.database).deps), {})
    expect(waiting.at(-1)).toMatchObject({
      participant: 'hospital.demo',
      registry: 'civil',
      operation: 'search',
      emergency: true,
      reason: REASON,
      reviews: [],
      records: 2,
      shown: { Person: expect.arrayContaining(['name.surname']) },
    })
    expect(JSON.stringify(await storedEntries(server.database.db))).not.toContain(REASON)
  })

  it('waits for no review where it was rejected: nothing was shown', async () => {
    await granted({ emergency: { see: ['name'], items_per_day: 1 } })
    const { deps } = auditing(server.database)
    const asked = { ...byUin('1'), authorize: authorize() }
    expect(await item(asked)).toMatchObject({ status: 'succ' })
    const before = await listEmergencies(acting(deps), {})
    const bySex = { query_type: 'expression', query: { sex: { $eq: 'F' } }, authorize: authorize() }
    for (const rejected of [asked, bySex]) expect(await item(rejected)).toMatchObject({ status: 'rjct' })
    expect(await listEmergencies(acting(deps), {})).toEqual(before)
  })

  it('is told to the operator at once, without a word about the person', async () => {
    await granted()
    const before = server.logged().length
    await item({ ...byUin('1'), authorize: authorize() })
    const lines = server
      .logged()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('the emergency part of a grant was used'))
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', participant: 'hospital.demo', registry: 'civil' })
    expect(server.logged()).not.toContain(REASON)
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/rollcall_emergencies_total\{participant="hospital.demo",registry="civil"\} \d/)
  })

  it('reaches no protected person, also where the grant names the category', async () => {
    await granted({ protected: ['shelter'], emergency: { see: 'all', items_per_day: 9 } })
    await protectPerson(acting(server.database), {
      namespace: 'civil',
      identifier_type: 'UIN',
      identifier_value: '3',
      category: 'shelter',
      reason: 'a test',
    })
    server.clock.pass(1_000)
    expect((await item(byUin('3'))).data.reg_records).toHaveLength(1)
    expect(await item({ ...byUin('3'), authorize: authorize() })).toMatchObject({
      status: 'succ',
      data: { reg_records: [] },
      pagination: { total_count: 0 },
    })
  })
})
