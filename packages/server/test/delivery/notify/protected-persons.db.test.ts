/** Notifications about protected persons go to those alone whose grants name the category. */
import { Readable } from 'node:stream'
import { publishEvent } from '@rollcall/admin/events/publish'
import { protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { deleteRecords, importRecords } from '@rollcall/admin/records/records'
import { beforeEach, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { answering, type Receiver } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf, uinsOf } from '../../notifications.ts'

const { server, newPeer, until, receiver } = await mailboxSender({ schedule: [1] })
const { db } = server.database
const { registry } = server
let peer: Receiver
beforeEach(async () => {
  peer = receiver()
})

const query = async (text: string) => (await db.pool.query(text)).rows
const states = async () => (await query('select state from notification order by id')).map(({ state }) => state)
const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const record = (value: string, more: object = {}) => ({ identifier: [uin(value)], ...more })
const publish = (value: string, more: object = {}, reg_event_type = 'UPDATE') =>
  publishEvent(acting({ db, limits: server.context.limits }), { namespace: 'civil', record: record(value, more), reg_event_type })
/** Imports a record, and returns the number of notified subscriptions; the rules of the record type name the change. */
async function imported(value: string, more: object): Promise<number> {
  const source = Readable.from([JSON.stringify(record(value, more))])
  const before = await states()
  await importRecords(acting({ db, limits: server.context.limits, source }), {
    namespace: 'civil',
    format: 'ndjson',
    events: 'changes',
  })
  return (await states()).length - before.length
}
const protect = (value: string) =>
  protectPerson(acting({ db }), {
    namespace: 'civil',
    identifier_type: 'UIN',
    identifier_value: value,
    category: 'shelter',
    reason: 'x',
  })
const remove = (value: string) =>
  deleteRecords(acting({ db, limits: server.context.limits }), {
    namespace: 'civil',
    record_type: 'Person',
    identifiers: [value],
  })
const subscribed = async (event: string, value: string | null) => {
  const participant = await newPeer()
  const filter = value === null ? undefined : { UIN: { eq: value } }
  const id = await subscribeLive(db, registry, event, filter, { participant: participant.id, person: value !== null })
  return { participant, id }
}
const follow = () => server.clock.pass(1_000)

test('what waits is withdrawn, no deletion is told, and what follows reaches nobody whose grant does not name it', async () => {
  peer.answer = answering(200)
  const { participant, id } = await subscribed('UPDATE', 'U-1001')
  await publish('U-1001', { sex: 'female' })
  expect(await states()).toEqual(['waiting'])
  expect(await protect('U-1001')).toMatchObject({ records: 1, withdrawn: 1 })
  follow()
  expect(await states()).toEqual(['dropped'])
  expect(await publish('U-1001', { sex: 'male' })).toMatchObject({ matched: 0 })
  expect(await imported('U-1001', { sex: 'other' })).toBe(0)
  await grant(server.database, participant.sender_id, 'civil', { unfiltered: true, protected: ['shelter'] })
  follow()
  expect(await publish('U-1001', { sex: 'female' })).toMatchObject({ matched: 1 })
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['U-1001']]))
  await grant(server.database, participant.sender_id, 'civil', { unfiltered: true, protected: ['sealed'] })
  follow()
  await remove('U-1001')
  expect(await states()).toEqual(['dropped', 'sent'])
  // Deleted and imported again it is protected still.
  expect(await publish('U-1001', { sex: 'female' })).toMatchObject({ matched: 0 })
  expect(await query(`select state from subscription where id = ${id}`)).toEqual([{ state: 'live' }])
})

test('a subscription to a person who dies ends for those alone who are told of it', async () => {
  const { id } = await subscribed('Death', 'U-1002')
  const open = await subscribed('Death', 'U-1003')
  await publish('U-1002')
  await publish('U-1003')
  await protect('U-1002')
  await imported('U-1002', { death_date: '2026-01-01' })
  await imported('U-1003', { death_date: '2026-01-01' })
  const stateOf = async (subscription: number) =>
    (await query(`select state from subscription where id = ${subscription}`))[0].state
  expect(await stateOf(id)).toBe('live')
  expect(await stateOf(open.id)).toBe('ended')
  // The correction of a death of which nobody was told is no event for them either.
  expect(await imported('U-1002', {})).toBe(0)
  expect(await stateOf(id)).toBe('live')
})

test('an envelope on its way is composed anew, without the person', async () => {
  peer.answer = answering(503)
  await subscribed('UPDATE', null)
  await publish('U-1004')
  await publish('U-1005', { parent1_identifier: uin('U-1004') })
  await until(async () =>
    expect(await query(`select attempts from delivery where state = 'pending' and claim is null`)).toEqual([{ attempts: 1 }]),
  )
  await protect('U-1004')
  follow()
  peer.answer = answering(200)
  await query(`update delivery set next_attempt_at = now() where state = 'pending' and claim is null`)
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['U-1004', 'U-1005'], ['U-1005']]))
  const [, second] = peer.received.map(envelopeOf)
  expect(JSON.stringify(second)).not.toContain('U-1004')
})

test('what changes in the record of another about a protected person alone is no event', async () => {
  await protect('U-1006')
  follow()
  await subscribed('UPDATE', 'U-1007')
  await publish('U-1008', { parent1_identifier: uin('U-1006') })
  expect(await imported('U-1007', {})).toBe(0)
  expect(await imported('U-1007', { parent1_identifier: uin('U-1006') })).toBe(0)
  expect(await imported('U-1007', { parent1_identifier: uin('U-1006'), sex: 'female' })).toBe(1)
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['U-1007']]))
  expect(JSON.stringify(peer.received.map(envelopeOf))).not.toContain('U-1006')
  await unprotectPerson(acting({ db }), { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'U-1006' })
})

test('what waits about a record that was merged into a protected one is withdrawn', async () => {
  peer.answer = answering(200)
  await publish('U-1011', { sex: 'female' })
  await publish('U-1012', { sex: 'female' })
  await subscribed('UPDATE', null)
  await publish('U-1012', { sex: 'male', address: { locality: 'Shelter Rd 5' } })
  const deps = { db, limits: server.context.limits }
  await mergeRecords(acting(deps), { namespace: 'civil', survivor: uin('U-1011'), retired: uin('U-1012') })
  expect(await protect('U-1011')).toMatchObject({ records: 1, withdrawn: 2 })
  expect(await query(`select 1 from notification where state = 'waiting'`)).toEqual([])
})
