/** Pools that work when PostgreSQL does not answer, or has too few connections. */
import pg from 'pg'
import { isReadTimeout, isTooManyConnections } from './database-errors.ts'

/** Milliseconds that we wait longer than PostgreSQL's own time limit of a statement. */
const TIMEOUT_GRACE_MS = 500

/**
 * Milliseconds after which we give a statement up ourselves: when the network is cut, the error of PostgreSQL's own limit never
 * arrives, and TCP waits very long. Undefined when statements have no time limit.
 */
export function clientTimeoutMs(statement_timeout: number | false | undefined): number | undefined {
  return statement_timeout ? statement_timeout + TIMEOUT_GRACE_MS : undefined
}

/** A connection of a pool, with a member that pg's types leave out: the time limit of its next statements in milliseconds. */
interface ClientWithQueryTimeout extends pg.Client {
  readonly connectionParameters: { query_timeout: number | false }
}

/**
 * Makes a pool give a connection up when a statement takes longer than the pool's `query_timeout`. A statement that sets
 * `statement_timeout`, PostgreSQL's own limit, ends the limit of `query_timeout` too, until the connection is given back. A
 * commit has no limit in PostgreSQL, and none here: it may wait for a synchronous standby.
 */
export function withClientTimeout<Pool extends pg.Pool>(pool: Pool): Pool {
  const { query_timeout } = pool.options
  if (query_timeout === undefined) return pool
  pool.on('acquire', (acquired: pg.ClientBase) => {
    const { connectionParameters } = acquired as ClientWithQueryTimeout
    connectionParameters.query_timeout = query_timeout
  })
  pool.on('connect', (connected: pg.ClientBase) => {
    const client = connected as ClientWithQueryTimeout
    const { query } = client
    const limited = (first: string | { readonly text: string }, ...rest: unknown[]): unknown => {
      const text = typeof first === 'string' ? first : first.text
      const { connectionParameters } = client
      const limit = connectionParameters.query_timeout
      // pg reads the limit when it is given a statement.
      if (text.toLowerCase() === 'commit') connectionParameters.query_timeout = false
      const result: unknown = Reflect.apply(query, client, [first, ...rest])
      connectionParameters.query_timeout = text.includes('statement_timeout') ? false : limit
      // The connection still waits for the answer: a rollback, and whoever has the connection next, would wait with it.
      if (result instanceof Promise) result.catch((error) => (isReadTimeout(error) ? client.end() : undefined))
      return result
    }
    client.query = limited as typeof query
  })
  return pool
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/** Milliseconds for which a pool makes no more connections after PostgreSQL refused one. */
const POOL_GROWTH_PAUSE_MS = 5_000

/**
 * A pool that waits where pg's pool fails: when PostgreSQL's limit of connections is reached, a caller waits until a
 * connection of this pool is free. The call fails when this pool has no connection at all.
 */
export class WaitingPool extends pg.Pool {
  readonly #most: number

  constructor(settings: pg.PoolConfig) {
    super(settings)
    this.#most = this.options.max
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): unknown {
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

  /** Lets the pool have no more connections than now, for `POOL_GROWTH_PAUSE_MS` milliseconds. */
  #stopGrowing(): void {
    this.options.max = this.totalCount
    setTimeout(() => {
      this.options.max = this.#most
    }, POOL_GROWTH_PAUSE_MS).unref()
  }
}

/** Opens the connections that the pool always holds (its `min`). @throws an error of connecting */
export async function openMinConnections(pool: pg.Pool): Promise<void> {
  const missing = Math.max(0, (pool.options.min ?? 0) - pool.totalCount)
  const opened = await Promise.allSettled(Array.from({ length: missing }, () => pool.connect()))
  for (const result of opened) if (result.status === 'fulfilled') result.value.release()
  for (const result of opened) if (result.status === 'rejected') throw result.reason
}
