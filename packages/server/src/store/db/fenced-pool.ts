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

export interface Fence {
  /** Whether the lock is held. */
  readonly held: () => boolean
  /** Told of each connection that could not be made, and of each statement that failed, or may have. */
  readonly failed: () => void
}

/** Gives a connection only while the lock is held: asked before one is waited for, and again when it is there. */
export class FencedPool extends pg.Pool {
  readonly #fence: Fence

  constructor(settings: pg.PoolConfig, fence: Fence) {
    super(settings)
    this.#fence = fence
    this.on('connect', (client) => watch(client, fence.failed))
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
    const { held, failed } = this.#fence
    if (!held()) throw new Fenced()
    const client = await super.connect().catch((error: unknown) => {
      failed()
      throw error
    })
    if (held()) return client
    client.release()
    throw new Fenced()
  }
}

/** Only what is waited for by a promise. */
function watch(client: pg.PoolClient, failed: () => void): void {
  const { query } = client
  const watched = (...given: unknown[]): unknown => {
    const result: unknown = Reflect.apply(query, client, given)
    if (result instanceof Promise) result.catch(failed)
    return result
  }
  client.query = watched as typeof query
}
