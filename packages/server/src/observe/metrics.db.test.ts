import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  answering,
  newDelivery,
  type Receiver,
  receiver,
  type TestSender,
  takes,
  testSender,
} from '../../test/deliveries.ts'
import { drain } from '../delivery/drain.ts'
import { outboxHealth } from '../store/events/outbox.ts'
import { createMetrics } from './metrics.ts'

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
  await drain(sender.context, failing.id)
  peer.answer = answering(200)
  await newDelivery(sender, well)
  await drain(sender.context, well.id)
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
  const metrics = createMetrics(
    () => ({ total: 0, idle: 0, waiting: 0 }),
    undefined,
    undefined,
    () => outboxHealth(sender.context.db),
  )
  const { text } = await metrics.render()
  expect(text).toContain('rollcall_outbox_rows{state="waiting"} 2')
  expect(text).toContain('rollcall_outbox_rows{state="failed"} 1')
  expect(text).toMatch(/^rollcall_outbox_oldest_seconds 9\d/m)
})

test('metrics are there when the database is not', async () => {
  const metrics = createMetrics(
    () => ({ total: 0, idle: 0, waiting: 0 }),
    () => Promise.reject(new Error('away')),
    undefined,
    () => Promise.reject(new Error('away')),
  )
  metrics.deliveryEnded('dead')
  const { text } = await metrics.render()
  expect(text).toContain('rollcall_deliveries_total{state="dead"} 1')
  expect(text).not.toContain('rollcall_deliveries_pending{')
  expect(text).not.toMatch(/^rollcall_outbox_/m)
})
