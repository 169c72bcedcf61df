import { randomUUID } from 'node:crypto'
import {
  claimBreakerProbes,
  deleteIdleBreakers,
  findBreaker,
  readDeliveryHealth,
} from '@rollcall/delivery/store/deliveries/breakers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDelivery, type TestSender, takes, testSender } from '../../../deliveries.ts'

let sender: TestSender
let db: TestSender['database']['db']
beforeAll(async () => {
  sender = await testSender()
  db = sender.database.db
})
afterAll(() => sender.close())

const opened = (participant: number, origin: string, age: string) =>
  db.pool.query(
    `insert into breaker (participant, origin, failures, opened_at, probe_at, failed_at)
      values ($1, $2, 5, now(), now() - interval '1 second', now() - $3::interval)`,
    [participant, origin, age],
  )

test('destinations to which nothing is on its way are forgotten ten minutes after their last failure', async () => {
  const participant = await takes(sender, `${randomUUID()}.example`, 'https://waited-for.example')
  await newDelivery(sender, participant)
  await opened(participant.id, 'https://waited-for.example', '1 day')
  await opened(participant.id, 'https://just-now.example', '9 minutes')
  for (const port of [1, 2, 3]) await opened(participant.id, `https://idle.example:${port}`, '11 minutes')
  expect(await deleteIdleBreakers(db)).toBe(3)
  const { rows } = await db.pool.query('select origin from breaker where participant = $1 order by origin', [participant.id])
  expect(rows.map(({ origin }) => origin)).toEqual(['https://just-now.example', 'https://waited-for.example'])
})

test('each destination has a breaker of its own; the participant is told by the worst of them', async () => {
  const participant = await takes(sender, `${randomUUID()}.example`, null)
  const healthOf = async () => (await readDeliveryHealth(db)).find(({ sender_id }) => sender_id === participant.sender_id)
  await opened(participant.id, 'https://a.example', '0')
  await opened(participant.id, 'https://b.example', '0')
  expect(await healthOf()).toMatchObject({ breaker: 'probing', breakers_open: 2 })
  expect(await claimBreakerProbes(db, participant.id, ['https://a.example', 'https://c.example'], 60)).toEqual([
    'https://a.example',
  ])
  expect(await healthOf()).toMatchObject({ breaker: 'open', breakers_open: 2 })
  const { probe_in } = await findBreaker(db, { participant: participant.id, origin: 'https://b.example' })
  expect(probe_in).toBeLessThan(0)
  expect(await findBreaker(db, { participant: participant.id, origin: 'https://c.example' })).toEqual({
    failures: 0,
    opened_at: null,
    probe_in: null,
  })
})
