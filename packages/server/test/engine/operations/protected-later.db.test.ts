/**
 * Records that were found, stored or on their way before a person was protected; merged records; persons with several
 * identifiers.
 */

import { listProtectedPersons, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { deleteRecords } from '@rollcall/admin/records/records'
import type { Registry } from '@rollcall/core/model/registry'
import { applyIndexes } from '@rollcall/records/registries/index-apply'
import { addAttribute } from '@rollcall/records/registries/registry-attributes'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { grant } from '../../../../participants/test/grants.ts'
import {
  accepted,
  answerExchange,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  deliverAll,
  searchFor,
} from '../../asynchronous.ts'
import { answering } from '../../deliveries.ts'
import { postSearch, testServer, writeDocuments } from '../../server.ts'
import { askStatus } from '../../txn-status.ts'

const server = await testServer()
afterAll(() => server.close())
const { db } = server.database
const { limits } = server.context
const peer = await asyncPeer(server, 'spmis.demo')

const id = (type: string, value: string) => ({ identifier_type: type, identifier_value: value })
const uin = (value: string) => id('UIN', value)
const person = (value: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [uin(value)],
  name: { surname: 'Obi' },
  ...more,
})
async function registryOf(...given: Parameters<typeof server.registry>): Promise<Registry> {
  const registry = await server.registry(...given)
  follow()
  return registry
}
const SHELTER = { address: { locality: 'Shelter Rd 5' } }
const follow = () => server.clock.pass(1_000)
async function protect(namespace: string, value: string, type = 'UIN'): Promise<void> {
  const named = { identifier_type: type, identifier_value: value }
  await protectPerson(acting({ db }), { namespace, ...named, category: 'shelter', reason: 'x' })
  follow()
}
async function unprotect(namespace: string, value: string): Promise<void> {
  await unprotectPerson(acting({ db }), { namespace, identifier_type: 'UIN', identifier_value: value })
  follow()
}
async function merge(namespace: string, survivor: string, retired: string): Promise<void> {
  await mergeRecords(acting({ db, limits }), { namespace, survivor: uin(survivor), retired: uin(retired) })
}
const recordsOf = async (namespace: string, search: object) => {
  const [item] = (await postSearch(server, peer, [search], namespace)).body.message.search_response
  return item.data?.reg_records ?? item
}
const ask = (namespace: string, searches: readonly object[]) =>
  accepted(server, peer, searchFor(peer, searches), 'search', namespace)
async function answer(correlation_id: string): Promise<void> {
  await answerExchange(server, correlation_id)
  await deliverAll(server)
}
/** The records of a stored answer, given again. */
async function again(namespace: string, correlation_id: string): Promise<unknown> {
  const { message } = await askStatus(server, peer, 'correlation_id', correlation_id, { namespace })
  const { search_response } = message.txnstatus_response.txn_status
  return search_response.map((item: { data: { reg_records: unknown } }) => item.data.reg_records)
}
const deliveryOf = async (correlation_id: string) =>
  (await db.pool.query('select state, reason from delivery where correlation_id = $1', [correlation_id])).rows
/** Attempts what is pending once more. */
async function retry(): Promise<void> {
  peer.receiver.answer = answering(200)
  await db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending' and claim is null`)
  await deliverAll(server)
}
const lastSent = () => callbacksTo(peer.receiver).at(-1)?.envelope

it('a record that was merged into one that is protected later is not given again', async () => {
  await registryOf('civil', [person('U-1'), person('U-2', SHELTER)], 'merged')
  const correlation_id = await ask('merged', [byIdentifier('UIN', 'U-2')])
  await answer(correlation_id)
  await merge('merged', 'U-1', 'U-2')
  await protect('merged', 'U-1')
  expect(await recordsOf('merged', byIdentifier('UIN', 'U-2'))).toEqual([])
  expect(await again('merged', correlation_id)).toEqual([[]])
  // Taken out of the merge it stays protected.
  await unmergeRecords(acting({ db, limits }), { namespace: 'merged', retired: uin('U-2') })
  follow()
  expect(await recordsOf('merged', byIdentifier('UIN', 'U-2'))).toEqual([])
  expect(await again('merged', correlation_id)).toEqual([[]])
  await unprotect('merged', 'U-1')
  expect(await recordsOf('merged', byIdentifier('UIN', 'U-2'))).toHaveLength(1)
})

it('a household that is taken out of a merge is found by a member again when its protection is lifted', async () => {
  const member = (value: string) => ({ '@type': 'Member', member_identifier: [uin(value)] })
  const group = (value: string, members: readonly object[]) => ({
    '@type': 'Group',
    group_identifier: [id('HOUSEHOLD_ID', value)],
    group_size: members.length,
    member_list: members,
  })
  const G2 = group('G-2', [member('U-1'), member('U-3')])
  await registryOf('social', [group('G-1', [member('U-2')]), G2], 'unmerged')
  const [survivor, retired] = [id('HOUSEHOLD_ID', 'G-1'), id('HOUSEHOLD_ID', 'G-2')]
  await mergeRecords(acting({ db, limits }), { namespace: 'unmerged', survivor, retired })
  await protect('unmerged', 'U-1')
  await unmergeRecords(acting({ db, limits }), { namespace: 'unmerged', retired })
  const byMember = byIdentifier('UIN', 'U-1', { reg_record_type: 'Group' })
  expect(await recordsOf('unmerged', byMember)).toEqual([])
  await unprotect('unmerged', 'U-1')
  expect(await recordsOf('unmerged', byMember)).toEqual([G2])
})

it('a record that gets the identifier of a protected person is known by its primary identifier too', async () => {
  const registry = await registryOf('civil', [person('U-1')], 'later')
  await protect('later', 'B-1', 'BRN')
  const correlation_id = await ask('later', [byIdentifier('UIN', 'U-1')])
  await answer(correlation_id)
  expect(await again('later', correlation_id)).toEqual([[person('U-1')]])
  await writeDocuments(server.database, registry, [person('U-1', { identifier: [uin('U-1'), id('BRN', 'B-1')] })])
  follow()
  expect(await recordsOf('later', byIdentifier('UIN', 'U-1'))).toEqual([])
  expect(await again('later', correlation_id)).toEqual([[]])
})

it('two protected records of one person are protected by the identifiers of both', async () => {
  const registry = await registryOf(
    'civil',
    [person('U-1'), person('U-2'), person('U-3', { spouse_identifier: uin('U-2') })],
    'both',
  )
  await protect('both', 'U-1')
  await protect('both', 'U-2')
  await merge('both', 'U-1', 'U-2')
  await unprotect('both', 'U-2')
  expect(await recordsOf('both', byIdentifier('UIN', 'U-3'))).toEqual([person('U-3')])
  expect(await recordsOf('both', byIdentifier('UIN', 'U-2'))).toEqual([])
  expect(await listProtectedPersons(acting({ db }), { namespace: 'both' })).toMatchObject([{ records: 1 }])
  const U1 = { namespace: 'both', record_type: 'Person', identifiers: ['U-1'] }
  await deleteRecords(acting({ db, limits }), U1)
  expect(await listProtectedPersons(acting({ db }), { namespace: 'both' })).toMatchObject([{ records: 0 }])
  await writeDocuments(server.database, registry, [person('U-1')])
  expect(await listProtectedPersons(acting({ db }), { namespace: 'both' })).toMatchObject([{ records: 1 }])
})

it('an identifier that several records bear hides nobody else, and tells of nobody', async () => {
  const member = (value: string, type: string, shared: string) => ({
    '@type': 'Member',
    member_identifier: [uin(value), id(type, shared)],
  })
  const group = (value: string, members: readonly object[]) => ({
    '@type': 'Group',
    group_identifier: [id('HOUSEHOLD_ID', value)],
    group_size: members.length,
    member_list: members,
  })
  const first = member('U-1', 'HOUSEHOLD_ID', 'H-1')
  const others = ['U-2', 'U-3'].map((one) => member(one, 'HOUSEHOLD_ID', 'H-1'))
  const local = member('U-6', 'VILLAGE', 'V-1')
  const neighbour = member('U-7', 'VILLAGE', 'V-1')
  await registryOf(
    'social',
    [first, ...others, group('H-1', [first, ...others]), local, neighbour, group('H-6', [neighbour])],
    'several',
  )
  await protect('several', 'U-1')
  await protect('several', 'U-6')
  const GROUP = { reg_record_type: 'Group' }
  expect(await recordsOf('several', byIdentifier('HOUSEHOLD_ID', 'H-1', GROUP))).toEqual([group('H-1', others)])
  expect(await recordsOf('several', byIdentifier('UIN', 'U-2', GROUP))).toEqual([group('H-1', others)])
  expect(await recordsOf('several', byIdentifier('UIN', 'U-1', GROUP))).toEqual([])
  expect(await recordsOf('several', byIdentifier('UIN', 'U-7', GROUP))).toEqual([group('H-6', [neighbour])])
})

it('an attribute of the operator that reads an identifier in another spelling finds nobody by it', async () => {
  const spellings = ['ab-1001', 'ab - 1001', '\u200bＡＢ-１００１', 'AB-1001\t']
  await registryOf(
    'civil',
    [person('AB-1001'), ...spellings.map((spouse_number, at) => person(`U-${at}`, { spouse_number }))],
    'spellings',
  )
  const attribute = { name: 'spouse', type: 'text', paths: ['spouse_number'], indexed: true, fold: true } as const
  await addAttribute(db, 'spellings', 'Person', attribute)
  server.clock.pass(SETTINGS_AGE)
  await applyIndexes(db, 'spellings')
  server.clock.pass(SETTINGS_AGE)
  const query = byExpression({ spouse: { $exists: true } })
  expect(await recordsOf('spellings', query)).toHaveLength(spellings.length)
  await protect('spellings', 'AB-1001')
  expect(await recordsOf('spellings', query)).toEqual([])
})

it('an identifier of a household tells of nobody, and one of an unlisted type only where there is no other', async () => {
  const member = (...identifiers: readonly object[]) => ({ '@type': 'Member', member_identifier: identifiers })
  const [home, card] = [id('HOUSEHOLD_ID', 'H-1'), id('LIBRARY', 'L-1')]
  const group = (...members: readonly object[]) => ({
    '@type': 'Group',
    group_identifier: [id('HOUSEHOLD_ID', 'H-2')],
    group_size: members.length,
    member_list: members,
  })
  // Records of people whom the registry has in a household alone.
  const left = [member(uin('U-2'), home), member(uin('U-3'), card)]
  await registryOf('social', [member(uin('U-1'), home, card), group(...left, member(card))], 'alone')
  await protect('alone', 'U-1')
  const search = byIdentifier('HOUSEHOLD_ID', 'H-2', { reg_record_type: 'Group' })
  expect(await recordsOf('alone', search)).toEqual([group(...left)])
})

it('a reply that is made while a protection is being written is not sent after it', async () => {
  const household = { '@type': 'Group', group_identifier: [id('HOUSEHOLD_ID', 'H-1')], group_size: 1 }
  const member = { '@type': 'Member', member_identifier: [uin('U-1')] }
  await registryOf('social', [member, { ...household, member_list: [member] }], 'window')
  const correlation_id = await ask('window', [byIdentifier('UIN', 'U-1')])
  const { rows } = await db.pool.query(
    `select relname from pg_class where relkind = 'r' and relname ~ '^r[0-9]+_group$' order by oid desc limit 1`,
  )
  const holder = await db.pool.connect()
  try {
    await holder.query('begin')
    await holder.query(`select id from "${rows[0].relname}" for update`)
    const protecting = protect('window', 'U-1')
    const isWaiting = `select 1 from pg_locks where not granted`
    while ((await db.pool.query(isWaiting)).rows.length === 0);
    peer.receiver.answer = answering(503)
    await answer(correlation_id)
    // As if it had waited for the lock for days.
    await db.pool.query(`update delivery set created_at = created_at + interval '1 day' where correlation_id = $1`, [
      correlation_id,
    ])
    await holder.query('commit')
    await protecting
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  await retry()
  expect(await deliveryOf(correlation_id)).toEqual([{ state: 'dead', reason: 'not_permitted' }])
  expect(await again('window', correlation_id)).toEqual([[]])
})

it('an answer during which somebody was protected is not sent', async () => {
  const people = [person('U-1', SHELTER), person('U-2'), person('U-3', { spouse_identifier: uin('U-1') })]
  await registryOf('civil', people, 'during')
  const correlation_id = await ask(
    'during',
    ['U-1', 'U-2', 'U-3'].map((one) => byIdentifier('UIN', one)),
  )
  const { grantQuota } = server.context
  const { take } = grantQuota
  let taken = 0
  peer.receiver.answer = answering(200)
  const sent = peer.receiver.received.length
  try {
    grantQuota.take = async (...given) => {
      taken += 1
      if (taken === 3) await protect('during', 'U-1')
      return take.apply(grantQuota, given)
    }
    await answer(correlation_id)
  } finally {
    grantQuota.take = take
  }
  expect(peer.receiver.received).toHaveLength(sent)
  expect(await deliveryOf(correlation_id)).toEqual([{ state: 'dead', reason: 'not_permitted' }])
  expect(await again('during', correlation_id)).toEqual([[], [person('U-2')], [person('U-3')]])
})

it('a reply about others is sent after somebody was protected, also under a grant with rows', async () => {
  const people = ['U-1', 'U-2'].map((one) => person(one, { sex: 'female', birth_date: '1990-05-05' }))
  await registryOf('civil', people, 'others')
  await grant(server.database, peer.sender_id, 'others', { minors: 'never', rows: { Person: { sex: { eq: 'female' } } } })
  follow()
  peer.receiver.answer = answering(503)
  const about = await ask('others', [byIdentifier('UIN', 'U-1')])
  const protectedOne = await ask('others', [byIdentifier('UIN', 'U-2')])
  await answer(about)
  await answer(protectedOne)
  await protect('others', 'U-2')
  await retry()
  expect(await deliveryOf(about)).toEqual([{ state: 'delivered', reason: null }])
  expect(lastSent()?.message.search_response[0].data.reg_records).toEqual([people[0]])
  expect(await deliveryOf(protectedOne)).toEqual([{ state: 'dead', reason: 'not_permitted' }])
})
