import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { drainJob, type TestSender, takes, testSender } from '../../../test/deliveries.ts'
import type { Participant } from '../../model/participant.ts'
import { clearFollowedJobs } from '../db/jobs.ts'
import { inTransaction } from '../db/transaction.ts'
import { ensureDrain } from './deliveries.ts'

let sender: TestSender
let participant: Participant
let db: TestSender['database']['db']

beforeAll(async () => {
  sender = await testSender()
  db = sender.database.db
})
beforeEach(async () => {
  participant = await takes(sender, `${randomUUID()}.example`, 'http://127.0.0.1:1/')
})
afterAll(() => sender.close())

const key = () => `drain:${participant.id}`
/** As a worker takes it. */
const TAKE = `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'w', attempts = attempts + 1
  where key = $1`

const waiting = async (): Promise<unknown[]> =>
  (await db.pool.query('select from graphile_worker.jobs where key = $1 and locked_at is null', [key()])).rows

test('a job that is being taken this moment is followed by another: it may look before there is something', async () => {
  await ensureDrain(db, participant.id)
  const taker = await db.pool.connect()
  let adding: Promise<unknown> = Promise.resolve()
  await inTransaction(taker, async () => {
    await taker.query(TAKE, [key()])
    adding = ensureDrain(db, participant.id)
    await sleep(300)
  })
  taker.release()
  await adding
  expect(await waiting()).toHaveLength(1)
})

test('a job that waits for another try after a failure is not moved to a later time', async () => {
  await ensureDrain(db, participant.id)
  await db.pool.query(
    `update graphile_worker._private_jobs set attempts = 1, run_at = now() + interval '3 seconds' where key = $1`,
    [key()],
  )
  await ensureDrain(db, participant.id, 3_600)
  const wait = await drainJob(sender.context, participant.id)
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(3)
})

test('the one that follows a running job is at most a minute later, which is not tried again when it fails', async () => {
  const follower = async (seconds: number, options?: { ending: boolean }) => {
    await ensureDrain(db, participant.id, seconds, options)
    return drainJob(sender.context, participant.id)
  }
  for (const [options, least, most] of [
    [undefined, 50, 60],
    [{ ending: true }, 3_590, 3_600],
  ] as const) {
    participant = await takes(sender, `${randomUUID()}.example`, 'http://127.0.0.1:1/')
    await ensureDrain(db, participant.id)
    await db.pool.query(TAKE, [key()])
    const wait = await follower(3_600, options)
    expect(wait).toBeGreaterThan(least)
    expect(wait).toBeLessThanOrEqual(most)
    // Once it is there, it moves as ever.
    expect(await follower(7_200)).toBeLessThanOrEqual(most)
    expect(await follower(5)).toBeLessThanOrEqual(5)
  }
})

test('a job that was followed by another, and failed, is cleared away; no other is', async () => {
  await ensureDrain(db, participant.id)
  await db.pool.query(TAKE, [key()])
  await ensureDrain(db, participant.id)
  expect(await clearFollowedJobs(db.pool)).toBe(0)
  // As a failure is noted.
  await db.pool.query(
    `update graphile_worker._private_jobs set locked_at = null, locked_by = null, last_error = 'Error'
      where key is null and job_queue_id = (select id from graphile_worker._private_job_queues where queue_name = $1)`,
    [key()],
  )
  await db.pool.query(`select graphile_worker.add_job('process', '{}', max_attempts => 1)`)
  await db.pool.query(`update graphile_worker._private_jobs set attempts = 1 where max_attempts = 1`)
  expect(await clearFollowedJobs(db.pool)).toBe(1)
  expect(await waiting()).toHaveLength(1)
  const { rowCount } = await db.pool.query('select from graphile_worker._private_jobs where max_attempts = 1')
  expect(rowCount).toBe(1)
})
