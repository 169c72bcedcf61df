/** Pools that also work when PostgreSQL is silent, or short of connections. */
import pg from 'pg'
import { isTooManyConnections } from './database-errors.ts'

/** Milliseconds beyond PostgreSQL's own limit of a statement. */
const GRACE = 500

/**
 * Milliseconds after which a statement is given up on this side too: a host that is cut off says nothing, and TCP waits for
 * a long time. Undefined where the statement has no time limit.
 */
export function answerTimeout(statement_timeout: number | false | undefined): number | undefined {
  return statement_timeout ? statement_timeout + GRACE : undefined
}

/**
 * Makes `query` of the pool reject after this many milliseconds and give the connection up. Connections that are taken
 * out of the pool have no such limit: some of their users lift PostgreSQL's limit too.
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

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/** Milliseconds until more connections are asked for again. */
const RETRY_AFTER = 5_000

/**
 * PostgreSQL limits the connections of a role and of a server. At that limit pg's pool fails a request although one of
 * its connections will be free in a moment; this pool lets the request wait.
 */
export class WaitingPool extends pg.Pool {
  readonly #most: number

  constructor(settings: pg.PoolConfig) {
    super(settings)
    this.#most = this.options.max
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): unknown {
    const connecting = this.#connect()
    if (callback === undefined) return connecting
    return connecting.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error) => callback(error, undefined, () => undefined),
    )
  }

  async #connect(): Promise<pg.PoolClient> {
    for (let tries = this.#most; ; tries -= 1) {
      try {
        return await super.connect()
      } catch (error) {
        if (tries <= 0 || this.totalCount === 0 || !isTooManyConnections(error)) throw error
        this.#stopGrowing()
      }
    }
  }

  /** For a while. */
  #stopGrowing(): void {
    this.options.max = this.totalCount
    setTimeout(() => {
      this.options.max = this.#most
    }, RETRY_AFTER).unref()
  }
}

/** Opens the connections that the pool always holds: as many as its `min`. @throws what connecting throws */
export async function openConnections(pool: pg.Pool): Promise<void> {
  const missing = Math.max(0, (pool.options.min ?? 0) - pool.totalCount)
  const opened = await Promise.allSettled(Array.from({ length: missing }, () => pool.connect()))
  for (const result of opened) if (result.status === 'fulfilled') result.value.release()
  for (const result of opened) if (result.status === 'rejected') throw result.reason
}
