import { randomBytes, randomUUID } from 'node:crypto'
import type { LoopWake } from '@rollcall/base/shared/wake'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { createReceivedMessageStore } from '../store/exchanges/exchanges.ts'
import { pollQueues } from './poll-queues.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await testDatabase()
})
afterEach(() => database.close())

/** Polls once. Returns for each loop the seconds after which it is woken. */
async function polled(): Promise<Readonly<Record<string, number>>> {
  const raised: Record<string, number> = {}
  const wake = (name: string): LoopWake => ({
    raise(after = 0) {
      raised[name] = Math.round(after / 100) / 10
    },
    wait: async () => undefined,
  })
  await pollQueues({
    db: database.db,
    mailboxes: { anyDue: () => wake('notifications').raise() },
    exchangesWake: wake('exchanges'),
    deliveriesWake: wake('deliveries'),
    outboxWake: wake('outbox'),
    wake: wake('next poll'),
  })
  return raised
}

const run = (text: string) => database.db.pool.query(text)

test('where nothing waits nothing is woken, and the next poll is two seconds away', async () => {
  expect(await polled()).toEqual({ 'next poll': 2 })
})

test('accepted exchanges are due at their time; an overdue one may be claimed by a node that is gone', async () => {
  for (const participant of [1, 2]) {
    const correlation_id = randomUUID()
    await createReceivedMessageStore(database.db, { waiting: 10 }).remember({
      correlation_id,
      participant,
      message_id: 'm',
      fingerprint: randomBytes(32),
      registry: 1,
      operation: 'search',
      transaction_id: 't',
      accepted: {
        sender_uri: null,
        encrypted: false,
        reference_ids: [],
        chunks: [{ id: correlation_id, request: Buffer.from('x'), request_bytes: 1, items: 1 }],
      },
    })
  }
  await run(`update accepted_exchange set due_at = now() + make_interval(secs => 60 * participant)`)
  expect(await polled()).toEqual({ exchanges: expect.closeTo(60, 0), 'next poll': 2 })
  await run(`update accepted_exchange set due_at = now() - interval '1 second', claim = gen_random_uuid(),
    claimed_until = now() + interval '4 seconds' where participant = 2`)
  expect(await polled()).toMatchObject({ exchanges: expect.closeTo(-1, 0), 'next poll': 0.2 })
  await run(`update accepted_exchange set state = 'replied'`)
  expect(await polled()).toEqual({ 'next poll': 2 })
})

test('deliveries, notifications and rows of the outbox that wait wake their loops', async () => {
  await run(`insert into waiting_notification (id, mailbox, is_backfill, due_at) values (1, 1, false, now())`)
  await run(`insert into rollcall_outbox.event (namespace, reg_event_type, record) values ('civil', 'Birth', '{}')`)
  expect(await polled()).toEqual({ notifications: 0, outbox: 0, 'next poll': 2 })
  await run('delete from waiting_notification')
  await run(`update rollcall_outbox.event set failed_at = now(), failure = 'no such registry'`)
  expect(await polled()).toEqual({ 'next poll': 2 })
})
