/** Runs work in one transaction: each transaction inside the work becomes a savepoint. */
import type { Journal } from '@rollcall/core/model/journal'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Database } from './database.ts'
import { closeJournalLine } from './journal-head.ts'
import { withTransaction } from './transaction.ts'

/**
 * Gives the work a database whose `pool` and `kysely` run on the connection of one transaction. A transaction inside the work
 * becomes a savepoint. A rollback does not undo other effects, such as lines of the journal. Such a line stays open until the
 * transaction commits: until then nobody knows whether its act is committed.
 */
export const inOneTransaction = <Result>(
  db: Database,
  work: (inner: Database, client: pg.ClientBase) => Promise<Result>,
): Promise<Result> =>
  withTransaction(db.pool, (client) => {
    const pool = makeSavepointPool(client)
    const journal: Journal = {
      ...db.journal,
      // The line is closed in this transaction too, so no copy of the database has a closed line without its act.
      write: (act, commit) => db.journal.write(act, commit, (line) => closeJournalLine({ pool }, line)),
    }
    return work({ ...db, pool, kysely: new Kysely({ dialect: new PostgresDialect({ pool }) }), journal }, client)
  })

/** Statements of a transaction, and the savepoint statements that replace them. */
const SAVEPOINT_STATEMENTS: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/^\s*(?:begin|start transaction)\b/i, (name) => `savepoint ${name}`],
  [/^\s*commit\b/i, (name) => `release savepoint ${name}`],
  [/^\s*rollback\s*$/i, (name) => `rollback to savepoint ${name}`],
]

/** Makes a pool whose clients all use this one connection. Each client has savepoints of its own. */
function makeSavepointPool(client: pg.ClientBase): pg.Pool {
  let count = 0
  let last: Promise<unknown> = Promise.resolve()
  // Statements wait for each other, because a connection runs one statement at a time.
  const query = (...given: unknown[]): Promise<unknown> => {
    const asked = last.then(() => (client.query as (...all: unknown[]) => Promise<unknown>).apply(client, given))
    last = asked.catch(() => undefined)
    return asked
  }
  const connect = async (): Promise<unknown> => {
    count += 1
    const name = `inner_${count}`
    const nested = (text: unknown, ...values: unknown[]): Promise<unknown> => {
      const row = typeof text === 'string' ? SAVEPOINT_STATEMENTS.find(([begins]) => begins.test(text)) : undefined
      return row === undefined ? query(text, ...values) : query(row[1](name))
    }
    return { query: nested, release: () => undefined, on: () => undefined, removeListener: () => undefined }
  }
  return { query, connect } as unknown as pg.Pool
}
