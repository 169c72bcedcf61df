/** Whoever had an event of a record hears that it was merged or deleted, also under a grant with conditions on records. */

import { publishEvent } from '@rollcall/admin/events/publish'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { deleteRecords } from '@rollcall/admin/records/records'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { beforeEach, describe, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { answering, type Receiver } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf } from '../../notifications.ts'

const { server, newPeer, until, receiver } = await mailboxSender()
const { db } = server.database
const deps = { db, limits: server.context.limits }
const civil = { namespace: 'civil', record_type: 'Person' }

let peer: Receiver
let count = 0
const uin = (name: string) => ({ identifier_type: 'UIN', identifier_value: `${name}-${count}` })
const SEEN = { sex: 'female', birth_date: '1980-01-01' }

beforeEach(() => {
  count += 1
  peer = receiver()
  peer.answer = answering(200)
})

const publish = (name: string, members: object, reg_event_type = 'UPDATE') =>
  publishEvent(acting(deps), {
    ...civil,
    reg_event_type,
    record: { identifier: [uin(name)], name: { surname: 'Obi' }, ...members },
  })
const merge = (survivor: string, retired: string) =>
  mergeRecords(acting(deps), { ...civil, survivor: uin(survivor), retired: uin(retired) })
async function subscribed(terms: Partial<GrantTerms>): Promise<void> {
  const { id, sender_id } = await newPeer()
  await grant(server.database, sender_id, 'civil', { unfiltered: true, ...terms })
  await subscribeLive(db, server.registry, 'UPDATE', undefined, { participant: id })
}

/** The received items: the event, the record and the survivor of each. */
const received = (): readonly string[] =>
  peer.received.map(envelopeOf).flatMap(({ header, message }) =>
    // biome-ignore lint/suspicious/noExplicitAny: what was sent is what is asserted
    message.notify_event.map(({ reference_id, data }: any) => {
      const { identifier, ...others } = data.reg_records
      const named = [identifier[0], header.meta.replaced_by?.[reference_id] ?? { identifier_value: '' }]
      const [record, survivor] = named.map(({ identifier_value }) => identifier_value.split('-')[0])
      const event = data.reg_event_type.split(':').at(-1)
      return `${event} ${record}${Object.keys(others).length > 0 ? ' whole' : ''}${survivor && ` by ${survivor}`}`
    }),
  )
const hears = (...items: readonly string[]) => until(() => expect(received()).toEqual(items))

const WOMEN = { rows: { Person: { sex: { eq: 'female' } } } } as const
const ADULTS = { minors: 'never' } as const

describe.each<[string, Partial<GrantTerms>, object]>([
  ['conditions on records', WOMEN, { sex: 'male' }],
  ['no minors', ADULTS, { birth_date: '2024-01-01' }],
])('with %s', (_, terms, hidden) => {
  test('a merge of records that may be found is told, with the survivor', async () => {
    await subscribed(terms)
    await publish('old', SEEN)
    await publish('new', SEEN)
    await merge('new', 'old')
    await hears('UPDATE old whole', 'UPDATE new whole', 'CANCEL old by new')
  })

  test('a survivor that may not be found is not named', async () => {
    await subscribed(terms)
    await publish('old', SEEN)
    await publish('new', { ...SEEN, ...hidden })
    await merge('new', 'old')
    await hears('UPDATE old whole', 'CANCEL old')
    expect(JSON.stringify(peer.received.map(envelopeOf))).not.toContain(uin('new').identifier_value)
  })

  test('a survivor that was merged itself is named if a search for it finds somebody', async () => {
    await subscribed(terms)
    for (const name of ['a', 'b', 'c']) await publish(name, SEEN)
    await publish('d', { ...SEEN, ...hidden })
    await hears('UPDATE a whole', 'UPDATE b whole', 'UPDATE c whole')
    await merge('b', 'a')
    await merge('c', 'b')
    await hears('UPDATE a whole', 'UPDATE b whole', 'UPDATE c whole', 'CANCEL a by b', 'CANCEL b by c')
    await publish('e', SEEN)
    await merge('c', 'e')
    await merge('d', 'c')
    const told = received().length
    await until(() => expect(received().slice(told)).toEqual(['UPDATE e whole', 'CANCEL e', 'CANCEL c']))
  })

  test('the merge of a record that might not be found before is not told', async () => {
    await subscribed(terms)
    await publish('old', { ...SEEN, ...hidden })
    await publish('new', SEEN)
    await merge('new', 'old')
    await publish('new', { note: 'x' })
    await hears('UPDATE new whole', 'UPDATE new whole')
  })

  test('an event that is never sent, because the record was hidden, is not taken back', async () => {
    await subscribed(terms)
    await publish('old', { ...SEEN, ...hidden })
    // Nobody has subscribed to it.
    await publish('old', SEEN, 'MARRIAGE')
    await publish('new', SEEN)
    await merge('new', 'old')
    await publish('new', { note: 'x' })
    await hears('UPDATE new whole', 'UPDATE new whole')
  })

  test('of several events the last one that was sent is taken back', async () => {
    await subscribed(terms)
    await publish('new', SEEN)
    await publish('old', SEEN)
    await hears('UPDATE new whole', 'UPDATE old whole')
    await publish('old', { ...SEEN, ...hidden })
    await publish('old', SEEN, 'MARRIAGE')
    await merge('new', 'old')
    await hears('UPDATE new whole', 'UPDATE old whole', 'CANCEL old by new')
    // biome-ignore lint/suspicious/noExplicitAny: what was sent is what is asserted
    const items: any[] = peer.received.map(envelopeOf).flatMap(({ header, message }) =>
      // biome-ignore lint/suspicious/noExplicitAny: what was sent is what is asserted
      message.notify_event.map(({ reference_id }: any) => ({ reference_id, corrects: header.meta.corrects?.[reference_id] })),
    )
    expect(items[2].corrects).toBe(items[1].reference_id)
  })

  test('a merge that is taken back before it is told', async () => {
    await subscribed(terms)
    await publish('old', SEEN)
    await publish('new', SEEN)
    await merge('new', 'old')
    await unmergeRecords(acting(deps), { ...civil, retired: uin('old') })
    await protectPerson(acting({ db }), { namespace: 'civil', ...uin('new'), category: 'shelter', reason: 'x' })
    server.clock.pass(1_000)
    await hears('UPDATE old whole', 'CANCEL old', 'CORRECTION old whole')
  })

  test('a deletion is told of a record that might be found before, by its identifiers', async () => {
    await subscribed(terms)
    await publish('one', SEEN)
    await publish('other', { ...SEEN, ...hidden })
    const identifiers = ['other', 'one'].map((name) => uin(name).identifier_value)
    expect(await deleteRecords(acting(deps), { ...civil, identifiers })).toMatchObject({ deleted: 2 })
    await hears('UPDATE one whole', 'UPDATE one')
  })
})

test('without conditions the survivor is named, whatever has become of it', async () => {
  await subscribed({})
  await publish('old', SEEN)
  await publish('new', SEEN)
  await merge('new', 'old')
  await hears('UPDATE old whole', 'UPDATE new whole', 'CANCEL old by new')
})

test('without conditions a survivor who is protected before the merge is told is not named', async () => {
  await subscribed({})
  await publish('old', SEEN)
  await publish('new', SEEN)
  await hears('UPDATE old whole', 'UPDATE new whole')
  await merge('new', 'old')
  await unmergeRecords(acting(deps), { ...civil, retired: uin('old') })
  await protectPerson(acting({ db }), { namespace: 'civil', ...uin('new'), category: 'shelter', reason: 'x' })
  server.clock.pass(1_000)
  await hears('UPDATE old whole', 'UPDATE new whole', 'CANCEL old', 'CORRECTION old whole')
})
