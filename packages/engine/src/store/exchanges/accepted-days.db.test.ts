import { randomUUID } from 'node:crypto'
import { readDayStorageUse } from '@rollcall/participants/store/day-counts'
import { expect, test } from 'vitest'
import { exchangeNodes } from '../../../test/exchange-nodes.ts'
import type { NewExchange } from './exchanges.ts'
import { forgetExchanges } from './forget-exchanges.ts'

const { database, memory, elsewhere } = await exchangeNodes()

/** A message of this participant that is answered later, with a request of so many bytes; now when that is null. */
function exchange(participant: number, message_id: string, bytes: number | null = 10): NewExchange {
  const correlation_id = randomUUID()
  const chunk = { id: correlation_id, request: Buffer.alloc(bytes ?? 0, 1), request_bytes: bytes ?? 0, items: 1 }
  return {
    correlation_id,
    participant,
    message_id,
    fingerprint: Buffer.alloc(32, 1),
    registry: 1,
    operation: 'search',
    transaction_id: 'tx-1',
    ...(bytes !== null && { accepted: { sender_uri: null, encrypted: false, reference_ids: [], chunks: [chunk] } }),
  }
}

const usedBy = async (participant: number): Promise<readonly [number, number]> => {
  const { messages, bytes } = await readDayStorageUse(database.db, 'accepted_day', participant)
  return [messages, bytes]
}

test('what is accepted is counted with its bytes, once; what is answered now is not', async () => {
  expect(await usedBy(1)).toEqual([0, 0])
  const first = exchange(1, 'm-1', 100)
  expect(await memory.remember(first)).toMatchObject({ known: 'new' })
  expect(await memory.remember(exchange(1, 'm-2', 300_000))).toMatchObject({ known: 'new' })
  expect(await usedBy(1)).toEqual([2, 300_100])
  for (const node of [memory, elsewhere]) {
    const same = { correlation_id: first.correlation_id, known: 'same' }
    expect(await node.remember(exchange(1, 'm-1', 100))).toEqual(same)
    expect(await node.known(exchange(1, 'm-1'))).toEqual(same)
    const changed = { ...exchange(1, 'm-1', 100), fingerprint: Buffer.alloc(32, 2) }
    const different = { correlation_id: changed.correlation_id, known: 'different' }
    expect(await node.remember(changed)).toEqual(different)
    expect(await node.known(changed)).toEqual(different)
  }
  expect(await memory.known(exchange(1, 'm-3'))).toBeNull()
  expect(await memory.known(exchange(2, 'm-1'))).toBeNull()
  expect(await memory.remember(exchange(1, 'now', null))).toMatchObject({ known: 'new' })
  expect(await usedBy(1)).toEqual([2, 300_100])
})

test('of many at once on two nodes, large and small, of several participants, each is counted once', async () => {
  const many = Array.from({ length: 600 }, (_, at) => {
    const n = at % 200
    return exchange(10 + (n % 4), `many-${n}`, n % 50 === 0 ? 270_000 : n % 5 === 0 ? null : 10)
  })
  // The participants come in opposite orders, so that two who locked days as they came would block each other.
  const [one, two] = [many.slice(0, 400), many.slice(200).toReversed()]
  const answers = await Promise.all([
    ...one.map((message) => memory.remember(message)),
    ...two.map((message) => elsewhere.remember(message)),
  ])
  expect(answers.filter(({ known }) => known === 'new')).toHaveLength(200)
  const { rows } = await database.db.pool.query(`select participant, count(*) as messages,
    sum(octet_length(request)) as bytes from accepted_exchange where participant >= 10 group by 1 order by 1`)
  expect(rows).toHaveLength(4)
  for (const { participant, messages, bytes } of rows) {
    expect(await usedBy(participant)).toEqual([messages, Number(bytes)])
  }
})

test('a message that the database refuses counts nothing, and those beside it do', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => (at === 7 ? 'bad\0' : `good-${at}`))
  const results = await Promise.allSettled(ids.map((id) => memory.remember(exchange(20, id))))
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(await usedBy(20)).toEqual([19, 190])
})

test('only today counts, and days that are over are forgotten', async () => {
  await memory.remember(exchange(30, 'old'))
  await database.db.pool.query('update accepted_day set day = day - 1 where participant = 30')
  expect(await usedBy(30)).toEqual([0, 0])
  await memory.remember(exchange(30, 'new'))
  expect(await usedBy(30)).toEqual([1, 10])

  await database.db.pool.query('update accepted_day set day = day - 1 where participant = 30')
  await memory.remember(exchange(30, 'newest'))
  expect(await forgetExchanges(database.db, 5 * 86_400)).toBe(0)
  const { rows } = await database.db.pool.query(
    `select (now() at time zone 'UTC')::date - day as age from accepted_day where participant = 30 order by day`,
  )
  // Yesterday's stays for whoever began before midnight.
  expect(rows).toEqual([{ age: 1 }, { age: 0 }])
})
