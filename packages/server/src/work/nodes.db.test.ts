import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../test/postgres.ts'
import { createLog } from '../observe/log.ts'
import { joinNodes, type Node } from './nodes.ts'

/** Milliseconds. */
const LEASE = 2_000

let database: TestDatabase
let joined: Node[]

beforeEach(async () => {
  database = await testDatabase()
  joined = []
})

afterEach(async () => {
  await Promise.all(joined.map((node) => node.leave()))
  await database.close()
})

async function join(connection = database.db.connection): Promise<Node> {
  const node = await joinNodes(connection, { lease: LEASE, log: createLog({ level: 'silent' }) })
  joined.push(node)
  return node
}

const entered = async (): Promise<readonly string[]> =>
  (await database.db.pool.query<{ id: string }>('select id from node')).rows.map(({ id }) => id)

test('work that keeps the process busy for longer than the lease does not lose it', async () => {
  const node = await join()
  // The thread of the process stands still; the session's does not.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LEASE + 500)
  expect(node.held()).toBe(true)
  const other = await join()
  expect((await entered()).toSorted()).toEqual([node.worker, other.worker].toSorted())
})

test('a session that is ended is lost', async () => {
  const node = await join()
  await database.db.pool.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`,
  )
  await node.lost
  expect(node.held()).toBe(false)
})

test('what PostgreSQL refuses is thrown with its code', async () => {
  const connection = { ...database.db.connection, database: 'there_is_none' }
  await expect(join(connection)).rejects.toMatchObject({ code: '3D000', name: 'error' })
})
