/** A change of a household is an event of its new members' own records too. */

import { publishEvent } from '@rollcall/admin/events/publish'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { keysOfFilter } from '@rollcall/core/events/filing'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import type { JsonObject } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { insertSubscription } from '../../test/subscriptions.ts'
import { recordChanges } from './record-changes.ts'
import { compiledFiltersOf } from './recording.ts'

let database: TestDatabase
let registry: Registry
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'social', kind: 'social', sender_id: 'sr.example' })
})
afterAll(() => database.close())

const now = new Date('2026-06-15T09:00:00Z')
const limits = DEFAULT_LIMITS
const rows = async (statement: string, ...values: unknown[]) => (await database.db.pool.query(statement, values)).rows

const person = (uin: string, more: JsonObject = {}): JsonObject => ({
  '@type': 'Member',
  member_identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'NID', identifier_value: `N-${uin}` },
  ],
  ...more,
})
const household = (...member_list: JsonObject[]): string =>
  JSON.stringify({ group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }], member_list })
const changed = (before: string | null, after: string | null) =>
  withTransaction(database.db.pool, (client) =>
    recordChanges(
      client,
      { registry, records: recordsOf(database.db, registry), now, limits, filters: compiledFiltersOf(database.db.pool) },
      [{ record_type: 'Group', record: '1', before, after }],
    ),
  )

test('new members whose records the registry has', async () => {
  const record = (uin: string) => person(uin, { marital_status: 'S' })
  for (const uin of ['U-1', 'U-2', 'U-3']) {
    const event = { namespace: 'social', reg_event_type: 'REGISTER', record: record(uin) }
    await publishEvent(acting({ db: database.db, limits }), event)
  }
  const code = await withTransaction(database.db.pool, async (client) => {
    const criteria = JSON.stringify({ reg_event_type: 'NewHouseHoldMember', notify_record_type: 'Member' })
    const types = { event_type: 'NewHouseHoldMember', record_type: 'Member' }
    const id = await insertSubscription(client, registry.id, types, criteria)
    for (const { key, whole } of keysOfFilter(null)) {
      await client.query(`insert into subscription_key values ($1, $2, $3, $4, $5, $6)`, [
        ...[registry.id, types.event_type, types.record_type, key, id, whole],
      ])
    }
    return id
  })
  await rows('truncate event cascade')

  const events = await changed(household(person('U-1')), household(person('U-1'), person('U-2'), person('U-9')))
  expect(events).toMatchObject([
    { event_type: 'NewHouseHoldMember', matched: 0 },
    { event_type: 'NewHouseHoldMember', matched: 1 },
  ])
  const found = await rows(
    `select event.record_type, document, presence, subscription from event
      left join notification on notification.event = event.id order by event.id`,
  )
  expect(found.map(({ record_type }) => record_type)).toEqual(['Group', 'Member'])
  expect(found[1]).toMatchObject({ presence: 'stayed', subscription: code })
  expect(JSON.parse(found[1].document)).toEqual(record('U-2'))
})

test('a member whose record was merged into another is found in that one', async () => {
  const deps = { db: database.db, limits }
  for (const uin of ['M-1', 'M-2']) {
    await publishEvent(acting(deps), { namespace: 'social', reg_event_type: 'REGISTER', record: person(uin) })
  }
  const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
  await mergeRecords(acting(deps), { namespace: 'social', survivor: uin('M-1'), retired: uin('M-2') })
  const events = await changed(household(person('U-1')), household(person('U-1'), person('M-2')))
  const [member] = await rows('select document from event where id = $1', events[1]?.id)
  expect(events).toHaveLength(2)
  expect(JSON.parse(member.document)).toEqual(person('M-1'))
})

test.each([
  ['a new household', null, household(person('U-1'), person('U-2')), 1],
  ['a member less', household(person('U-1'), person('U-2')), household(person('U-1')), 0],
  ['a member of whom nothing is known', household(person('U-1')), household(person('U-1'), person('U-9')), 1],
])('%s is no event of members', async (_, before, after, events) => {
  await rows('truncate event cascade')
  await changed(before, after)
  expect(await rows(`select from event where record_type = 'Group'`)).toHaveLength(events)
  expect(await rows(`select from event where record_type = 'Member'`)).toHaveLength(0)
})
