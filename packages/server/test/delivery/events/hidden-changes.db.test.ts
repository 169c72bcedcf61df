/** A change of a household that concerns hidden persons alone is told to nobody from whom they are hidden, whoever makes it. */
import { Readable } from 'node:stream'
import { publishOutbox } from '@rollcall/admin/events/outbox'
import { publishEvent } from '@rollcall/admin/events/publish'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { importRecords } from '@rollcall/admin/records/records'
import { keysOfFilter } from '@rollcall/core/events/filing'
import { withTransaction } from '@rollcall/database/transaction'
import { findParticipant } from '@rollcall/participants/store/participants'
import type { JsonObject } from '@rollcall/protocol'
import { beforeEach, describe, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { insertSubscription } from '../../../../delivery/test/subscriptions.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
const { db } = server.database
const SUBSCRIBED = [
  { registry: await server.registry('social'), record_type: 'Group', events: ['NewHouseHoldMember', 'REGISTER'] },
  { registry: await server.registry('civil'), record_type: 'Person', events: ['LiveBirth', 'Death'] },
]
const deps = { db, limits: server.context.limits }
const rows = async (text: string, ...values: unknown[]) => (await db.pool.query(text, values)).rows

/** The subscribers, by what their grants let them see. */
const SUBSCRIBERS = {
  all: { protected: 'all' as const },
  shelter: { protected: ['shelter' as const] },
  nobody: {},
  adults: { minors: 'never' as const },
  // This subscriber sees identifiers alone: which members are shown makes no difference.
  head: { see: ['identifier'], protected: 'all' as const },
}
type Subscriber = keyof typeof SUBSCRIBERS
const named = new Map<number, Subscriber>()
for (const [name, terms] of Object.entries(SUBSCRIBERS)) {
  await server.participant(`${name}.demo`, {}, { unfiltered: true, ...terms })
  const participant = (await findParticipant(db, `${name}.demo`))?.id ?? 0
  for (const { registry, record_type, events } of SUBSCRIBED) {
    for (const event_type of events) {
      await withTransaction(db.pool, async (client) => {
        const filed = { event_type, record_type, participant }
        const criteria = JSON.stringify({ reg_event_type: event_type, notify_record_type: record_type })
        const id = await insertSubscription(client, registry.id, filed, criteria)
        named.set(id, name as Subscriber)
        for (const { key, whole } of keysOfFilter(null)) {
          await client.query('insert into subscription_key values ($1, $2, $3, $4, $5, $6)', [
            ...[registry.id, event_type, record_type, key, id, whole],
          ])
        }
      })
    }
  }
}
const EVERYBODY = Object.keys(SUBSCRIBERS).sort()
const MAY_SEE = ['all', 'head', 'shelter']

const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const member = (value: string, birth_date: string | null = '1980-01-01'): JsonObject => ({
  '@type': 'Member',
  demographic_info: { ...(birth_date && { birth_date }) },
  member_identifier: [uin(value)],
})
const [HEAD, SPOUSE, HIDDEN, CHILD] = [member('U-1'), member('U-2'), member('U-66'), member('U-7', '2020-01-01')]
let household = ''
let count = 0
const group = (members: readonly JsonObject[] | null, more: JsonObject = {}): JsonObject => ({
  '@type': 'Group',
  group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: household }],
  ...(members && { group_size: members.length, member_list: [...members] }),
  ...more,
})

beforeEach(async () => {
  count += 1
  household = `H-${count}`
})
for (const { registry } of SUBSCRIBED) {
  const hidden = { namespace: registry.namespace, identifier_type: 'UIN', identifier_value: 'U-66' }
  await protectPerson(acting({ db }), { ...hidden, category: 'shelter', reason: 'x' })
}

/** Does the work, and returns the subscribers that were notified of it. */
async function toldBy(work: () => Promise<unknown>): Promise<Subscriber[]> {
  const [{ last }] = await rows('select coalesce(max(id), 0) as last from notification')
  await work()
  const found = await rows('select subscription from notification where id > $1', last)
  return found.flatMap(({ subscription }) => named.get(subscription) ?? []).sort()
}

const WAYS: Readonly<Record<string, (record: JsonObject) => Promise<unknown>>> = {
  'a call': (record) =>
    publishEvent(acting(deps), { namespace: 'social', reg_event_type: 'NewHouseHoldMember', record, replace: true }),
  'the outbox': async (record) => {
    await rows(
      `insert into rollcall_outbox.event (namespace, reg_event_type, record, replace)
       values ('social', 'NewHouseHoldMember', $1, true)`,
      JSON.stringify(record),
    )
    await publishOutbox(server.context, new AbortController().signal)
  },
  'an import': (record) =>
    importRecords(acting({ ...deps, source: Readable.from([JSON.stringify(record)]) }), {
      namespace: 'social',
      format: 'ndjson',
      events: 'changes',
    }),
}

describe.each(Object.entries(WAYS))('by %s', (way, write) => {
  const isImport = way === 'an import'
  const store = (record: JsonObject) =>
    publishEvent(acting(deps), { namespace: 'social', reg_event_type: 'REGISTER', record, replace: true })

  test.each<[string, JsonObject[] | null, JsonObject[]]>([
    ['joins', [HEAD], [HEAD, HIDDEN]],
    ['is the first who joins', [], [HIDDEN]],
    ['joins a household that lists nobody', null, [HIDDEN]],
    ['leaves', [HEAD, HIDDEN], [HEAD]],
    ['was the last who leaves', [HIDDEN], []],
    ['changes', [HEAD, HIDDEN], [HEAD, { ...HIDDEN, marital_status: 'S' }]],
  ])('a protected member %s: those alone are told who may see them', async (_, before, after) => {
    await store(group(before))
    // group_size comes with the list there.
    const change = () => write(group(after, before === null ? { group_size: null } : {}))
    // The rules derive an event from what everybody may know.
    expect(await toldBy(change)).toEqual(isImport ? [] : MAY_SEE)
  })

  test('a minor joins: whoever never sees minors is not told', async () => {
    await store(group([HEAD]))
    expect(await toldBy(() => write(group([HEAD, CHILD])))).toEqual(EVERYBODY.filter((name) => name !== 'adults'))
  })

  test('both join: each is hidden from others', async () => {
    await store(group([HEAD]))
    expect(await toldBy(() => write(group([HEAD, CHILD, HIDDEN])))).toEqual(['all', 'head', 'nobody', 'shelter'])
  })

  test('somebody else joins with them: everybody is told', async () => {
    await store(group([HEAD]))
    expect(await toldBy(() => write(group([HEAD, SPOUSE, CHILD, HIDDEN])))).toEqual(EVERYBODY)
  })

  test('a new household of hidden members: everybody is told of the household, and of a member who sees one', async () => {
    const told = await toldBy(() => write(group([HIDDEN, CHILD])))
    expect(told).toEqual(isImport ? EVERYBODY : EVERYBODY.filter((name) => name !== 'adults'))
  })

  test('a record that is as it was is an event where it is published, and none where it is imported', async () => {
    await store(group([HEAD, SPOUSE]))
    expect(await toldBy(() => write(group([HEAD, SPOUSE])))).toEqual(isImport ? [] : EVERYBODY)
  })

  test('what holds nothing is no hidden person', async () => {
    await store(group([HEAD]))
    const told = await toldBy(() => write(group([HEAD], { additional_attributes: [] })))
    expect(told).toEqual(isImport ? [] : EVERYBODY)
  })
})

test.each(Object.entries(WAYS))(
  'a minor joins while something else changes, by %s: whoever never sees minors is not told',
  async (_, write) => {
    const address = { address: { locality: 'Elm St' } }
    await WAYS['a call']?.(group([HEAD]))
    expect(await toldBy(() => write(group([HEAD, CHILD], address)))).toEqual(EVERYBODY.filter((name) => name !== 'adults'))
  },
)

test.each([null, '1980-01-01'])(
  'a member comes of age (%s) while a hidden one joins: new to those alone who see no minors',
  async (born) => {
    await WAYS['a call']?.(group([HEAD, member('U-2', null)]))
    const told = await toldBy(async () => WAYS['a call']?.(group([HEAD, member('U-2', born), HIDDEN])))
    expect(told).toEqual(born === null ? MAY_SEE : [...MAY_SEE, 'adults'].sort())
  },
)

test('somebody who is hidden elsewhere in the record is not in the list', async () => {
  const related = [{ relationship_type: 'spouse', related_member: { member_identifier: [uin('U-66')] } }]
  const household = group([{ ...HEAD, related_person: related }])
  await WAYS['a call']?.(household)
  expect(await toldBy(async () => WAYS['a call']?.(household))).toEqual(EVERYBODY)
})

describe('what concerns a protected member alone is told to nobody from whom the member is hidden, however it is published', () => {
  type Published = readonly [type: string, members: JsonObject[], more?: JsonObject, options?: object]
  const publish = ([reg_event_type, members, more = {}, options = {}]: Published) =>
    publishEvent(acting(deps), { namespace: 'social', reg_event_type, record: group(members, more), replace: true, ...options })
  const joined = (members: JsonObject[], more: JsonObject = {}, options: object = {}): Published => [
    ...(['NewHouseHoldMember', members, more, options] as const),
  ]
  const later = { last_updated: '2026-11-26T09:00:00Z' }

  test.each<[string, readonly Published[], Published]>([
    ['another change beside it', [], joined([HEAD, HIDDEN], later)],
    ['another type of event for the same change', [['REGISTER', [HEAD, HIDDEN]]], joined([HEAD, HIDDEN])],
    ['the same publication again', [joined([HEAD, HIDDEN])], joined([HEAD, HIDDEN])],
    ['again, with another change', [joined([HEAD, HIDDEN])], joined([HEAD, HIDDEN], later)],
    [
      'an older version of the source',
      [['REGISTER', [HEAD], {}, { source_version: 9 }]],
      joined([HEAD, HIDDEN], {}, { source_version: 3 }),
    ],
    [
      'an older version of the source, as a part of the record',
      [['REGISTER', [HEAD], {}, { source_version: 9 }]],
      joined([HIDDEN], later, { source_version: 3, replace: false }),
    ],
    [
      'an older version of the source that could not be merged',
      [['REGISTER', [HEAD], {}, { source_version: 9 }]],
      joined([HIDDEN], later, { source_version: 3, replace: false, remove: { nothing: [] } }),
    ],
    [
      'an older version of the source, as another type of event',
      [['REGISTER', [HEAD], {}, { source_version: 9 }]],
      ['REGISTER', [HEAD, HIDDEN], {}, { source_version: 3 }],
    ],
  ])('%s', async (_, before, last) => {
    await publish(['REGISTER', [HEAD]])
    for (const one of before) await publish(one)
    expect(await toldBy(() => publish(last))).toEqual(MAY_SEE)
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['beside another change', {}, { ...later, group_head_info: HIDDEN }],
    ['once more', { group_head_info: HIDDEN }, { group_head_info: HIDDEN }],
  ])('as the head of the household, %s', async (_, before, after) => {
    await publish(['REGISTER', [HEAD], before])
    expect(await toldBy(() => publish(joined([HEAD], after)))).toEqual(MAY_SEE)
    expect(await toldBy(() => publish(joined([HEAD, SPOUSE], after)))).toEqual(EVERYBODY)
  })

  test('what an older version says of somebody whom everybody sees', async () => {
    await publish(['REGISTER', [HEAD], {}, { source_version: 9 }])
    const older = { source_version: 3 }
    expect(await toldBy(() => publish(joined([HEAD, SPOUSE, HIDDEN], {}, older)))).toEqual(EVERYBODY)
    expect(await toldBy(() => publish(joined([HEAD], later, older)))).toEqual(EVERYBODY)
  })
})

describe('a published event is told of a record that names somebody hidden, whatever the rules would say of the change', () => {
  const person = (more: JsonObject): JsonObject => ({
    identifier: [uin(`U-10${count}`)],
    parent1_identifier: uin('U-66'),
    ...more,
  })
  const publish = (reg_event_type: string, record: JsonObject) =>
    publishEvent(acting(deps), { namespace: 'civil', reg_event_type, record })
  const dead = { death_date: '2026-01-01' }

  test.each<[string, string, JsonObject | null, JsonObject]>([
    ['a birth that is registered late', 'LiveBirth', null, { birth_date: '1990-05-05' }],
    ['a birth of a record that was there', 'LiveBirth', {}, { birth_date: '1990-05-05' }],
    ['a death of a record that was imported before', 'Death', dead, dead],
    ['a death that was known, beside another change', 'Death', dead, { ...dead, note: 'x' }],
  ])('%s', async (_, type, before, after) => {
    if (before !== null) await publish('UPDATE', person(before))
    expect(await toldBy(() => publish(type, person(after)))).toEqual(EVERYBODY)
  })
})

test('a correction that changes a hidden member alone is told to the receivers who may see them', async () => {
  const publish = (reg_event_type: string, record: JsonObject, more: object) =>
    publishEvent(acting(deps), { namespace: 'social', reg_event_type, record, replace: true, ...more })
  await publish('NewHouseHoldMember', group([HEAD]), { event_id: `e-${household}` })
  const corrects = { corrects: `e-${household}` }
  expect(await toldBy(() => publish('CORRECTION', group([HEAD, HIDDEN]), corrects))).toEqual(MAY_SEE)
  const later = { last_updated: '2026-11-26T09:00:00Z' }
  expect(await toldBy(() => publish('CORRECTION', group([HEAD], later), corrects))).toEqual(EVERYBODY)
  expect(await toldBy(() => publish('CANCEL', group([HEAD, HIDDEN]), corrects))).toEqual(EVERYBODY)
})
