import pg from 'pg'
import { expect, test } from 'vitest'
import type { TestServer } from '../../database/test/global-setup.ts'
import { emptyDatabase, testDatabase } from '../../keys/test/postgres.ts'

async function query(server: TestServer, text: string): Promise<unknown[]> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('every call gives a migrated database of its own, UTF8 with locale C, and close() drops it', async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()])
  expect(one.connection.database).not.toBe(other.connection.database)
  const { rows } = await one.db.pool.query(
    `select pg_encoding_to_char(encoding) as encoding, datcollate from pg_database where datname = current_database()`,
  )
  expect(rows).toEqual([{ encoding: 'UTF8', datcollate: 'C' }])
  const tables = await query(other.connection, `select from pg_tables where schemaname = 'public'`)
  expect(tables.length).toBeGreaterThan(0)

  await Promise.all([one.close(), other.close()])
  await expect(query(one.connection, 'select 1')).rejects.toMatchObject({ code: '3D000' })
})

test('close() does not wait for connections that a test forgot', async () => {
  const empty = await emptyDatabase()
  const forgotten = new pg.Client(empty.connection)
  const lost = new Promise<Error>((resolve) => forgotten.on('error', resolve))
  await forgotten.connect()
  await empty.drop()
  expect((await lost).message).toMatch(/terminat/)
})

test('the variables that configure a server do not reach the tests', () => {
  for (const name of ['PORT', 'HOST', 'ADMIN_PORT', 'ROLLCALL_DATA', 'DATABASE_URL']) {
    expect(process.env[name]).toBeUndefined()
  }
})
