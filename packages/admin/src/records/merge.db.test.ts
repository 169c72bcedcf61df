import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { JsonObject } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findWaitingNotifications } from '../../../delivery/src/store/events/waiting.ts'
import { type SubscriptionChanges, subscribeLive } from '../../../delivery/test/subscriptions.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { AdminRefusal } from '../admin-function.ts'
import { publishEvent } from '../events/publish.ts'
import { mergeRecords, unmergeRecords } from './merge.ts'
import { deleteRecords, importRecords } from './records.ts'

let database: TestDatabase
let civil: Registry
let now: Date
beforeAll(async () => {
  database = await testDatabase()
  civil = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
  await addRegistry(database.db, { namespace: 'social', kind: 'social', sender_id: 'social.example' })
})
afterAll(() => database.close())
beforeEach(async () => {
  now = new Date('2026-06-15T09:00:00Z')
  await rows(
    `truncate event, subscription, mailbox, retired_record, record_tombstone, record_source_version, r1_person,
       r2_member, r2_group cascade`,
  )
})

const limits = DEFAULT_LIMITS
const rows = async (statement: string, ...values: unknown[]) => (await database.db.pool.query(statement, values)).rows
const deps = () => ({ db: database.db, limits, now: () => now })

const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
const uin = (value: string) => id('UIN', value)
const person = (value: string, members: JsonObject = {}, ...others: JsonObject[]): JsonObject => {
  return { identifier: [uin(value), ...others], ...members }
}

/** Records that are there without an event. */
const load = (documents: readonly JsonObject[], events: 'none' | 'changes' = 'none', namespace = 'civil') => {
  const source = Readable.from([Buffer.from(documents.map((one) => `${JSON.stringify(one)}\n`).join(''))])
  return importRecords(acting({ ...deps(), source }), { namespace, format: 'ndjson', events })
}
const publish = (reg_event_type: string, record: JsonObject, more: object = {}) =>
  publishEvent(acting(deps()), { namespace: 'civil', reg_event_type, record, ...more })
const merge = (survivor: string, retired: string) =>
  mergeRecords(acting(deps()), { namespace: 'civil', survivor: uin(survivor), retired: uin(retired) })
const unmerge = (retired: string) => unmergeRecords(acting(deps()), { namespace: 'civil', retired: uin(retired) })
const subscribe = (event: string, value: string, more: SubscriptionChanges = {}) =>
  subscribeLive(database.db, civil, event, { uin: { eq: value } }, more)

/** The documents that a look-up and a search by this identifier find. */
async function found(type: string, value: string): Promise<unknown> {
  const identifier: Identifier = { type, value }
  const page = { sort: [], limit: 10, offset: 0, cap: 10 }
  const reader = recordsOf(database.db, civil).source.reader('sync')
  const [recordType] = civil.kind.record_types
  const find = async (...identifiers: Identifier[]) => {
    const predicate = { is: 'identifier', identifiers } as const
    const { records } = await reader.find(civil, { recordType, predicate, page })
    return records.map(({ document }) => JSON.parse(document))
  }
  const lookedUp = await find(identifier)
  expect(await find(identifier, { type: 'UIN', value: 'NOBODY' })).toEqual(lookedUp)
  return lookedUp
}

const notifications = () =>
  rows(`select subscription, event_type, notification.purpose, presence, corrects from notification
    join event on event.id = notification.event order by notification.id`)
/** The waiting notifications, of which the next envelope is composed. */
const waiting = async () => {
  const mailboxes = await rows('select id from mailbox order by id')
  return (await Promise.all(mailboxes.map((box) => findWaitingNotifications(database.db.pool, box.id, 100)))).flat()
}

describe('identifiers of the retired record', () => {
  beforeEach(() =>
    load([
      person('U-1', { sex: 'female' }, id('BRN', 'B-1')),
      person('U-2', { sex: 'male' }, id('BRN', 'B-2'), id('MRN', 'M-2')),
    ]),
  )

  test('find the survivor, which does not show them', async () => {
    expect(await merge('U-1', 'U-2')).toEqual({ namespace: 'civil', record_type: 'Person', notified: 0 })
    const survivor = person('U-1', { sex: 'female' }, id('BRN', 'B-1'))
    for (const [type, value] of [
      ['UIN', 'U-1'],
      ['UIN', 'U-2'],
      ['BRN', 'B-2'],
      ['MRN', 'M-2'],
    ] as const) {
      expect(await found(type, value)).toEqual([survivor])
    }
    expect(await rows('select from r1_person')).toHaveLength(1)
  })

  test('find it also when an import has replaced it', async () => {
    await merge('U-1', 'U-2')
    const replaced = person('U-1', { sex: 'other' })
    expect(await load([replaced])).toMatchObject({ new: 0, replaced: 1 })
    expect(await found('MRN', 'M-2')).toEqual([replaced])
    expect(await found('BRN', 'B-1')).toEqual([])
  })

  test('what is published under them is merged into it', async () => {
    await merge('U-1', 'U-2')
    await subscribe('Death', 'U-1')
    const said = person('U-2', { death_date: '2026-06-14' }, id('MRN', 'M-2'), id('DRN', 'D-9'))
    expect(await publish('Death', said)).toMatchObject({ matched: 1 })
    const after = { identifier: [uin('U-1'), id('BRN', 'B-1'), id('DRN', 'D-9')], sex: 'female', death_date: '2026-06-14' }
    expect(await found('UIN', 'U-2')).toEqual([after])
    expect(await found('DRN', 'D-9')).toEqual([after])
    expect(await rows('select from r1_person')).toHaveLength(1)
  })

  test('a single identifier in place of a list is no other', async () => {
    await merge('U-1', 'U-2')
    await publish('UPDATE', { identifier: uin('U-2'), note: 1 })
    expect(await found('UIN', 'U-1')).toEqual([person('U-1', { sex: 'female', note: 1 }, id('BRN', 'B-1'))])
  })

  test('nothing is replaced under them', async () => {
    await merge('U-1', 'U-2')
    const message = 'replace: the record was merged into another one, which is replaced under its own primary identifier alone'
    await expect(publish('UPDATE', person('U-2'), { replace: true })).rejects.toThrow(new AdminRefusal(message))
  })

  test('an import under them is merged into it, with its events, and makes no record', async () => {
    await merge('U-1', 'U-2')
    const subscription = await subscribe('Death', 'U-2')
    const lines = [person('U-2', { death_date: '2026-06-14' }), person('U-3'), person('U-1', { note: 1 })]
    expect(await load(lines, 'changes')).toMatchObject({ written: 3, new: 1, rejected: 0 })
    expect(await found('UIN', 'U-2')).toEqual([person('U-1', { note: 1, death_date: '2026-06-14' })])
    expect(await rows('select primary_identifier from r1_person order by id')).toEqual([
      { primary_identifier: 'U-1' },
      { primary_identifier: 'U-3' },
    ])
    expect(await notifications()).toMatchObject([{ subscription, event_type: 'Death', presence: 'stayed' }])
  })

  test('a line that cannot be merged is rejected', async () => {
    await merge('U-1', 'U-2')
    const source = Readable.from([`${JSON.stringify(person('U-2', {}, uin('U-9')))}\n`].map(Buffer.from))
    const input = { namespace: 'civil', format: 'ndjson', record_type: 'Person' } as const
    expect(await importRecords(acting({ ...deps(), source }), input)).toMatchObject({ written: 0, rejected: 1 })
  })

  test('identifiers that both bear are found once, and stay those of the survivor', async () => {
    await load([person('U-1', {}, id('BRN', 'B-2'))])
    await merge('U-1', 'U-2')
    expect(await found('BRN', 'B-2')).toHaveLength(1)
    await unmerge('U-2')
    expect(await found('BRN', 'B-2')).toHaveLength(2)
  })

  test('a newer version of the retired record does not keep an older one of the survivor away', async () => {
    await publish('UPDATE', person('U-2'), { source_version: 9 })
    await merge('U-1', 'U-2')
    await publish('UPDATE', person('U-1', { note: 1 }), { source_version: 3 })
    await publish('UPDATE', person('U-2', { note: 2 }), { source_version: 8 })
    expect(await found('UIN', 'U-2')).toMatchObject([{ note: 1 }])
  })
})

describe('subscriptions', () => {
  test('to the retired record match changes of the survivor, and end with its death', async () => {
    await load([person('U-1'), person('U-2')])
    const subscription = await subscribe('Death', 'U-2', { person: true })
    await merge('U-1', 'U-2')
    expect(await publish('Death', person('U-1', { death_date: '2026-06-14' }))).toMatchObject({ matched: 1 })
    expect(await notifications()).toMatchObject([{ subscription, presence: 'stayed', purpose: 'event' }])
    expect(await rows('select state, reason from subscription')).toEqual([{ state: 'ended', reason: 'death' }])
  })

  test('to the retired record are told that the survivor was deleted', async () => {
    await load([person('U-1'), person('U-2')])
    const subscription = await subscribe('UPDATE', 'U-2')
    await merge('U-1', 'U-2')
    const input = { namespace: 'civil', record_type: 'Person', identifiers: ['U-1'] }
    expect(await deleteRecords(acting(deps()), input)).toMatchObject({ deleted: 1 })
    expect(await notifications()).toMatchObject([{ subscription, event_type: 'UPDATE', presence: 'left' }])
  })
})

describe('who was notified of the retired record', () => {
  beforeEach(() => load([person('U-1')]))
  const born = () => publish('LiveBirth', person('U-2', { sex: 'female' }))

  test('gets the identifiers of both as the records write them', async () => {
    await load([person('s1t-c88')])
    await subscribe('LiveBirth', 'S1T-C99')
    await publish('LiveBirth', person('s1t-c99'))
    await merge('S1T-C88', 'S1T-C99')
    const [event] = await rows(`select identifiers::json, replaced_by from event where event_type = 'CANCEL'`)
    expect(event).toEqual({ identifiers: { identifier: [uin('s1t-c99')] }, replaced_by: { type: 'UIN', value: 's1t-c88' } })
  })

  test('gets one CANCEL, with the identifiers of it and the survivor’s', async () => {
    const [first] = [await subscribe('LiveBirth', 'U-2'), await subscribe('LiveBirth', 'U-1')]
    const update = await subscribe('UPDATE', 'U-2')
    await born()
    await publish('UPDATE', person('U-2', { note: 1 }))
    await publish('UPDATE', person('U-2', { note: 2 }))
    expect(await merge('U-1', 'U-2')).toMatchObject({ notified: 2 })
    const sent = (await waiting()).filter(({ purpose }) => purpose === 'correction')
    expect(new Set(sent.map(({ event }) => event)).size).toBe(1)
    const cancel = { event_type: 'CANCEL', presence: 'left', replaced_by: { type: 'UIN', value: 'U-1' } }
    expect(sent).toMatchObject([
      { ...cancel, subscription: first },
      { ...cancel, subscription: update },
    ])
    const [event] = await rows(`select document, identifiers from event where event_type = 'CANCEL'`)
    // The conditions of grants are asked of the record as it was before; what is sent are its identifiers.
    expect(JSON.parse(event.document)).toMatchObject({ identifier: [uin('U-2')], sex: 'female', note: 2 })
    expect(JSON.parse(event.identifiers)).toEqual({ identifier: [uin('U-2')] })
    // The last that each knows of the record is corrected.
    const earlier = await rows(`select max(id) as corrects from notification where purpose = 'event'
      group by subscription order by subscription`)
    expect((await notifications()).flatMap(({ corrects }) => (corrects === null ? [] : { corrects }))).toEqual(earlier)
  })

  test('gets it where the death has ended the subscription, and not where its owner has', async () => {
    const dead = await subscribe('Death', 'U-2', { person: true })
    await subscribe('LiveBirth', 'U-2')
    await born()
    await publish('Death', person('U-2', { death_date: '2026-06-14' }))
    await rows(`update subscription set state = 'ended', reason = 'unsubscribed' where event_type = 'LiveBirth'`)
    await merge('U-1', 'U-2')
    const corrections = (await notifications()).filter(({ purpose }) => purpose === 'correction')
    expect(corrections).toMatchObject([{ subscription: dead }])
    expect(await rows('select state, reason from subscription where id = $1', dead)).toEqual([
      { state: 'ended', reason: 'death' },
    ])
  })

  test('gets it also after an earlier event was taken back', async () => {
    await subscribe('Death', 'U-2')
    await publish('Death', person('U-2', { death_date: '2026-06-14' }), { event_id: 'death' })
    await publish('CANCEL', person('U-2', { death_date: null }), { corrects: 'death' })
    expect(await merge('U-1', 'U-2')).toMatchObject({ notified: 1 })
  })

  test('gets nothing of it when that is too long ago', async () => {
    await subscribe('LiveBirth', 'U-2')
    await born()
    now = new Date(now.getTime() + (limits.correction_time + 1) * 86_400_000)
    expect(await merge('U-1', 'U-2')).toMatchObject({ notified: 0 })
  })

  test('gets the record when the merge is taken back, and one CANCEL when it is merged again', async () => {
    await subscribe('LiveBirth', 'U-2')
    await born()
    await merge('U-1', 'U-2')
    expect(await unmerge('U-2')).toEqual({ namespace: 'civil', record_type: 'Person', notified: 1 })
    expect(await merge('U-1', 'U-2')).toMatchObject({ notified: 1 })
    const found = await notifications()
    const ids = (await rows('select id from notification order by id')).map((row) => row.id)
    expect(found).toMatchObject([
      { event_type: 'LiveBirth', purpose: 'event', corrects: null },
      { event_type: 'CANCEL', purpose: 'correction', presence: 'left', corrects: ids[0] },
      { event_type: 'CORRECTION', purpose: 'correction', presence: 'stayed', corrects: ids[1] },
      { event_type: 'CANCEL', purpose: 'correction', presence: 'left', corrects: ids[2] },
    ])
    const [restored] = await rows(`select document, replaced_by from event where event_type = 'CORRECTION'`)
    expect(restored.replaced_by).toBeNull()
    expect(JSON.parse(restored.document)).toEqual(person('U-2', { sex: 'female' }))
  })

  test('has earlier events corrected again after an unmerge', async () => {
    const dead = await subscribe('Death', 'U-2', { person: true })
    await publish('Death', person('U-2', { death_date: '2026-06-14' }), { event_id: 'death' })
    await merge('U-1', 'U-2')
    await expect(publish('CANCEL', person('U-2', { death_date: null }), { corrects: 'death' })).rejects.toThrow(
      new AdminRefusal('corrects: must name an event of this record'),
    )
    await unmerge('U-2')
    expect(await publish('CANCEL', person('U-2', { death_date: null }), { corrects: 'death' })).toMatchObject({ matched: 1 })
    expect(await rows('select state from subscription where id = $1', dead)).toEqual([{ state: 'live' }])
  })
})

describe('unmerge', () => {
  test('restores the record as it was; what the survivor was given stays', async () => {
    await load([person('U-1'), person('U-2', { sex: 'male' }, id('MRN', 'M-2'))])
    const of = `select id, primary_identifier, document, created_at, sex from r1_person where primary_identifier = 'U-2'`
    const identifiers = 'select * from r1_person_identifier order by type, value, record'
    const [before, borne] = [await rows(of), await rows(identifiers)]
    await merge('U-1', 'U-2')
    await publish('UPDATE', person('U-2', { note: 1 }))
    await unmerge('U-2')
    expect(await rows(of)).toEqual(before)
    expect(await rows(identifiers)).toEqual(borne)
    expect(await found('UIN', 'U-1')).toEqual([person('U-1', { note: 1 })])
    expect(await rows('select from retired_record')).toEqual([])
  })

  test('several merges one after the other, taken back in any order', async () => {
    await load(['A', 'B', 'C'].map((value) => person(value)))
    await merge('B', 'A')
    await merge('C', 'B')
    const finds = async () =>
      Object.fromEntries(
        await Promise.all(
          ['A', 'B', 'C'].map(async (value) => {
            const [only] = (await found('UIN', value)) as JsonObject[]
            return [value, JSON.stringify(only).at(-5)]
          }),
        ),
      )
    expect(await finds()).toEqual({ A: 'C', B: 'C', C: 'C' })
    await unmerge('B')
    expect(await finds()).toEqual({ A: 'B', B: 'B', C: 'C' })
    await merge('C', 'B')
    await unmerge('A')
    expect(await finds()).toEqual({ A: 'A', B: 'C', C: 'C' })
    await unmerge('B')
    expect(await finds()).toEqual({ A: 'A', B: 'B', C: 'C' })
  })

  test('is refused where another record has the identifier since', async () => {
    await load([person('U-1'), person('U-2')])
    await merge('U-1', 'U-2')
    await rows(`insert into r1_person (primary_identifier, document) values ('U-2', '{}')`)
    await expect(unmerge('U-2')).rejects.toMatchObject({
      message: 'retired: another record has its primary identifier now',
      reason: 'conflict',
    })
  })
})

test('a deletion of the survivor takes with it what was merged into it', async () => {
  await load(['A', 'B', 'C'].map((value) => person(value)))
  await merge('B', 'A')
  await merge('C', 'B')
  const input = { namespace: 'civil', record_type: 'Person', identifiers: ['A', 'C'] }
  expect(await deleteRecords(acting(deps()), input)).toMatchObject({ asked: 2, deleted: 1 })
  expect(await rows('select from retired_record')).toEqual([])
  expect(await rows('select primary_identifier from record_tombstone order by 1')).toEqual(
    ['A', 'B', 'C'].map((primary_identifier) => ({ primary_identifier })),
  )
  expect(await load([person('A')])).toMatchObject({ new: 1 })
  expect(await found('UIN', 'A')).toEqual([person('A')])
})
