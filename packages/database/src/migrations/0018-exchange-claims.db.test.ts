import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { query as ownerQuery } from '../../test/statement.ts'
import { exchangeClaims } from './0018-exchange-claims.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

const query = (text: string, values: unknown[] = []) => database.db.pool.query(text, values)
const asOwner = (text: string) => ownerQuery(database.owner, text)

/** The tables as they were before. */
async function before(): Promise<void> {
  await query('drop index accepted_exchange_open_index, accepted_exchange_parent_index')
  await query(`alter table accepted_exchange alter column request set not null,
    drop column due_at, drop column claim, drop column claimed_until, drop column runs, drop column parent,
    drop column first_item, drop column chunk, drop column chunks, drop column open_chunks`)
  await query('create table node (id uuid)')
  await query(`create function drain_deliveries() returns void language sql as 'select'`)
  await asOwner(`create schema graphile_worker authorization ${database.connection.user}
    create table _private_jobs (id integer)`)
}

async function accepted(items: number, state: string, page: number): Promise<string> {
  const id = randomUUID()
  await query(
    `insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id, encrypted,
       request, request_bytes, items, references_stored, state, page, finished_at)
     values ($1::uuid, 1, 1, 'search', $5, 'tx', false, 'sealed', 900000, $2, true, $3::text, $4,
       case when $3::text in ('replied', 'failed') then now() end)`,
    [id, items, state, page, id],
  )
  return id
}

const found = (id: string, position: number, total: number) =>
  query(
    `insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size, record_type,
       record_ids) values ($1, 1, $2, 'r', 'succ', $3, 10, 'person', array[1, 2])`,
    [id, position, total],
  )

async function chunksOf(id: string): Promise<unknown[]> {
  const { rows } = await query(
    `select chunk, chunks, first_item, items, state, page, request is null as without, request_bytes
      from accepted_exchange where parent = $1 order by chunk`,
    [id],
  )
  return rows.map((row) => Object.values(row))
}

async function parentOf(id: string): Promise<unknown> {
  const { rows } = await query(
    'select state, open_chunks, finished_at is not null as finished from accepted_exchange where correlation_id = $1',
    [id],
  )
  return rows[0]
}

test('large requests are cut into chunks, each as far as it was answered', async () => {
  await before()
  const waiting = await accepted(25_000, 'accepted', 0)
  // The first pages of all three, and the second page of the first one.
  const halfway = await accepted(25_000, 'replying', 4)
  await found(halfway, 5, 30)
  await found(halfway, 20_001, 15)
  const over = await accepted(10_001, 'replied', 2)
  const failed = await accepted(10_001, 'failed', 1)
  const given = await accepted(10_001, 'failed', 0)
  const small = await accepted(10_000, 'accepted', 0)
  await database.db.kysely.transaction().execute((transaction) => exchangeClaims.up(transaction))

  expect(await chunksOf(waiting)).toEqual([
    [0, 3, 0, 10_000, 'accepted', 0, true, 900_000],
    [1, 3, 10_000, 10_000, 'accepted', 0, true, 900_000],
    [2, 3, 20_000, 5_000, 'accepted', 0, true, 900_000],
  ])
  expect(await parentOf(waiting)).toEqual({ state: 'accepted', open_chunks: 3, finished: false })
  expect(await chunksOf(halfway)).toEqual([
    [0, 3, 0, 10_000, 'replying', 2, true, 900_000],
    [1, 3, 10_000, 10_000, 'replied', 1, true, 900_000],
    [2, 3, 20_000, 5_000, 'replying', 1, true, 900_000],
  ])
  expect(await parentOf(halfway)).toEqual({ state: 'replying', open_chunks: 2, finished: false })
  expect((await chunksOf(over)).map((chunk) => (chunk as unknown[])[4])).toEqual(['replied', 'replied'])
  expect(await parentOf(over)).toEqual({ state: 'replied', open_chunks: 0, finished: true })
  expect((await chunksOf(failed)).map((chunk) => (chunk as unknown[])[4])).toEqual(['failed', 'failed'])
  expect(await parentOf(failed)).toEqual({ state: 'failed', open_chunks: 0, finished: true })
  for (const id of [given, small]) {
    expect(await chunksOf(id)).toEqual([])
    expect(await parentOf(id)).toMatchObject({ open_chunks: null })
  }
  const { rows } = await query(
    `select to_regclass('node') as node, to_regnamespace('graphile_worker') as queue, to_regproc('drain_deliveries') as drain`,
  )
  expect(rows).toEqual([{ node: null, queue: null, drain: null }])
})
