/** Statements of which nobody knows whether they were done: their answer never came. */
import pg from 'pg'

/**
 * Tells of each that happens on a connection of the pool, from now on. What PostgreSQL itself refuses was not done.
 * Only of statements that are waited for by a promise.
 */
export function onUnknownOutcome(pool: pg.Pool, tell: () => void): void {
  pool.on('connect', (client) => {
    const { query } = client
    const watched = (...given: unknown[]): unknown => {
      const result: unknown = Reflect.apply(query, client, given)
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          if (!(error instanceof pg.DatabaseError)) tell()
        })
      }
      return result
    }
    client.query = watched as typeof query
  })
}
