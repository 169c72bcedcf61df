/** A pool for whoever may write only while it holds a lock. */
import pg from 'pg'

/** The lock is not held, so nothing may be written. */
export class Fenced extends Error {
  constructor() {
    super('the lock that permits this is not held')
    this.name = 'Fenced'
  }
}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/** Gives a connection only while `held` says so: asked before one is waited for, and again when it is there. */
export class FencedPool extends pg.Pool {
  readonly #held: () => boolean

  constructor(settings: pg.PoolConfig, held: () => boolean) {
    super(settings)
    this.#held = held
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
    if (!this.#held()) throw new Fenced()
    const client = await super.connect()
    if (this.#held()) return client
    client.release()
    throw new Fenced()
  }
}
