import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { aClaim, drainJob, kept, type TestSender, takes, testSender } from '../../../test/deliveries.ts'
import type { Participant } from '../../model/participant.ts'
import { findAccepted } from './accepted-exchanges.ts'
import { commitReply, type ReplyStep } from './replies.ts'

let sender: TestSender
let participant: Participant

beforeAll(async () => {
  sender = await testSender()
})
beforeEach(async () => {
  participant = await newParticipant()
})
afterAll(() => sender.close())

const newParticipant = () => takes(sender, `${randomUUID()}.example`, 'http://127.0.0.1:1/')
const commit = (step: ReplyStep) => commitReply(sender.database.db, step)

async function accepted(of = participant): Promise<string> {
  const correlation_id = randomUUID()
  await sender.context.exchanges.remember({
    correlation_id,
    participant: of.id,
    message_id: randomUUID(),
    fingerprint: randomBytes(32),
    registry: sender.registry.id,
    operation: 'search',
    transaction_id: 'tx-1',
    accepted: {
      sender_uri: null,
      encrypted: false,
      request: Buffer.from('sealed'),
      request_bytes: 6,
      reference_ids: [],
      items: 1,
    },
  })
  return correlation_id
}

/** The only page of an answer with one item. */
function stepOf(correlation_id: string, changes: Partial<ReplyStep> = {}, of = participant): ReplyStep {
  return {
    correlation_id,
    from: 0,
    page: 1,
    state: 'replied',
    items: [itemOf(correlation_id)],
    delivery: {
      id: randomUUID(),
      participant: of.id,
      registry: sender.registry.id,
      correlation_id,
      callback: 'on-search',
      page: 1,
      message_id: randomUUID(),
      target: 'http://127.0.0.1:1/',
      encrypted: false,
      body: randomBytes(40),
    },
    claim: aClaim(),
    more: false,
    ...changes,
  }
}

const itemOf = (reference_id: string): ReplyStep['items'][number] => ({
  position: 0,
  reference_id,
  status: 'succ',
  total: 3,
  page_size: 2,
  record_type: 'person',
  record_ids: [7, 8, 9],
})

const rowsOf = async (correlation_id: string) => {
  const { rows } = await sender.database.db.pool.query(
    `select exchange.state, exchange.page, finished_at is not null as finished, reference_id, record_ids,
        array(select delivery.id::text from delivery where delivery.correlation_id = $1) as deliveries
      from accepted_exchange as exchange left join exchange_item using (correlation_id)
      where correlation_id = $1`,
    [correlation_id],
  )
  return rows
}

test('steps of many exchanges at once are written in few statements, each with what is its own', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => accepted()))
  const steps = ids.map((id) => stepOf(id))
  const query = vi.spyOn(sender.database.db.pool, 'query')
  expect(await Promise.all(steps.map(commit))).toEqual(ids.map(() => true))
  expect(query.mock.calls.length).toBeLessThanOrEqual(2)
  query.mockRestore()
  for (const { correlation_id, delivery } of steps) {
    expect(await rowsOf(correlation_id)).toEqual([
      {
        state: 'replied',
        page: 1,
        finished: true,
        reference_id: correlation_id,
        record_ids: [7, 8, 9],
        deliveries: [delivery?.id],
      },
    ])
    expect(await kept(sender, delivery?.id ?? '')).toMatchObject({
      state: 'pending',
      attempts: 1,
      claimed: true,
    })
  }
  expect(await drainJob(sender.context, participant.id)).toBe(null)
})

test('of steps of one exchange that come at once the one that fits is taken, once', async () => {
  const id = await accepted()
  await commit(stepOf(id, { state: 'replying' }))
  const behind = stepOf(id)
  const next = stepOf(id, { from: 1, page: 2, items: [] })
  const twin = stepOf(id, { from: 1, page: 2, items: [] })
  const taken = await Promise.all([behind, next, twin, behind].map(commit))
  expect(taken.filter(Boolean)).toHaveLength(1)
  expect([taken[0], taken[3]]).toEqual([false, false])
  const [row] = await rowsOf(id)
  expect(row).toMatchObject({ state: 'replied', page: 2 })
  expect(row.deliveries).toHaveLength(2)
})

test('a step that cannot be written fails alone', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => accepted()))
  const steps = ids.map((id, at) => stepOf(id, at === 2 ? { items: [itemOf('no \u0000 here')] } : {}))
  const results = await Promise.allSettled(steps.map(commit))
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect(await rowsOf(ids[2] ?? '')).toMatchObject([{ state: 'accepted', page: 0, deliveries: [] }])
})

test('what nobody claimed has the drain job of its participant, what goes on a job of its own', async () => {
  const other = await newParticipant()
  const steps = await Promise.all([
    ...[participant, participant, other].map(async (of) => stepOf(await accepted(of), { claim: null }, of)),
    accepted().then((id) => stepOf(id, { state: 'replying', more: true })),
  ])
  const { pool } = sender.database.db
  const jobs = async () =>
    (await pool.query(`select 1 from graphile_worker.jobs where task_identifier = 'process'`)).rowCount ?? 0
  const before = await jobs()
  expect(await Promise.all(steps.map(commit))).toEqual([true, true, true, true])
  expect(await jobs()).toBe(before + 1)
  for (const { id } of [participant, other]) expect(await drainJob(sender.context, id)).toBeLessThanOrEqual(0)
})

test('a large step is written by itself', async () => {
  const [id, large] = [await accepted(), await accepted()]
  const items = Array.from({ length: 21 }, (_, position) => ({ ...itemOf(`item ${position}`), position }))
  const query = vi.spyOn(sender.database.db.pool, 'query')
  expect(await Promise.all([stepOf(id), stepOf(large, { items })].map(commit))).toEqual([true, true])
  expect(query).toHaveBeenCalledTimes(2)
  query.mockRestore()
  expect(await rowsOf(large)).toHaveLength(21)
})

test('exchanges that are asked for at once are read in few statements, each for whoever asked', async () => {
  const { db } = sender.database
  const ids = await Promise.all(Array.from({ length: 10 }, () => accepted()))
  const query = vi.spyOn(db.pool, 'query')
  const found = await Promise.all([...ids, randomUUID()].map((id) => findAccepted(db, id)))
  expect(query.mock.calls.length).toBeLessThanOrEqual(2)
  query.mockRestore()
  expect(found.map((exchange) => exchange?.correlation_id)).toEqual([...ids, undefined])
  expect(await findAccepted(db, ids[3]?.toUpperCase() ?? '')).toMatchObject({
    correlation_id: ids[3],
    page: 0,
  })
  await expect(findAccepted(db, 'no id')).rejects.toThrow('invalid input syntax for type uuid')
})
