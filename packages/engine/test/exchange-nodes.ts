/** Two nodes on one database, each of which remembers the messages that it has received. */

import { openDatabase } from '@rollcall/database/database'
import { createReceivedMessageStore, type ReceivedMessageStore } from '@rollcall/engine/store/exchanges/exchanges'
import { afterAll } from 'vitest'
import { type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'

export interface ExchangeNodes {
  readonly database: TestDatabase
  readonly memory: ReceivedMessageStore
  /** The memory of another node, with its own pool and queue. */
  readonly elsewhere: ReceivedMessageStore
}

/** For the tests of one file, to be awaited at its top level. */
export async function exchangeNodes(): Promise<ExchangeNodes> {
  const database = await testDatabase()
  const other = openDatabase(database.connection)
  afterAll(async () => {
    await other.close()
    await database.close()
  })
  return {
    database,
    memory: createReceivedMessageStore(database.db, { waiting: 10_000 }),
    elsewhere: createReceivedMessageStore(other, { waiting: 10_000 }),
  }
}
