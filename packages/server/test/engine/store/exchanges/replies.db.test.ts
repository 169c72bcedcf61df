import { randomBytes, randomUUID } from 'node:crypto'
import type { StoredEnvelope } from '@rollcall/core/model/delivery'
import type { Participant } from '@rollcall/core/model/participant'
import { type ReplyEffect, withTransaction } from '@rollcall/database/transaction'
import { findAcceptedExchange } from '@rollcall/engine/store/exchanges/accepted-exchanges'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { secondsUntilDelivery } from '../../../../../delivery/src/store/deliveries/destinations.ts'
import {
  commitPage,
  commitReplyEffects,
  isSmallPage,
  PAGE_JOINT_WRITE,
  type PageToCommit,
} from '../../../../../engine/src/store/exchanges/replies.ts'
import { auditEntry } from '../../../../../settings/test/audit-log.ts'
import { aClaim, kept, type TestSender, takes, testSender } from '../../../deliveries.ts'

let sender: TestSender
let participant: Participant

beforeAll(async () => {
  sender = await testSender()
})
beforeEach(async () => {
  participant = await newParticipant()
})
afterAll(() => sender.close())

const CLAIM = randomUUID()

const newParticipant = () => takes(sender, `${randomUUID()}.example`, 'http://127.0.0.1:1/')
const commit = (step: PageToCommit) => commitPage(sender.database.db, step)
/** As an answer is, with its audit entry. */
const joint = (step: PageToCommit) =>
  sender.context.auditLog.writeWith(PAGE_JOINT_WRITE, step, auditEntry({ kind: 'callback' }), [])
const entries = async (): Promise<number> =>
  (await sender.database.db.pool.query('select count(*)::integer as count from account')).rows[0]?.count

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
      reference_ids: [],
      chunks: [{ id: correlation_id, request: Buffer.from('sealed'), request_bytes: 6, items: 1 }],
    },
  })
  return claimed(correlation_id)
}

/** As a node claims it. */
async function claimed(id: string): Promise<string> {
  await sender.database.db.pool.query(
    `update accepted_exchange set claim = $2, claimed_until = now() + interval '1 minute' where correlation_id = $1`,
    [id, CLAIM],
  )
  return id
}

/** The only page of an answer with one item. */
function stepOf(correlation_id: string, changes: Partial<PageToCommit> = {}, of = participant): PageToCommit {
  return {
    id: correlation_id,
    claim: CLAIM,
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
      body: randomBytes(40) as Uint8Array as StoredEnvelope,
    },
    deliveryClaim: aClaim(),
    goesOn: false,
    ...changes,
  }
}

const itemOf = (reference_id: string): PageToCommit['items'][number] => ({
  position: 0,
  reference_id,
  status: 'succ',
  total: 3,
  page_size: 2,
  record_type: 'person',
  record_ids: ['7', '8', '9'],
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
  // The chain of this process is begun.
  await joint(stepOf(await accepted()))
  const query = vi.spyOn(sender.database.db.pool, 'query')
  expect(await Promise.all(steps.map(joint))).toEqual(ids.map(() => true))
  expect(query.mock.calls.length).toBeLessThanOrEqual(2)
  query.mockRestore()
  for (const { id: correlation_id, delivery } of steps) {
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
    expect(await kept(sender, delivery?.id ?? '')).toMatchObject({ state: 'pending', attempts: 1, claimed: true })
  }
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBeGreaterThan(1)
})

test('of steps of one exchange that come at once the one under its claim is taken', async () => {
  const id = await accepted()
  await commit(stepOf(id, { state: 'replying', goesOn: true }))
  const behind = stepOf(id)
  const next = stepOf(id, { from: 1, page: 2, items: [] })
  const overtaken = stepOf(id, { from: 1, page: 2, items: [], claim: randomUUID() })
  expect(await Promise.all([behind, overtaken, next, behind].map(joint))).toEqual([false, false, true, false])
  const [row] = await rowsOf(id)
  expect(row).toMatchObject({ state: 'replied', page: 2 })
  expect(row.deliveries).toHaveLength(2)
})

test('an exchange is claimed while its run goes on with it, and due again when the run leaves further pages', async () => {
  const claims = async (id: string) =>
    (
      await sender.database.db.pool.query(
        'select claim, runs, due_at <= now() as due from accepted_exchange where correlation_id = $1',
        [id],
      )
    ).rows[0]
  const id = await accepted()
  await sender.database.db.pool.query('update accepted_exchange set runs = 4 where correlation_id = $1', [id])
  await commit(stepOf(id, { state: 'replying', goesOn: true }))
  expect(await claims(id)).toEqual({ claim: CLAIM, runs: 0, due: true })
  await commit(stepOf(id, { from: 1, page: 2, items: [], state: 'replying' }))
  expect(await claims(id)).toEqual({ claim: null, runs: 0, due: true })
})

test('chunks are answered by themselves, and their request when all of them are', async () => {
  const parent = randomUUID()
  const ids = [randomUUID(), randomUUID()]
  await sender.context.exchanges.remember({
    correlation_id: parent,
    participant: participant.id,
    message_id: randomUUID(),
    fingerprint: randomBytes(32),
    registry: sender.registry.id,
    operation: 'search',
    transaction_id: 'tx-1',
    accepted: {
      sender_uri: null,
      encrypted: false,
      reference_ids: ['a', 'b', 'c'],
      chunks: ids.map((id, index) => ({ id, request: Buffer.from('x'), request_bytes: 1, items: 2 - index })),
    },
  })
  const read = async () => {
    const { rows } = await sender.database.db.pool.query(
      `select state, items, open_chunks, finished_at is not null as finished from accepted_exchange
        where correlation_id = $1`,
      [parent],
    )
    return rows[0]
  }
  expect(await read()).toEqual({ state: 'accepted', items: 3, open_chunks: 2, finished: false })
  const [first = '', second = ''] = await Promise.all(ids.map(claimed))
  expect(await commit(stepOf(second, { state: 'replying', goesOn: true }))).toBe(true)
  expect(await commit(stepOf(second, { from: 1, page: 2, items: [] }))).toBe(true)
  expect(await read()).toEqual({ state: 'replying', items: 3, open_chunks: 1, finished: false })
  expect(await commit(stepOf(first))).toBe(true)
  expect(await read()).toEqual({ state: 'replied', items: 3, open_chunks: 0, finished: true })
  const { rows } = await sender.database.db.pool.query(
    `select array(select position from exchange_item where correlation_id = $1 order by position) as positions,
      array(select page from delivery where correlation_id = $1 order by page) as pages,
      array(select reference_id::text from exchange_reference where correlation_id = $1 order by position) as named,
      (select messages from accepted_day where participant = $2) as messages`,
    [parent, participant.id],
  )
  expect(rows).toEqual([{ positions: [0, 2], pages: [1, 2, 4], named: ['a', 'b', 'c'], messages: 1 }])
})

test('a request is failed when one of its chunks is, and all are over', async () => {
  const parent = randomUUID()
  const ids = [randomUUID(), randomUUID()]
  await sender.context.exchanges.remember({
    correlation_id: parent,
    participant: participant.id,
    message_id: randomUUID(),
    fingerprint: randomBytes(32),
    registry: sender.registry.id,
    operation: 'search',
    transaction_id: 'tx-1',
    accepted: {
      sender_uri: null,
      encrypted: false,
      reference_ids: [],
      chunks: ids.map((id) => ({ id, request: Buffer.from('x'), request_bytes: 1, items: 1 })),
    },
  })
  await Promise.all(ids.map(claimed))
  const steps = ids.map((id, index) => stepOf(id, { state: index === 0 ? 'failed' : 'replied' }))
  expect(await Promise.all(steps.map(commit))).toEqual([true, true])
  const { rows } = await sender.database.db.pool.query(
    'select state, open_chunks from accepted_exchange where correlation_id = $1',
    [parent],
  )
  expect(rows).toEqual([{ state: 'failed', open_chunks: 0 }])
})

test('a step that cannot be written fails alone', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => accepted()))
  const steps = ids.map((id, at) => stepOf(id, at === 2 ? { items: [itemOf('no \u0000 here')] } : {}))
  const results = await Promise.allSettled(steps.map(joint))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
  expect(await rowsOf(ids[2] ?? '')).toMatchObject([{ state: 'accepted', page: 0, deliveries: [] }])
})

test('a delivery that its maker does not attempt is due at once', async () => {
  const step = stepOf(await accepted(), { deliveryClaim: null })
  expect(await commit(step)).toBe(true)
  expect(await secondsUntilDelivery(sender.database.db, participant.id)).toBe(0)
  expect(await kept(sender, step.delivery?.id ?? '')).toMatchObject({ attempts: 0, claimed: false })
})

test('what an operation writes is committed with its page, or not at all', async () => {
  const { pool } = sender.database.db
  await pool.query('create table if not exists effects (name text)')
  const effect =
    (name: string): ReplyEffect =>
    async (transaction) =>
      void (await transaction.query('insert into effects values ($1)', [name]))
  const written = async () => (await pool.query('select name from effects order by name')).rows.map(({ name }) => name)
  const [first, second] = [await accepted(), await accepted()]
  expect(await commit(stepOf(first, { effects: [effect('a'), effect('b')] }))).toBe(true)
  expect(await written()).toEqual(['a', 'b'])
  expect(await rowsOf(first)).toMatchObject([{ state: 'replied' }])
  // The claim has ended: another run answers the exchange.
  expect(await commit(stepOf(second, { claim: randomUUID(), effects: [effect('c')] }))).toBe(false)
  const failing = stepOf(second, { effects: [effect('d'), () => Promise.reject(new Error('refused'))] })
  await expect(commit(failing)).rejects.toThrow('refused')
  expect(await rowsOf(second)).toMatchObject([{ state: 'accepted', deliveries: [] }])
  expect(await written()).toEqual(['a', 'b'])
  await expect(commitReplyEffects(sender.database.db, failing.effects ?? [])).rejects.toThrow('refused')
  expect(await written()).toEqual(['a', 'b'])
  await commitReplyEffects(sender.database.db, [effect('e')])
  expect(await written()).toEqual(['a', 'b', 'e'])
})

test('what makes others wait is not written with them', async () => {
  const [id, whole] = [await accepted(), { parent: null }]
  const items = Array.from({ length: 21 }, (_, position) => ({ ...itemOf(`item ${position}`), position }))
  const effects: ReplyEffect[] = [() => Promise.resolve()]
  expect(isSmallPage(stepOf(id), whole)).toBe(true)
  expect(isSmallPage(stepOf(id), { parent: id })).toBe(false)
  expect(isSmallPage(stepOf(id, { items }), whole)).toBe(false)
  expect(isSmallPage(stepOf(id, { effects }), whole)).toBe(false)
  expect(await commit(stepOf(id, { items }))).toBe(true)
  expect(await rowsOf(id)).toHaveLength(21)
})

test('a step and its audit entry are written, or neither is', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => accepted()))
  const steps = ids.map((id, at) => stepOf(id, at === 1 ? { claim: randomUUID() } : {}))
  const before = await entries()
  expect(await Promise.all(steps.map(joint))).toEqual([true, false, true])
  expect((await entries()) - before).toBe(2)
  expect(await Promise.all(ids.map(async (id) => (await rowsOf(id))[0]?.state))).toEqual(['replied', 'accepted', 'replied'])
  expect(await Promise.all([steps[1] as PageToCommit].map(joint))).toEqual([false])
  expect((await entries()) - before).toBe(2)
})

test('a step of which another transaction holds the row waits for nobody, and is not held', async () => {
  const step = stepOf(await accepted())
  await withTransaction(sender.database.db.pool, async (client) => {
    await client.query('select from accepted_exchange where correlation_id = $1 for update', [step.id])
    expect(await joint(step)).toBe(false)
  })
  expect(await joint(step)).toBe(true)
})

test('exchanges that are asked for at once are read in few statements, each for whoever asked', async () => {
  const { db } = sender.database
  const ids = await Promise.all(Array.from({ length: 10 }, () => accepted()))
  const query = vi.spyOn(db.pool, 'query')
  const found = await Promise.all([...ids, randomUUID()].map((id) => findAcceptedExchange(db, id)))
  expect(query.mock.calls.length).toBeLessThanOrEqual(2)
  query.mockRestore()
  expect(found.map((exchange) => exchange?.correlation_id)).toEqual([...ids, undefined])
  expect(await findAcceptedExchange(db, ids[3]?.toUpperCase() ?? '')).toMatchObject({ correlation_id: ids[3], page: 0 })
  await expect(findAcceptedExchange(db, 'no id')).rejects.toThrow('invalid input syntax for type uuid')
})
