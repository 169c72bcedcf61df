import { randomUUID } from 'node:crypto'
import { openDatabase } from '@rollcall/database/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import { createReceivedMessageStore } from './exchanges.ts'
import { forgetExchanges } from './forget-exchanges.ts'
import { commitPage } from './replies.ts'
import { createReceivedCiphertextStore } from './sealed-messages.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const DAY = 86_400

async function fill(rows: number, age: string): Promise<void> {
  await database.db.pool.query(
    `insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation, received_at)
      select 1, $2 || n, sha256(n::text::bytea), gen_random_uuid(), 1, 'search', now() - $2::interval
      from generate_series(1, $1) as n`,
    [rows, age],
  )
}

const count = async (): Promise<number> => {
  const { rows } = await database.db.pool.query<{ count: number }>('select count(*) from exchange')
  return rows[0]?.count ?? -1
}

test('what is older than the retention goes, the rest stays', async () => {
  await fill(12_001, '5 days 1 minute')
  await fill(3, '4 days 23 hours')
  const fingerprint = Buffer.alloc(32, 1)
  const ciphertexts = createReceivedCiphertextStore(database.db, { waiting: 10 })
  await ciphertexts.remember({ fingerprint, participant: 1, message_id: 'm-1' })
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(12_001)
  expect(await count()).toBe(3)
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(0)

  await database.db.pool.query(`update sealed_message set received_at = now() - interval '6 days'`)
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(1)
  expect(await ciphertexts.remember({ fingerprint, participant: 2, message_id: 'm-1' })).toBe(true)
})

test('a ciphertext is remembered while an encryption key decrypts it that was there when it came', async () => {
  const { pool } = database.db
  const [before, within] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
  await pool.query(
    `insert into own_key (kid, use, algorithm, state, created_at, expires_at)
      values ('k', 'enc', 'RSA-OAEP-256', 'retired', now() - interval '9 days', now() + interval '1 hour')`,
  )
  await pool.query(
    `insert into sealed_message (fingerprint, participant, message_id, received_at)
      values ($1, 1, 'm-2', now() - interval '10 days'), ($2, 1, 'm-3', now() - interval '8 days')`,
    [before, within],
  )
  const ciphertexts = createReceivedCiphertextStore(database.db, { waiting: 10 })
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(1)
  expect(await ciphertexts.remember({ fingerprint: within, participant: 2, message_id: 'm-4' })).toBe(false)

  await pool.query(`update own_key set expires_at = now() where kid = 'k'`)
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(1)
})

test('nodes that forget at the same time share the work, and what is forgotten is new', async () => {
  await fill(12_000, '6 days')
  const other = openDatabase(database.connection)
  const memory = createReceivedMessageStore(other, { waiting: 100 })
  const [here, there] = await Promise.all([forgetExchanges(database.db, 5 * DAY), forgetExchanges(other, 5 * DAY)])
  expect(here + there).toBe(12_000)
  const again = { participant: 1, message_id: '6 days1', fingerprint: Buffer.alloc(32), registry: 1 }
  const correlation_id = '00000000-0000-4000-8000-000000000001'
  expect(await memory.remember({ ...again, correlation_id, operation: 'search', transaction_id: null })).toEqual({
    correlation_id,
    known: 'new',
  })
  await other.close()
})

test('it reads no more than it deletes', async () => {
  await fill(12_000, '1 day')
  await database.db.pool.query('analyze exchange')
  const { rows } = await database.db.pool.query<{ 'QUERY PLAN': string }>(
    `explain (costs off) select ctid from exchange where received_at < now() - interval '5 days'
      order by received_at limit 5000 for update skip locked`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('exchange_received_index')
})

test('accepted exchanges go with their items, and deliveries with their attempts', async () => {
  const { pool } = database.db
  for (const age of ['5 days 1 minute', '4 days 23 hours']) {
    await pool.query(
      `with accepted as (
         insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
           encrypted, request, items, received_at)
         values (gen_random_uuid(), 1, 1, 'search', 'm', 'tx', false, '', 1, now() - $1::interval)
         returning correlation_id
       ), item as (
         insert into exchange_item (correlation_id, position, participant, reference_id, status)
         select correlation_id, 0, 1, 'r', 'succ' from accepted
       ), reference as (
         insert into exchange_reference (correlation_id, position, participant, registry, reference_id, received_at)
         select correlation_id, 0, 1, 1, 'r', now() from accepted
       ), sent as (
         insert into delivery (id, participant, registry, callback, message_id, encrypted, body, state, created_at)
         values (gen_random_uuid(), 1, 1, 'on-search', 'm', false, '', 'delivered', now() - $1::interval) returning id
       )
       insert into delivery_attempt (delivery, number, at, duration_ms) select id, 1, now(), 1 from sent`,
      [age],
    )
  }
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(2)
  for (const table of ['accepted_exchange', 'exchange_reference', 'exchange_item', 'delivery', 'delivery_attempt']) {
    expect((await pool.query(`select from ${table}`)).rowCount, table).toBe(1)
  }
})

/** Commits of chunks stand still, with their rows locked, until the returned function is called. */
async function standingCommits(): Promise<() => Promise<unknown>> {
  const { pool } = database.db
  await pool.query(`create function stand() returns trigger language plpgsql
    as $$ begin perform pg_advisory_xact_lock(1); return new; end $$`)
  await pool.query(`create trigger stand before update on accepted_exchange for each row
    when (new.parent is not null) execute function stand()`)
  const client = await pool.connect()
  await client.query('select pg_advisory_lock(1)')
  return async () => {
    await client.query('select pg_advisory_unlock(1)')
    client.release()
  }
}

/** Statements that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await database.db.pool.query<{ count: number }>(
    `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.count ?? 0
}

test('a chunk that is being answered and its request are forgotten after it', async () => {
  const { pool } = database.db
  const [request, chunk, claim] = [randomUUID(), randomUUID(), randomUUID()]
  await pool.query('truncate accepted_exchange cascade')
  await pool.query(
    `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id, encrypted,
       items, parent, open_chunks, chunk, chunks, claim, received_at)
     select id, 1, 1, 'search', 'm', 'tx', false, 1, parent, open, 0, 1, claim, now() - interval '6 days'
     from (values ($1::uuid, null::uuid, 1, null::uuid), ($2, $1, null, $3)) as row (id, parent, open, claim)`,
    [request, chunk, claim],
  )
  const goOn = await standingCommits()
  const step = { id: chunk, claim, from: 0, page: 1, state: 'replied', items: [], goesOn: false } as const
  const answered = commitPage(database.db, { ...step, delivery: null, deliveryClaim: null })
  await expect.poll(waiting, { timeout: 60_000 }).toBe(1)

  let forgotten: number | undefined
  const forgetting = forgetExchanges(database.db, 5 * DAY).then((count) => {
    forgotten = count
  })
  // It is over, or waits as well.
  await expect.poll(async () => forgotten !== undefined || (await waiting()) === 2, { timeout: 60_000 }).toBe(true)
  await goOn()
  expect(await answered).toBe(true)
  await forgetting
  expect(forgotten).toBe(0)
  expect((await pool.query('select state from accepted_exchange where parent is null')).rows).toEqual([{ state: 'replied' }])
  expect(await forgetExchanges(database.db, 5 * DAY)).toBe(2)
})

test('no statement deletes many more than 50,000 items of accepted exchanges', async () => {
  const { pool } = database.db
  await pool.query('truncate accepted_exchange cascade')
  await pool.query(
    `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id, encrypted, items,
       received_at)
     select gen_random_uuid(), 1, 1, 'search', 'm', 'tx', false, case n when 1 then 100000 else 10000 end,
       now() - interval '6 days' + n * interval '1 minute'
     from generate_series(1, 12) as n`,
  )
  await pool.query(`
    create function check_items() returns trigger language plpgsql as $$ begin
      if (select sum(items) from deleted) > 100000 then raise exception 'too many at once'; end if;
      return null;
    end $$;
    create trigger check_items after delete on accepted_exchange referencing old table as deleted
      for each statement execute function check_items()`)
  try {
    expect(await forgetExchanges(database.db, 5 * DAY)).toBe(12)
  } finally {
    await pool.query('drop trigger check_items on accepted_exchange; drop function check_items()')
  }
})
