import { outboxHealth } from '@rollcall/delivery/store/events/outbox'
import { countWaitingExchanges } from '@rollcall/engine/store/exchanges/claims'
import { createMetrics } from '@rollcall/observe/metrics'
import { findGrantsAndKeysEndingSoon } from '@rollcall/participants/store/ends'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { drainParticipant } from '../../../delivery/src/delivery/drain-participant.ts'
import { NO_STORED_HEALTH } from '../../../observe/src/stored-health.ts'
import { answering, newDelivery, type Receiver, receiver, type TestSender, takes, testSender } from '../deliveries.ts'

let sender: TestSender
let peer: Receiver
beforeAll(async () => {
  sender = await testSender()
  peer = await receiver(answering(500))
})
afterAll(async () => {
  await peer.close()
  await sender.close()
})

test('metrics tell how deliveries end, and how each participant with a trouble stands', async () => {
  const [well, failing, quiet] = [
    await takes(sender, 'well.example', peer.url),
    await takes(sender, 'failing.example', peer.url, { concurrency: 1 }),
    await takes(sender, 'quiet.example', null),
  ]
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => newDelivery(sender, failing)))
  await drainParticipant(sender.context, failing.id)
  peer.answer = answering(200)
  await newDelivery(sender, well)
  await drainParticipant(sender.context, well.id)
  const { text } = await sender.context.metrics.render()
  expect(text).toContain('rollcall_deliveries_total{state="delivered"} 1')
  expect(text).toContain('rollcall_delivery_attempt_seconds_count{ending="http_5xx"} 5')
  expect(text).toContain('rollcall_delivery_attempt_seconds_count{ending="delivered"} 1')
  expect(text).toContain('rollcall_deliveries_pending{participant="failing.example"} 6')
  expect(text).toContain('rollcall_delivery_breaker{participant="failing.example"} 1')
  expect(text).toContain('rollcall_deliveries_dead{participant="failing.example"} 0')
  expect(text).not.toContain(well.sender_id)
  expect(text).not.toContain(quiet.sender_id)
})

test('metrics count the rows of the outbox', async () => {
  const { pool } = sender.context.db
  await pool.query(
    `insert into rollcall_outbox.event (namespace, reg_event_type, record, created_at, failure, failed_at)
      values ('civil', 'Death', '{}', now() - interval '90 seconds', null, null),
        ('civil', 'Death', '{}', now(), null, null),
        ('civil', 'Death', '{}', now() - interval '1 day', 'record: must be one', now())`,
  )
  const metrics = createMetrics(() => ({ total: 0, idle: 0, waiting: 0 }), undefined, {
    ...NO_STORED_HEALTH,
    outbox: () => outboxHealth(sender.context.db),
  })
  const { text } = await metrics.render()
  expect(text).toContain('rollcall_outbox_rows{state="waiting"} 2')
  expect(text).toContain('rollcall_outbox_rows{state="failed"} 1')
  expect(text).toMatch(/^rollcall_outbox_oldest_seconds 9\d/m)
})

test('metrics are there when the database is not', async () => {
  const away = () => Promise.reject(new Error('away'))
  const metrics = createMetrics(() => ({ total: 0, idle: 0, waiting: 0 }), undefined, {
    deliveries: away,
    outbox: away,
    exchanges: away,
    ends: away,
    mirrors: away,
    schema: away,
  })
  metrics.deliveryEnded('dead')
  const { text } = await metrics.render()
  expect(text).toContain('rollcall_deliveries_total{state="dead"} 1')
  expect(text).not.toContain('rollcall_deliveries_pending{')
  expect(text).not.toMatch(/^rollcall_(?:outbox|exchange|grant|participant_key|mirror)/m)
})

test('metrics count accepted requests that wait, and tell the ends of grants and keys that are near', async () => {
  const { context, registry } = sender
  const { pool } = context.db
  const { id } = await takes(sender, 'ending.example', null)
  await pool.query(
    `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
       encrypted, request, items, references_stored, state, due_at)
     values (gen_random_uuid(), $1, $2, 'search', 'm', 'tx', false, '', 1, true, 'accepted', now() - interval '90 seconds')`,
    [id, registry.id],
  )
  const day = (days: number) => new Date(Date.now() + days * 86_400_000)
  const grants = 'insert into participant_grant (participant, registry, terms, valid_from, valid_until)'
  const keys = 'insert into participant_key (participant, kid, use, algorithm, public_jwk, thumbprint, valid_until)'
  await pool.query('delete from participant_grant where participant = $1', [id])
  await pool.query(`${grants} values ($1, $2, '{}', now(), $3)`, [id, registry.id, day(10)])
  // A key that another one follows does not end anything.
  for (const [kid, use, until] of [
    ['k-1', 'sig', day(5)],
    ['k-2', 'sig', null],
    ['k-3', 'enc', day(20)],
    ['k-4', 'enc', day(10)],
  ]) {
    await pool.query(`${keys} values ($1, $2::text, $3, 'EdDSA', '{}', rpad($2::text, 43, 'x'), $4)`, [id, kid, use, until])
  }
  const metrics = createMetrics(() => ({ total: 0, idle: 0, waiting: 0 }), undefined, {
    ...NO_STORED_HEALTH,
    exchanges: () => countWaitingExchanges(context.db),
    ends: () => findGrantsAndKeysEndingSoon(context.db, 30),
  })
  expect(await findGrantsAndKeysEndingSoon(context.db, 30)).toHaveLength(2)
  const { text } = await metrics.render()
  expect(text).toContain('rollcall_exchanges_waiting 1')
  expect(text).toMatch(/^rollcall_exchange_oldest_seconds 9\d/m)
  const ends = (name: string): readonly (readonly [string, number])[] =>
    [...text.matchAll(new RegExp(`^${name}\\{participant="ending.example",(.*)\\} (\\S+)$`, 'gm'))].map(
      ([, label = '', value]) => [label, Math.round((Number(value) - Date.now() / 1_000) / 86_400)],
    )
  expect(ends('rollcall_grant_end_seconds')).toEqual([[`registry="${registry.namespace}"`, 10]])
  expect(ends('rollcall_participant_key_end_seconds')).toEqual([['use="enc"', 20]])

  await pool.query(`${grants} values ($1, $2, '{}', $3, null)`, [id, registry.id, day(10)])
  expect((await findGrantsAndKeysEndingSoon(context.db, 30)).map(({ what, of }) => [what, of])).toEqual([['key', 'enc']])
  await pool.query(`update participant set status = 'disabled' where id = $1`, [id])
  expect(await findGrantsAndKeysEndingSoon(context.db, 30)).toEqual([])
})
