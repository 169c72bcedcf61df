/** Statements that are given up on this side too: a host that is cut off says nothing, and TCP waits for a long time. */
import type pg from 'pg'

/** Milliseconds beyond the time that PostgreSQL itself gives a statement. */
const GRACE = 500

/** Milliseconds after which a statement will not be answered any more; undefined where its time has no limit. */
export function answerTime(statement_timeout: number | false | undefined): number | undefined {
  return statement_timeout ? statement_timeout + GRACE : undefined
}

/**
 * The pool, whose `query` from now on rejects after this many milliseconds, and gives the connection up. Whoever takes
 * a connection out of it has no such limit: some of them lift PostgreSQL's as well.
 */
export function answeredWithin<Pool extends pg.Pool>(pool: Pool, query_timeout: number | undefined): Pool {
  if (query_timeout === undefined) return pool
  const { query } = pool
  const limited = (first: string | pg.QueryConfig, ...rest: unknown[]): unknown => {
    const config = typeof first === 'string' ? { text: first } : first
    return Reflect.apply(query, pool, [{ ...config, query_timeout }, ...rest])
  }
  pool.query = limited as typeof query
  return pool
}
