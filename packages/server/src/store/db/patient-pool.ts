/** A pool that waits for one of its own connections where PostgreSQL gives it no further one. */
import pg from 'pg'
import { isTooManyConnections } from './database-errors.ts'

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/** Milliseconds until more connections are tried for again. */
const CONTENT = 5_000

/**
 * The connections of a role, and of a server, are limited. Beyond that limit pg's own pool fails whoever asked, though
 * one of its connections will be free in a moment; this one has them wait for it.
 */
export class PatientPool extends pg.Pool {
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
        this.#beContent()
      }
    }
  }

  /** With those that it has, for a while. */
  #beContent(): void {
    this.options.max = this.totalCount
    setTimeout(() => {
      this.options.max = this.#most
    }, CONTENT).unref()
  }
}

/**
 * Opens connections until the pool has so many: where they are few, whoever comes later finds none. With `min` they stay.
 * @throws what connecting throws
 */
export async function openConnections(pool: pg.Pool, count: number): Promise<void> {
  const missing = Math.max(0, count - pool.totalCount)
  const opened = await Promise.allSettled(Array.from({ length: missing }, () => pool.connect()))
  for (const result of opened) if (result.status === 'fulfilled') result.value.release()
  for (const result of opened) if (result.status === 'rejected') throw result.reason
}
