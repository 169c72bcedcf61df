import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { openDatabase } from './database.ts'
import { isStatementTimeout, isUnavailable, isUniqueViolation, StoreBusy, safeDatabaseError } from './database-errors.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}

describe('safeDatabaseError', () => {
  test('says the code and nothing of the row', async () => {
    const { pool } = database.db
    await pool.query('create table secretive (value text primary key)')
    const insert = () => pool.query('insert into secretive values ($1)', ['Ada Lovelace'])
    await insert()
    const error = await failure(insert())
    expect(safeDatabaseError(error)).toEqual({
      error: 'DatabaseError',
      sqlstate: '23505',
      severity: 'ERROR',
      routine: '_bt_check_unique',
    })
    expect(JSON.stringify(safeDatabaseError(error))).not.toContain('Ada')
    expect(isUniqueViolation(error, 'secretive_pkey')).toBe(true)
    expect(isUniqueViolation(error, 'other_key')).toBe(false)
    expect(isUnavailable(error)).toBe(false)
  })

  test('names other errors by class and code only', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1'), { code: 'ECONNREFUSED' })
    expect(safeDatabaseError(error)).toEqual({ error: 'Error', code: 'ECONNREFUSED' })
    expect(safeDatabaseError(new TypeError('Ada'))).toEqual({ error: 'TypeError' })
    expect(safeDatabaseError('Ada')).toEqual({ error: 'string' })
    expect(isUniqueViolation(error, 'x')).toBe(false)
  })
})

describe('isUnavailable', () => {
  test('nobody listens', async () => {
    for (const host of ['127.0.0.1', 'localhost', '/nowhere']) {
      const db = openDatabase({ host, port: 1 })
      expect(isUnavailable(await failure(db.pool.query('select 1')))).toBe(true)
      await db.close()
    }
  })

  test('the connection is ended while a statement runs', async () => {
    const error = await failure(database.db.pool.query('select pg_terminate_backend(pg_backend_pid())'))
    expect(safeDatabaseError(error)).toMatchObject({ sqlstate: '57P01' })
    expect(isUnavailable(error)).toBe(true)
  })

  test('a statement takes too long', async () => {
    const db = openDatabase({ ...database.connection, statement_timeout: 20 })
    const error = await failure(db.pool.query('select pg_sleep(5)'))
    expect(safeDatabaseError(error)).toMatchObject({ sqlstate: '57014' })
    expect(isUnavailable(error)).toBe(true)
    await db.close()
  })

  test('every connection is taken', async () => {
    const db = openDatabase({ ...database.connection, max: 1, connectionTimeoutMillis: 500 })
    const client = await db.pool.connect()
    expect(isUnavailable(await failure(db.pool.query('select 1')))).toBe(true)
    client.release()
    await db.close()
    expect(isUnavailable(await failure(db.pool.query('select 1')))).toBe(true)
  })

  test('the password is refused, or the database is not there', async () => {
    const missing = openDatabase({ ...database.connection, database: 'not_there' })
    expect(isUnavailable(await failure(missing.pool.query('select 1')))).toBe(true)
    await missing.close()
    const refused = openDatabase({ ...database.connection, password: 'not this one' })
    expect(isUnavailable(await failure(refused.pool.query('select 1')))).toBe(true)
    await refused.close()
  })

  test.each(['53300', '57P03', '08006', '25006', '26000'])('SQLSTATE %s', (state) => {
    const error = new pg.DatabaseError('x', 1, 'error')
    error.code = state
    expect(isUnavailable(error)).toBe(true)
  })

  test('too many writes are waiting', () => {
    expect(isUnavailable(new StoreBusy())).toBe(true)
    expect(safeDatabaseError(new StoreBusy())).toEqual({ error: 'StoreBusy' })
  })

  test('a wrong statement, another file, another error are not', async () => {
    expect(isUnavailable(await failure(database.db.pool.query('selec 1')))).toBe(false)
    expect(isUnavailable(Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }))).toBe(false)
    expect(isUnavailable(new TypeError('x'))).toBe(false)
    expect(isUnavailable(new AggregateError([], 'x'))).toBe(false)
    expect(isUnavailable(undefined)).toBe(false)
  })
})

test('a statement that takes too long is told from all other failures', async () => {
  const slow = openDatabase({ ...database.connection, statement_timeout: 50 })
  expect(isStatementTimeout(await failure(slow.pool.query('select pg_sleep(5)')))).toBe(true)
  expect(isStatementTimeout(await failure(slow.pool.query('selec 1')))).toBe(false)
  expect(isStatementTimeout(new Error('timeout'))).toBe(false)
  await slow.close()
})
