/**
 * Connections for short statements that are sent without waiting for earlier answers (pipelining of the PostgreSQL protocol):
 * PostgreSQL needs less time for a look-up than the round trip and the wait for a connection of a pool take. Answers come in
 * order, so a statement waits for earlier ones on its connection. Only short statements belong here: no transaction, no sort of
 * many rows, no wait for a lock.
 */
import pg from 'pg'
import { clientTimeoutMs } from './pools.ts'

/** A statement, with the name under which each connection prepares it once. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Pipeline {
  /** Runs a statement, and returns its rows. Rejects as a pool's `query` does. */
  query<Row extends pg.QueryResultRow>(statement: NamedStatement): Promise<readonly Row[]>
  /** The number of statements that PostgreSQL has not answered yet. */
  readonly unanswered: number
  /** Waits for running statements, then ends the connections. */
  close(): Promise<void>
}

/** The number of connections. More would help only with several registries: look-ups in one table share statements. */
const PIPELINE_CONNECTIONS = 2

/** Opens a pipeline. Each connection is made at its first statement, and made again after it was lost. */
export function openPipeline(connection: pg.ClientConfig): Pipeline {
  const connections = Array.from({ length: PIPELINE_CONNECTIONS }, () => new PipelinedConnection(connection))
  return {
    async query<Row extends pg.QueryResultRow>(statement: NamedStatement) {
      const idlest = connections.reduce((one, other) => (other.unanswered < one.unanswered ? other : one))
      return (await idlest.query(statement)) as readonly Row[]
    },
    get unanswered() {
      return connections.reduce((sum, { unanswered }) => sum + unanswered, 0)
    },
    async close() {
      await Promise.all(connections.map((each) => each.close()))
    },
  }
}

/** One connection and its running statements. */
class PipelinedConnection {
  unanswered = 0
  readonly #config: pg.ClientConfig & { readonly pipeline: true }
  #client: pg.Client | undefined
  #opening: Promise<pg.Client> | undefined
  #closed = false

  constructor(connection: pg.ClientConfig) {
    // When the database does not answer, every statement would wait for its own time limit. pg gives the connection up when the
    // first statement has waited for `query_timeout`, and all statements on the connection fail together.
    const { statement_timeout } = connection
    const query_timeout = clientTimeoutMs(statement_timeout)
    this.#config = { ...connection, ...(query_timeout !== undefined && { query_timeout }), pipeline: true }
  }

  async query({ name, text, values }: NamedStatement): Promise<readonly pg.QueryResultRow[]> {
    this.unanswered += 1
    let client = this.#client
    try {
      client ??= await this.#open()
      return (await client.query({ name, text, values: values as unknown[] })).rows
    } catch (error) {
      // The connection may be broken, or PostgreSQL did not prepare the statement: then later statements under its name would
      // fail.
      this.#retire(client)
      throw error
    } finally {
      this.unanswered -= 1
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    this.#client = undefined
    await client?.end()
  }

  #open(): Promise<pg.Client> {
    if (this.#closed) return Promise.reject(new Error('Client was closed and is not queryable'))
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config)
    // Statements on a lost connection fail and report its loss, so the loss is not reported here.
    client.on('error', () => this.#retire(client)).on('end', () => this.#retire(client))
    await client.connect()
    // One plan serves any number of look-ups in a statement. Without this setting PostgreSQL would plan each execution anew.
    await client.query('set plan_cache_mode = force_generic_plan')
    if (!this.#closed) this.#client = client
    return client
  }

  /** Ends a connection after its running statements have answers. The next statement opens a new one. */
  #retire(client: pg.Client | undefined): void {
    if (client === undefined || this.#client !== client) return
    this.#client = undefined
    client.end().catch(() => undefined)
  }
}
