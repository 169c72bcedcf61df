import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { migrate, openDatabase } from '../database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
beforeEach(async () => {
  await query('truncate notification, subscription, event, mailbox, delivery cascade')
  await query(`with registered as (
      insert into event (registry, event_type, record_type, record, record_version, occurred_at)
      values (1, 'LiveBirth', 'Person', 1, 1, now()) returning id
    ),
    opened as (insert into mailbox (participant, registry) values (1, 1) returning id)
    insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
      transaction_id, correlation_id, reference_id)
    select 'code', 1, 1, opened.id, 'LiveBirth', 'Person', '', '{}', 'tx', gen_random_uuid(), 'r' from registered, opened`)
})
afterAll(() => database.close())

const query = async (text: string, values: unknown[] = []) => (await database.db.pool.query(text, values)).rows

const insert = (purpose: string) =>
  query(
    `insert into notification (mailbox, event, subscription, presence, purpose, due_at)
      select subscription.mailbox, event.id, subscription.id, 'entered', $1, now() from event, subscription returning id`,
    [purpose],
  )

/** Makes an envelope of rows. */
const send = (rows: string) =>
  query(
    `with made as (
        insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, mailbox, sequence)
        select gen_random_uuid(), 1, 1, 'notify', 'm', false, '', 'delivered', mailbox.id, 1 from mailbox returning id
      )
      update notification set state = 'sent', delivery = made.id from made where notification.id in (${rows}) returning made.id`,
  )

const queued = () => query('select mailbox, is_backfill, due_at, id from waiting_notification order by id')
const waiting = () => query(`select mailbox, is_backfill, due_at, id from notification where state = 'waiting' order by id`)

const FIRST = 'select id from notification order by id limit 2'
const CHANGES: Readonly<Record<string, () => Promise<unknown>>> = {
  inserted: () => insert('event'),
  backfilled: () => insert('backfill'),
  sent: () => send(FIRST),
  renewed: () => query(`update notification set state = 'waiting', delivery = null where id in (${FIRST})`),
  dropped: () => query(`update notification set state = 'dropped', delivery = null where id in (${FIRST})`),
  later: () => query(`update notification set due_at = due_at + interval '1 hour' where id in (${FIRST})`),
  untouched: () => query(`update notification set presence = 'stayed'`),
  deleted: () => query(`delete from notification where id in (${FIRST})`),
  truncated: () => query('truncate notification'),
}

test('whatever changes notifications, those that wait are queued, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(CHANGES)), { minLength: 4, maxLength: 12 }), async (names) => {
      for (const name of names) {
        await CHANGES[name]?.()
        expect(await queued()).toEqual(await waiting())
      }
    }),
    { numRuns: 25 },
  )
})

test('events that are forgotten leave nothing in the queue', async () => {
  await insert('event')
  await query('delete from event')
  expect(await queued()).toEqual([])
})

test('no index has a column that changes when a notification is sent', async () => {
  const definitions = await query(`select indexdef from pg_indexes where tablename = 'notification'`)
  expect(definitions.filter(({ indexdef }) => /\b(state|delivery|due_at)\b/.test(indexdef))).toEqual([])
})

test('what waited before, and what was sent, is known after the migration', async () => {
  const { db, owner: connection, close } = await testDatabase()
  const owner = openDatabase(connection)
  const own = async (text: string) => (await db.pool.query(text)).rows
  await own(`drop trigger queue_inserted on notification; drop trigger queue_updated on notification;
    drop trigger queue_deleted on notification; drop trigger queue_truncated on notification;
    drop function queue_notifications(); drop function forget_queued_notifications(); drop table waiting_notification;
    alter table delivery drop column notifications;
    create index notification_waiting_index on notification (mailbox, is_backfill, due_at, id) where state = 'waiting';
    create index notification_delivery_index on notification (delivery) where delivery is not null`)
  await owner.pool.query(`delete from rollcall_migration where name = '0029-waiting-notifications'`)
  await own(`with registered as (
      insert into event (registry, event_type, record_type, record, record_version, occurred_at)
      values (1, 'LiveBirth', 'Person', 1, 1, now()) returning id
    ),
    opened as (insert into mailbox (participant, registry) values (1, 1) returning id)
    insert into subscription (code, participant, registry, mailbox, event_type, record_type, fingerprint, criteria,
      transaction_id, correlation_id, reference_id)
    select 'code', 1, 1, opened.id, 'LiveBirth', 'Person', '', '{}', 'tx', gen_random_uuid(), 'r' from registered, opened`)
  const notify = `insert into notification (mailbox, event, subscription, presence)
    select subscription.mailbox, event.id, subscription.id, 'entered' from event, subscription returning id`
  const ids = (await Promise.all([own(notify), own(notify), own(notify)])).map(([row]) => row.id).sort()
  await own(`with made as (
      insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, mailbox, sequence)
      select gen_random_uuid(), 1, 1, 'notify', 'm', false, '', 'delivered', mailbox.id, 1 from mailbox returning id
    )
    update notification set state = 'sent', delivery = made.id from made where notification.id <= ${ids[1]}`)
  expect(await migrate(owner, db)).toEqual(['0029-waiting-notifications'])
  expect(await own('select id from waiting_notification')).toEqual([{ id: ids[2] }])
  const [made] = await own('select notifications from delivery')
  expect(made.notifications.sort()).toEqual(ids.slice(0, 2))
  await owner.close()
  await close()
})
