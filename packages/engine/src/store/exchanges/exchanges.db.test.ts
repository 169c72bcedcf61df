import { randomUUID } from 'node:crypto'
import { openDatabase } from '@rollcall/database/database'
import { isUnavailable, StoreBusy } from '@rollcall/database/database-errors'
import { describe, expect, test } from 'vitest'
import { exchangeNodes } from '../../../test/exchange-nodes.ts'
import { createReceivedMessageStore, type NewExchange } from './exchanges.ts'

const { database, memory, elsewhere } = await exchangeNodes()

const fingerprint = (byte: number): Buffer => Buffer.alloc(32, byte)

function exchange(message_id: string, changes: Partial<NewExchange> = {}): NewExchange {
  return {
    correlation_id: randomUUID(),
    participant: 1,
    message_id,
    fingerprint: fingerprint(1),
    registry: 7,
    operation: 'search',
    transaction_id: 'tx-1',
    ...changes,
  }
}

const rowsOf = async (message_id: string) => {
  const { rows } = await database.db.pool.query('select * from exchange where message_id = $1', [message_id])
  return rows
}

test('a message is new once, then the same, and different with another content', async () => {
  const first = exchange('m-1')
  expect(await memory.remember(first)).toEqual({ correlation_id: first.correlation_id, known: 'new' })
  expect(await rowsOf('m-1')).toEqual([{ ...first, received_at: expect.any(Date) }])
  for (const node of [memory, elsewhere]) {
    expect(await node.remember(exchange('m-1'))).toEqual({ correlation_id: first.correlation_id, known: 'same' })
    const changed = exchange('m-1', { fingerprint: fingerprint(2) })
    expect(await node.remember(changed)).toEqual({ correlation_id: changed.correlation_id, known: 'different' })
  }
  expect(await memory.remember(exchange('m-1', { participant: 2 }))).toMatchObject({ known: 'new' })
  expect(await memory.remember(exchange('M-1'))).toMatchObject({ known: 'new' })
  expect(await rowsOf('m-1')).toHaveLength(2)
})

test('of hundreds of concurrent duplicates on two nodes one is new, the others get its correlation_id', async () => {
  const duplicates = Array.from({ length: 400 }, (_, index) => exchange(`duplicate-${index % 20}`))
  const answers = await Promise.all(
    duplicates.map((duplicate, index) => (index % 3 === 0 ? elsewhere : memory).remember(duplicate)),
  )
  for (let message = 0; message < 20; message += 1) {
    const mine = answers.filter((_, index) => index % 20 === message)
    expect(mine.filter(({ known }) => known === 'new')).toHaveLength(1)
    expect(mine.filter(({ known }) => known === 'same')).toHaveLength(19)
    expect(new Set(mine.map(({ correlation_id }) => correlation_id)).size).toBe(1)
    expect(await rowsOf(`duplicate-${message}`)).toMatchObject([{ correlation_id: mine[0]?.correlation_id }])
  }
})

test('duplicates of different content: one is new, the others of its content the same, the rest different', async () => {
  const many = Array.from({ length: 100 }, (_, index) => exchange('quarrel', { fingerprint: fingerprint(index % 2) }))
  const answers = await Promise.all(many.map((one, index) => (index < 50 ? memory : elsewhere).remember(one)))
  const count = (known: string) => answers.filter((answer) => answer.known === known).length
  expect([count('new'), count('same'), count('different')]).toEqual([1, 49, 50])
  const winner = answers.findIndex(({ known }) => known === 'new')
  for (const [index, { known, correlation_id }] of answers.entries()) {
    expect(known === 'different').toBe(index % 2 !== winner % 2)
    const own = many[index]?.correlation_id
    expect(correlation_id).toBe(known === 'same' ? many[winner]?.correlation_id : own)
  }
})

test('two nodes that write the same messages in opposite orders do not block each other', async () => {
  const ids = Array.from({ length: 300 }, (_, index) => `order-${index}`)
  const all = await Promise.all([
    ...ids.map((id) => memory.remember(exchange(id))),
    ...ids.toReversed().map((id) => elsewhere.remember(exchange(id))),
  ])
  expect(all.filter(({ known }) => known === 'new')).toHaveLength(300)
  expect(all.filter(({ known }) => known === 'same')).toHaveLength(300)
})

test('a message_id of any length names one message', async () => {
  const long = 'x'.repeat(100_000)
  expect(await memory.remember(exchange(long))).toMatchObject({ known: 'new' })
  expect(await elsewhere.remember(exchange(long))).toMatchObject({ known: 'same' })
  expect(await memory.remember(exchange(`${long}y`))).toMatchObject({ known: 'new' })
  const characters = '€'.repeat(255)
  expect(await memory.remember(exchange(characters))).toMatchObject({ known: 'new' })
  expect(await rowsOf(characters)).toHaveLength(1)
  expect(await memory.remember(exchange(`a,b{}"\\ NULL 'q`))).toMatchObject({ known: 'new' })
  expect(await rowsOf(`a,b{}"\\ NULL 'q`)).toHaveLength(1)
})

describe('errors', () => {
  test('a row that the database refuses fails alone', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => (index === 17 ? 'bad\0' : `good-${index}`))
    const results = await Promise.allSettled(ids.map((id) => memory.remember(exchange(id))))
    const failed = results.filter((result) => result.status === 'rejected')
    expect(failed).toHaveLength(1)
    expect(failed[0]?.reason).toMatchObject({ code: '22021' })
    expect(isUnavailable(failed[0]?.reason)).toBe(false)
    expect(results[39]).toMatchObject({ value: { known: 'new' } })
  })

  test('a fingerprint of another length is no fingerprint', async () => {
    const short = exchange('short', { fingerprint: Buffer.alloc(31) })
    await expect(memory.remember(short)).rejects.toMatchObject({ code: '23514' })
  })

  test('a database that is away fails all, and works again afterwards', async () => {
    const lost = openDatabase({ host: '/nowhere', port: 1 })
    const away = createReceivedMessageStore(lost, { waiting: 100 })
    const results = await Promise.allSettled([1, 2, 3].map((id) => away.remember(exchange(`away-${id}`))))
    await lost.close()
    expect(results.map((result) => result.status === 'rejected' && isUnavailable(result.reason))).toEqual([true, true, true])
  })

  test('connections that break fail what they carry and no more', async () => {
    const db = openDatabase({ ...database.connection, max: 1, application_name: 'breaks' })
    const breaking = createReceivedMessageStore(db, { waiting: 100 })
    await breaking.remember(exchange('before'))
    await database.db.pool.query(`create or replace function hold() returns trigger language plpgsql
      as $$ begin perform pg_sleep(60); return new; end $$`)
    await database.db.pool.query(`create trigger hold before insert on exchange
      for each row when (new.message_id = 'held') execute function hold()`)
    const held = breaking.remember(exchange('held')).catch((error: unknown) => error)
    await expect
      .poll(async () => {
        const { rows } = await database.db.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'breaks' and wait_event = 'PgSleep'`,
        )
        return rows.length
      })
      .toBe(1)
    const error = await held
    expect(isUnavailable(error)).toBe(true)
    await database.db.pool.query('drop trigger hold on exchange')
    expect(await breaking.remember(exchange('held'))).toMatchObject({ known: 'new' })
    await db.close()
  })

  test('above the limit of what may wait it is refused at once, and nothing of it is written', async () => {
    const small = createReceivedMessageStore(database.db, { waiting: 2 })
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((id) => small.remember(exchange(`busy-${id}`))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(results[4]).toMatchObject({ reason: new StoreBusy() })
    expect(isUnavailable(new StoreBusy())).toBe(true)
    expect(await rowsOf('busy-4')).toEqual([])
  })
})
