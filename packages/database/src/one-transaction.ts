/** Work on a database, all of it in one transaction: what the work commits by itself becomes a part of that. */
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from './database.ts'
import { withTransaction } from './transaction.ts'

/**
 * Hands the work a database whose `pool` and `kysely` are the one connection of a transaction. A transaction that the work begins
 * is a savepoint. What is written by other means, such as the journal, is not a part of it.
 */
export const inOneTransaction = <Result>(
  db: Database,
  work: (inner: Database, client: pg.ClientBase) => Promise<Result>,
): Promise<Result> =>
  withTransaction(db.pool, (client) => {
    const pool = poolOf(client)
    return work({ ...db, pool, kysely: new Kysely({ dialect: new PostgresDialect({ pool }) }) }, client)
  })

/** What begins, commits and rolls back a transaction, as savepoints. */
const NESTED: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/^\s*(?:begin|start transaction)\b/i, (name) => `savepoint ${name}`],
  [/^\s*commit\b/i, (name) => `release savepoint ${name}`],
  [/^\s*rollback\s*$/i, (name) => `rollback to savepoint ${name}`],
]

/** A pool of this connection alone: each of its clients has savepoints of its own. */
function poolOf(client: pg.ClientBase): pg.Pool {
  let count = 0
  let last: Promise<unknown> = Promise.resolve()
  // A connection works on one statement at a time.
  const query = (...given: unknown[]): Promise<unknown> => {
    const asked = last.then(() => (client.query as (...all: unknown[]) => Promise<unknown>).apply(client, given))
    last = asked.catch(() => undefined)
    return asked
  }
  const connect = async (): Promise<unknown> => {
    count += 1
    const name = `inner_${count}`
    const nested = (text: unknown, ...values: unknown[]): Promise<unknown> => {
      const row = typeof text === 'string' ? NESTED.find(([begins]) => begins.test(text)) : undefined
      return row === undefined ? query(text, ...values) : query(row[1](name))
    }
    return { query: nested, release: () => undefined, on: () => undefined, removeListener: () => undefined }
  }
  return { query, connect } as unknown as pg.Pool
}
