import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { isUnavailable } from './database-errors.ts'
import { openPipeline, type Pipeline } from './pipeline.ts'

let database: TestDatabase
let pipeline: Pipeline
beforeEach(async () => {
  database = await testDatabase()
  pipeline = openPipeline({ ...database.connection, statement_timeout: 400 })
})
afterEach(async () => {
  await pipeline.close()
  await database.close()
})

const echo = (value: number) => ({ name: 'echo', text: 'select $1::int as value', values: [value] })
const sleep = (seconds: number) => ({ name: 'sleep', text: 'select pg_sleep($1)', values: [seconds] })
const process = { name: 'process', text: 'select pg_backend_pid() as pid', values: [] }
const divide = (by: number) => ({ name: 'divide', text: 'select 1 / $1::int as result', values: [by] })

const processes = async (): Promise<ReadonlySet<unknown>> => {
  const rows = await Promise.all(Array.from({ length: 50 }, () => pipeline.query(process)))
  return new Set(rows.map(([row]) => row?.pid))
}

test('many statements at a time, each with its own answer, on two connections', async () => {
  const asked = Array.from({ length: 500 }, (_, index) => index)
  const answers = asked.map((value) => pipeline.query(echo(value)))
  expect(pipeline.unanswered).toBe(500)
  expect((await Promise.all(answers)).map(([row]) => row?.value)).toEqual(asked)
  expect(pipeline.unanswered).toBe(0)
  expect((await processes()).size).toBe(2)
})

test('a statement that fails fails alone', async () => {
  const answers = await Promise.allSettled([1, 0, 2, 0, 4, 0, 5, 0, 10].map((by) => pipeline.query(divide(by))))
  expect(answers.map(({ status }) => status === 'fulfilled')).toEqual(
    [1, 0, 1, 0, 1, 0, 1, 0, 1].map((expected) => expected === 1),
  )
  const failed = answers[1] as PromiseRejectedResult
  expect(failed.reason).toMatchObject({ code: '22012', message: 'division by zero' })
})

test('a statement that cannot be prepared is tried again when it is asked again', async () => {
  const find = { name: 'find', text: 'select n from later', values: [] }
  for (const failed of await Promise.allSettled([find, find, find, find, find].map(pipeline.query))) {
    expect(failed).toMatchObject({ reason: { code: expect.stringMatching(/^(42P01|26000)$/) } })
  }
  await database.db.pool.query('create table later as select 7 as n')
  expect(await pipeline.query(find)).toEqual([{ n: 7 }])
})

test('what stands behind a statement that is not answered fails with it, soon, and may be asked again', async () => {
  const answers = await Promise.allSettled(Array.from({ length: 40 }, () => pipeline.query(sleep(60))))
  for (const answer of answers) expect(isUnavailable((answer as PromiseRejectedResult).reason)).toBe(true)
  expect(await pipeline.query(echo(1))).toEqual([{ value: 1 }])
})

describe('a connection', () => {
  test('that was lost is made anew; what was on its way fails', async () => {
    const before = await processes()
    const answer = pipeline.query(sleep(60)).catch((error: unknown) => error)
    await database.db.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1::int[])`, [
      [...before],
    ])
    expect(isUnavailable(await answer)).toBe(true)
    // Connections that stood idle are found to be gone a moment later, as those of a pool are.
    const again = () => processes().catch(() => before)
    await expect.poll(async () => [...(await again())].filter((pid) => before.has(pid))).toEqual([])
  })

  test('is not made before it is needed; one that cannot be made fails the statement and is tried again', async () => {
    const nowhere = openPipeline({ ...database.connection, database: 'nowhere' })
    await expect(nowhere.query(echo(1))).rejects.toMatchObject({ code: '3D000' })
    await expect(nowhere.query(echo(1))).rejects.toMatchObject({ code: '3D000' })
    await nowhere.close()
  })
})

describe('close', () => {
  test('waits for what is on its way and takes nothing more', async () => {
    const answer = pipeline.query(echo(3))
    const slow = pipeline.query(sleep(0.1))
    await Promise.all([answer, pipeline.close()])
    expect(await answer).toEqual([{ value: 3 }])
    expect(await slow).toHaveLength(1)
    await expect(pipeline.query(echo(1))).rejects.toThrow('Client was closed and is not queryable')
  })

  test('leaves no connection behind', async () => {
    const pids = [...(await processes())]
    await pipeline.close()
    const client = new pg.Client(database.connection)
    await client.connect()
    const { rows } = await client.query('select pid from pg_stat_activity where pid = any($1::int[])', [pids])
    await client.end()
    expect(rows).toEqual([])
  })
})
