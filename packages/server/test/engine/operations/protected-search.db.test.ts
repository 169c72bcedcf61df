/** A protected person is answered about as somebody who is not there, whichever way is tried. */

import { listProtectedPersons, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { addAttribute } from '@rollcall/admin/registries/attributes'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { accepted, answerExchange, asyncPeer, byExpression, byIdentifier, deliverAll, searchFor } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { postSearch, testServer, writeDocuments } from '../../server.ts'
import { askStatus } from '../../txn-status.ts'

const server = await testServer()
afterAll(() => server.close())
const { db } = server.database

const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const nid = (value: string) => ({ identifier_type: 'NID', identifier_value: value })
const person = (value: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [uin(value), nid(`N-${value}`)],
  name: { surname: 'Obi', given_name: value },
  sex: 'female',
  birth_date: '1990-05-05',
  ...more,
})
const PEOPLE = [
  person('U-1001'),
  person('U-1002', { parent1_identifier: nid('N-U-1001'), spouse_identifier: uin('U-1001') }),
  person('U-1003', { phone_number: ['+1 555 0100'] }),
]
const member = (value: string, more: object = {}) => ({
  '@type': 'Member',
  member_identifier: [uin(value)],
  demographic_info: { name: { surname: 'Obi', given_name: value }, sex: 'female', birth_date: '1990-05-05' },
  ...more,
})
const household = (more: object) => ({
  '@type': 'Group',
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }],
  ...more,
})
await server.registry('civil', PEOPLE)
await server.registry('social', [
  member('U-1001'),
  member('U-1002', { related_person: [{ relationship_type: 'spouse', related_member: { member_identifier: [uin('U-1001')] } }] }),
  household({
    group_size: 2,
    group_head_info: member('U-1001', { is_disabled: true }),
    member_list: [member('U-1001', { is_disabled: true }), member('U-1002')],
  }),
])
const peer = await asyncPeer(server, 'spmis.demo')
const shelter = await server.participant('shelter.demo', {}, { protected: ['shelter'] })

const protect = (namespace: string, value = 'U-1001') =>
  protectPerson(acting({ db }), {
    namespace,
    identifier_type: 'uin',
    identifier_value: value,
    category: 'shelter',
    reason: 'Order 7',
  })
const unprotect = (namespace: string, value = 'U-1001') =>
  unprotectPerson(acting({ db }), { namespace, identifier_type: 'UIN', identifier_value: value })
const follow = () => server.clock.pass(1_000)
async function granted(terms: Partial<GrantTerms>, namespace = 'civil'): Promise<void> {
  await grant(server.database, peer.sender_id, namespace, terms)
  follow()
}
const items = async (searches: readonly object[], namespace = 'civil', by: typeof shelter = peer) =>
  (await postSearch(server, by, searches, namespace)).body.message.search_response
const recordsOf = async (search: object, namespace = 'civil', by: typeof shelter = peer) => {
  const [item] = await items([search], namespace, by)
  expect(item.status, JSON.stringify(item)).toBe('succ')
  expect(item.data.reg_records.length).toBeLessThanOrEqual(item.pagination.total_count)
  return item.data.reg_records
}
const GROUP = { reg_record_type: 'Group' }
const masked = (item: object) => JSON.stringify({ ...item, reference_id: '', timestamp: '' })

describe('a protected person', () => {
  it('is found until it is protected, and again when that is lifted', async () => {
    expect(await recordsOf(byIdentifier('UIN', 'U-1001'))).toHaveLength(1)
    expect(await protect('civil')).toEqual({ namespace: 'civil', category: 'shelter', records: 1, rewritten: 0, withdrawn: 0 })
    // The record is hidden at once, without waiting for anything that is remembered.
    expect(await recordsOf(byIdentifier('UIN', 'U-1001'))).toEqual([])
    follow()
    expect(await recordsOf(byIdentifier('UIN', 'U-1001'), 'civil', shelter)).toHaveLength(1)
    expect(await unprotect('civil')).toEqual({ namespace: 'civil', rewritten: 0 })
    follow()
    expect(await recordsOf(byIdentifier('UIN', 'U-1001'))).toHaveLength(1)
    expect(await recordsOf(byIdentifier('UIN', 'U-1002'))).toEqual([PEOPLE[1]])
  })

  it('is answered about as an unknown one, by every form, count, sort and page', async () => {
    await protect('civil')
    follow()
    const everybody = byExpression({ surname: { $eq: 'Obi' } })
    const [by, unknown, all, sorted, page, negated] = await items([
      byIdentifier('UIN', 'U-1001'),
      byIdentifier('UIN', 'U-9999'),
      everybody,
      byExpression({ surname: { $eq: 'Obi' } }, { sort: [{ attribute_name: 'given_name', sort_order: 'asc' }] }),
      byExpression({ surname: { $eq: 'Obi' } }, { pagination: { page_size: 1, page_number: 3 } }),
      byExpression({ $not: { given_name: { $eq: 'U-1002' } } }),
    ])
    expect(masked(by)).toBe(masked(unknown))
    expect(all.pagination.total_count).toBe(2)
    expect(sorted.data.reg_records.map(({ name }: { name: { given_name: string } }) => name.given_name)).toEqual([
      'U-1002',
      'U-1003',
    ])
    expect(page).toMatchObject({ data: { reg_records: [] }, pagination: { total_count: 2 } })
    expect(negated.pagination.total_count).toBe(1)
    const graphql = (value: string) => ({
      search_criteria: { query_type: 'graphql', query: { type: 'graphql', value: `{ person(UIN: "${value}") { sex } }` } },
    })
    const [hidden, nobody] = await items([graphql('U-1001'), graphql('U-9999')])
    expect(masked(hidden)).toBe(masked(nobody))
  })

  it('is named by no other record, whichever identifier it bears there', async () => {
    const { parent1_identifier: _, spouse_identifier: __, ...alone } = PEOPLE[1] as Record<string, unknown>
    expect(await recordsOf(byIdentifier('UIN', 'U-1002'))).toEqual([alone])
    expect(await recordsOf(byIdentifier('UIN', 'U-1002'), 'civil', shelter)).toEqual([PEOPLE[1]])
    await granted({ see: ['identifier', 'parents'] })
    expect(await recordsOf(byIdentifier('UIN', 'U-1002'))).toEqual([
      { '@type': 'CRVS_Person', identifier: [uin('U-1002'), nid('N-U-1002')] },
    ])
    await granted({})
  })

  it('stays protected when it is imported again, with what it bears then; so does a reference that comes later', async () => {
    const registry = await requireRegistry(db, 'civil')
    await writeDocuments(server.database, registry, [person('U-1001', { identifier: [uin('U-1001'), nid('N-NEW')] })])
    follow()
    expect(await recordsOf(byIdentifier('UIN', 'U-1001'))).toEqual([])
    expect(await recordsOf(byIdentifier('NID', 'N-NEW'))).toEqual([])
    await writeDocuments(server.database, registry, [person('U-1003', { parent2_identifier: nid('N-NEW') })])
    expect(await recordsOf(byIdentifier('UIN', 'U-1003'))).toEqual([person('U-1003')])
    await writeDocuments(server.database, registry, PEOPLE)
  })

  it('is protected before its record is there', async () => {
    expect(await protect('civil', 'U-2001')).toMatchObject({ records: 0, rewritten: 0 })
    const registry = await requireRegistry(db, 'civil')
    await writeDocuments(server.database, registry, [person('U-2001')])
    follow()
    expect(await recordsOf(byIdentifier('NID', 'N-U-2001'))).toEqual([])
    await unprotect('civil', 'U-2001')
    follow()
    expect(await recordsOf(byIdentifier('NID', 'N-U-2001'))).toHaveLength(1)
  })

  it('is listed without who it is, unless the operator asks', async () => {
    const row = { category: 'shelter', identifier_type: 'UIN', records: 1, protected_at: expect.any(String) }
    expect(await listProtectedPersons(acting({ db }), { namespace: 'civil' })).toEqual([
      { ...row, identifier_value: null, reason: null },
    ])
    expect(await listProtectedPersons(acting({ db }), { namespace: 'civil', identifiers: true })).toEqual([
      { ...row, identifier_value: 'U-1001', reason: 'Order 7' },
    ])
  })

  it.each([
    [
      'twice',
      { identifier_value: 'N-U-1001', identifier_type: 'NID' },
      'identifier: the person is protected already; lift that protection first',
    ],
    [
      'by a telephone',
      { identifier_type: 'MOBILE' },
      'identifier_type: must be one of UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID',
    ],
    ['by no identifier', { identifier_value: ' ' }, 'identifier_value: must be a valid UIN'],
  ])('cannot be protected %s', async (_, changes, message) => {
    const input = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'U-1001', category: 'sealed' as const }
    await expect(protectPerson(acting({ db }), { ...input, reason: 'x', ...changes })).rejects.toThrow(message)
  })

  it('has a category of the list; a grant names no other', async () => {
    const input = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'U-1003', reason: 'x' }
    const category = 'famous' as 'sealed'
    await expect(protectPerson(acting({ db }), { ...input, category })).rejects.toThrow('category: must be one of')
    await expect(unprotect('civil', 'U-1003')).rejects.toThrow('identifier: no protected person has it')
  })
})

describe('a household with a protected member', () => {
  it('is not found by the member, nor by what the member is, and does not show or count it', async () => {
    expect(await protect('social')).toMatchObject({ records: 1, rewritten: 1 })
    follow()
    const without = household({ group_size: 1, member_list: [member('U-1002')] })
    expect(await recordsOf(byIdentifier('HOUSEHOLD_ID', 'H-1', GROUP), 'social')).toEqual([without])
    expect(await recordsOf(byIdentifier('UIN', 'U-1002', GROUP), 'social')).toEqual([without])
    expect(await recordsOf(byIdentifier('UIN', 'U-1001', GROUP), 'social')).toEqual([])
    expect(await recordsOf(byExpression({ group_size: { $eq: 2 } }, GROUP), 'social')).toEqual([])
    expect(await recordsOf(byExpression({ group_size: { $eq: 1 } }, GROUP), 'social')).toEqual([without])
    expect(await recordsOf(byExpression({ 'household_member.is_disabled': { $eq: true } }, GROUP), 'social')).toEqual([])
    expect(await recordsOf(byIdentifier('UIN', 'U-1002'), 'social')).toEqual([member('U-1002')])
  })

  it('is shown whole to whom the category is granted', async () => {
    const [found] = await recordsOf(byIdentifier('HOUSEHOLD_ID', 'H-1', GROUP), 'social', shelter)
    expect(found).toMatchObject({ group_size: 2, group_head_info: { member_identifier: [uin('U-1001')] } })
  })

  it('is found as before when the protection is lifted', async () => {
    await unprotect('social')
    follow()
    expect(await recordsOf(byIdentifier('UIN', 'U-1001', GROUP), 'social')).toHaveLength(1)
    expect(await recordsOf(byExpression({ 'household_member.is_disabled': { $eq: true } }, GROUP), 'social')).toHaveLength(1)
    expect(await recordsOf(byExpression({ group_size: { $eq: 2 } }, GROUP), 'social')).toHaveLength(1)
  })
})

it('a household is found by nothing of a member whose identifier stands where the kind lists none', async () => {
  const unlisted = { '@type': 'Member', identifier: [uin('U-1001')], is_disabled: true, demographic_info: { sex: 'female' } }
  const stored = household({ group_size: 2, member_list: [unlisted, member('U-1002')] })
  await server.registry('social', [stored, member('U-1001')], 'unlisted')
  follow()
  const groups = (query: object) => recordsOf(byExpression(query, GROUP), 'unlisted')
  const disabled = { 'household_member.is_disabled': { $eq: true } }
  expect(await groups(disabled)).toEqual([stored])
  expect(await protect('unlisted')).toMatchObject({ records: 1, rewritten: 1 })
  follow()
  expect(await groups(disabled)).toEqual([])
  expect(await groups({ group_size: { $eq: 2 } })).toEqual([])
  expect(await groups({ group_size: { $eq: 1 } })).toEqual([household({ group_size: 1, member_list: [member('U-1002')] })])
  expect(await unprotect('unlisted')).toMatchObject({ rewritten: 1 })
  follow()
  expect(await groups(disabled)).toEqual([stored])
})

describe('a stored answer', () => {
  it('is given again as if the person had never been found', async () => {
    await unprotect('civil')
    follow()
    const body = searchFor(peer, [byIdentifier('UIN', 'U-1001'), byIdentifier('UIN', 'U-9999'), byIdentifier('UIN', 'U-1002')])
    const correlation_id = await accepted(server, peer, body)
    await answerExchange(server, correlation_id)
    await deliverAll(server)
    const items = async () =>
      (await askStatus(server, peer, 'correlation_id', correlation_id)).message.txnstatus_response.txn_status.search_response
    expect((await items())[0].data.reg_records).toHaveLength(1)
    await protect('civil')
    follow()
    const [hidden, unknown, other] = await items()
    expect(masked(hidden)).toBe(masked(unknown))
    expect(JSON.stringify(other)).not.toContain('1001')
  })

  it('withholds whoever cannot be told', async () => {
    await unprotect('civil')
    await granted({ see: ['surname'] })
    const correlation_id = await accepted(server, peer, searchFor(peer, [byIdentifier('UIN', 'U-1003')]))
    await answerExchange(server, correlation_id)
    await deliverAll(server)
    await protect('civil')
    follow()
    const { message } = await askStatus(server, peer, 'correlation_id', correlation_id)
    expect(message.txnstatus_response.txn_status.search_response[0]).toMatchObject({
      status_reason_message: 'records of this answer are withheld under the grant of today; search again',
      data: { reg_records: [] },
    })
    await granted({})
  })
})

describe('minors', () => {
  it('are not found by a grant that never finds them, nor is whoever has no birth date', async () => {
    const registry = await server.registry('ess', [
      member('U-1'),
      member('U-2', { demographic_info: { name: { surname: 'Obi' }, birth_date: '2020-01-01' } }),
      member('U-3', { demographic_info: { name: { surname: 'Obi' } } }),
      member('U-4', { related_person: [{ relationship_type: 'child', related_member: { member_identifier: [uin('U-2')] } }] }),
    ])
    await granted({ minors: 'never' }, registry.namespace)
    const found = await recordsOf(byExpression({ surname: { $eq: 'Obi' } }), 'ess')
    expect(found).toEqual([member('U-1'), member('U-4')])
    await granted({ minors: 'allowed' }, registry.namespace)
    expect(await recordsOf(byExpression({ surname: { $eq: 'Obi' } }), 'ess')).toHaveLength(4)
  })

  it('are cut out of households, which are asked for by their own identifier alone', async () => {
    const child = member('U-5', { demographic_info: { birth_date: '2020-01-01' } })
    const registry = await server.registry('social', [household({ group_size: 2, member_list: [child, member('U-6')] })], 'homes')
    await granted({ minors: 'never' }, registry.namespace)
    expect(await recordsOf(byIdentifier('HOUSEHOLD_ID', 'H-1', GROUP), 'homes')).toEqual([
      household({ group_size: 1, member_list: [member('U-6')] }),
    ])
    const refused = await items([byIdentifier('UIN', 'U-6', GROUP), byExpression({ group_size: { $eq: 2 } }, GROUP)], 'homes')
    expect(refused).toMatchObject([
      {
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message:
          'search_criteria.query: this participant may ask for a Group by HOUSEHOLD_ID only: it finds no minors',
      },
      { status_reason_code: 'rjct.search_criteria.invalid' },
    ])
  })

  it('are asked about by no attribute that an operator added in the data of other persons', async () => {
    const child = member('U-7', { demographic_info: { birth_date: '2020-01-01' } })
    const { namespace } = await server.registry('social', [], 'families')
    const added = { namespace, record_type: 'Group', name: 'child_birth_date', type: 'date', many: true } as const
    await addAttribute(acting({ db }), { ...added, paths: ['member_list.demographic_info.birth_date'] })
    const registry = await requireRegistry(db, namespace)
    await writeDocuments(server.database, registry, [household({ group_size: 1, member_list: [child] })])
    await granted({ minors: 'allowed' }, namespace)
    const young = byExpression({ child_birth_date: { ge: '2020-01-01' } }, GROUP)
    expect(await recordsOf(young, namespace)).toHaveLength(1)
    await granted({ minors: 'never' }, namespace)
    expect(await items([young], namespace)).toMatchObject([
      {
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message: expect.stringMatching(
          /^search_criteria\.query\.child_birth_date: is no attribute that this participant may ask about; those of Group are /,
        ),
      },
    ])
  })
})

it('an unknown operation is refused as before', async () => {
  await granted({ operations: ['txn-status'] })
  expectFault(
    await postSearch(server, peer, [byIdentifier('UIN', 'U-1001')]),
    403,
    'err.request.forbidden',
    'this operation is not granted to this participant',
  )
})
