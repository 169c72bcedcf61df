import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../../keys/test/postgres.ts'
import { lockRegistryFor } from './lock.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

async function begun(): Promise<PoolClient> {
  const client = await database.db.pool.connect()
  await client.query('begin')
  return client
}

async function ended(client: PoolClient): Promise<void> {
  await client.query('commit')
  client.release()
}

const waiting = async (): Promise<number> =>
  (await database.db.pool.query(`select from pg_locks where locktype = 'advisory' and not granted`)).rowCount ?? 0

test('changes run side by side; a subscribe waits for them, and later changes for it', async () => {
  const [one, another, subscribe, later, elsewhere] = await Promise.all([0, 1, 2, 3, 4].map(begun))
  if (!one || !another || !subscribe || !later || !elsewhere) throw new Error('no connections')
  const order: string[] = []
  await lockRegistryFor(one, 1, 'change')
  await lockRegistryFor(another, 1, 'change')
  const subscribed = lockRegistryFor(subscribe, 1, 'subscribe').then(() => order.push('subscribe'))
  await expect.poll(waiting).toBe(1)
  const changed = lockRegistryFor(later, 1, 'change').then(() => order.push('later change'))
  await expect.poll(waiting).toBe(2)
  // Another registry has another lock.
  await lockRegistryFor(elsewhere, 2, 'subscribe')
  await ended(one)
  expect(await waiting()).toBe(2)
  await ended(another)
  await subscribed
  expect(await waiting()).toBe(1)
  await ended(subscribe)
  await changed
  expect(order).toEqual(['subscribe', 'later change'])
  await Promise.all([later, elsewhere].map(ended))
})
