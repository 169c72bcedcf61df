/**
 * A node of the version before record keys (0061) runs beside this one on the tables of this version: each goes on with what the
 * other has begun. The statements of the earlier version are written out here as it had them.
 */
import { backfillSubscription } from '@rollcall/admin/events/subscription-mailbox'
import {
  findSubscriptionToNotify,
  findUnfinishedBackfill,
  queueBackfill,
} from '@rollcall/delivery/store/events/tests-and-backfills'
import { beforeAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { accepted, asyncServer, callbacksTo, deliverAll, searchFor } from '../asynchronous.ts'
import { codeOf } from '../subscribing.ts'

const people = Array.from({ length: 6 }, (_, n) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U-${n}` }],
  sex: 'male',
}))
const { server, registry, newPeer } = await asyncServer(people)
const { db } = server.database
const query = async (text: string, values: unknown[] = []) => (await db.pool.query(text, values)).rows
const [recordType] = registry.kind.record_types

let ids: readonly number[]
beforeAll(async () => {
  ids = (await query(`select id from r${registry.id}_person order by id`)).map(({ id }) => id)
})

const subscribed = async () => {
  const filter = [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'male' } }]
  const criteria = { reg_event_type: 'LiveBirth', notify_record_type: 'Person', filter_type: 'predicate', filter }
  const code = await codeOf(server, await newPeer(), criteria)
  const subscription = await findSubscriptionToNotify(db.pool, code)
  if (subscription === undefined) throw new Error('nobody has subscribed')
  return { code, subscription }
}
/** A version that no clock has reached. */
const LAST_VERSION = 8_000_000_000_000_000
const beginningOfYesterday = async (): Promise<number> => {
  const [row] = await query(
    `select (extract(epoch from date_trunc('day', now(), 'UTC') - interval '24 hours') * 1000000)::bigint as version`,
  )
  return row.version
}
/** The version of a record, as a node of the version before reads it. */
const versionBefore = async (record: number | undefined) => {
  const [row] = await query(
    'select max(record_version) as version from event where registry = $1 and record_type = $2 and record = $3',
    [registry.id, recordType.name, record],
  )
  return row.version
}

test('this node goes on with a backfill of the version before, and finds the versions of its events', async () => {
  const { code, subscription } = await subscribed()
  await query(
    `insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, matched, purpose)
     values ($1, 'LiveBirth', 'Person', $2, ${LAST_VERSION}, now(), '{}', 0, 'event')`,
    [registry.id, ids[2]],
  )
  await query('update subscription set backfilled = $2, backfilled_since = null where id = $1', [subscription.id, ids[1]])
  expect(await backfillSubscription(acting({ db }), { code })).toEqual({ code, queued: 4 })
  const made = await query(`select record, record_key, record_version from event where purpose = 'backfill' order by id`)
  const yesterday = await beginningOfYesterday()
  expect(made).toEqual(
    ids.slice(2).map((record, at) => ({ record, record_key: null, record_version: at === 0 ? LAST_VERSION : yesterday })),
  )
})

test('a node of the version before goes on with a backfill of this one, and finds the versions of its events', async () => {
  const { subscription } = await subscribed()
  const page = { recordType, predicate: null, since: null, after: null, limit: 3 }
  expect(await queueBackfill(db, registry, subscription, page)).toEqual({ records: 3, last: String(ids[2]) })
  expect(
    await query(
      'select backfilled as last, backfilled_since as since from subscription where id = $1 and backfilled is not null',
      [subscription.id],
    ),
  ).toEqual([{ last: ids[2], since: null }])
  expect([await versionBefore(ids[2]), await versionBefore(ids[0])]).toEqual([LAST_VERSION, await beginningOfYesterday()])
  // Another backfill, which read the same beginning, is too late.
  expect(await queueBackfill(db, registry, subscription, page)).toBeNull()
  await query('update subscription set backfilled = null, backfilled_since = null where id = $1', [subscription.id])
  expect(await findUnfinishedBackfill(db, subscription.id)).toBeNull()
})

test('the pages of an answer are stored as the version before reads them, and read as it stores them', async () => {
  const peer = await newPeer()
  const search_criteria = { query_type: 'expression', query: { sex: 'male' }, pagination: { page_size: 2 } }
  const id = await accepted(server, peer, searchFor(peer, [{ search_criteria }]))
  await deliverAll(server)
  const stored = await query('select record_ids, record_keys from exchange_item where correlation_id = $1', [id])
  expect(stored).toEqual([{ record_ids: ids, record_keys: null }])
  const pages = callbacksTo(peer.receiver).filter(({ envelope }) => envelope.message.correlation_id === id)
  expect(pages).toHaveLength(3)
})
