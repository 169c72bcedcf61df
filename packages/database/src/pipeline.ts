/**
 * Connections for short statements that are sent without waiting for earlier answers (pipelining of the PostgreSQL
 * protocol). A look-up takes less time than its round trip and a connection's turn in a pool: this way, the same
 * processors answer a third more look-ups (docs/benchmarks.md). Answers come in order, so a statement waits for earlier
 * ones on its connection. Only short statements belong here: no transaction, no sort of many rows, no wait for a lock.
 */
import pg from 'pg'
import { answerTimeout } from './pools.ts'

/** A statement with the name under which each connection prepares it once. */
export interface NamedStatement {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Pipeline {
  /** The statement's rows. Rejects as a pool's `query` does. */
  query<Row extends pg.QueryResultRow>(statement: NamedStatement): Promise<readonly Row[]>
  /** Statements that are not answered yet. */
  readonly unanswered: number
  /** Waits for running statements, then ends the connections. */
  close(): Promise<void>
}

/**
 * A node asks from one thread: two processes of PostgreSQL answer more look-ups than it can send. More connections
 * would divide the look-ups of a turn into more pieces, each of which wakes a process.
 */
const CONNECTIONS = 2

/**
 * Statements of one turn of the event loop that one connection sends in one piece. Requests whose rows were committed
 * together send their look-ups together: each piece wakes a process of PostgreSQL.
 */
const TOGETHER = 8

/** Opens no connection yet: each is made at its first statement, and again after a loss. */
export function openPipeline(connection: pg.ClientConfig): Pipeline {
  const connections = Array.from({ length: CONNECTIONS }, () => new PipelinedConnection(connection))
  let last = connections[0] as PipelinedConnection
  const next = (): PipelinedConnection => {
    if (last.corked > 0 && last.corked < TOGETHER) return last
    last = connections.reduce((shortest, other) => (other.unanswered < shortest.unanswered ? other : shortest))
    return last
  }
  return {
    async query<Row extends pg.QueryResultRow>(statement: NamedStatement) {
      return (await next().query(statement)) as readonly Row[]
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
  /** Statements that are sent at the end of this turn of the event loop. */
  corked = 0
  readonly #config: pg.ClientConfig & { readonly pipeline: true }
  #client: pg.Client | undefined
  #opening: Promise<pg.Client> | undefined
  #closed = false

  constructor(connection: pg.ClientConfig) {
    // When the database does not answer, all statements on the connection would wait for their own limits. pg gives the
    // connection up when the first of them has waited for this long, and all fail at once.
    const { statement_timeout } = connection
    const query_timeout = answerTimeout(statement_timeout)
    this.#config = { ...connection, ...(query_timeout !== undefined && { query_timeout }), pipeline: true }
  }

  async query({ name, text, values }: NamedStatement): Promise<readonly pg.QueryResultRow[]> {
    this.unanswered += 1
    let client = this.#client
    try {
      client ??= await this.#open()
      this.#cork(client)
      return (await client.query({ name, text, values: values as unknown[] })).rows
    } catch (error) {
      // The connection may have failed, or a statement that later ones take for prepared.
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

  /** Keeps statements back until this turn of the event loop ends, and then sends them in one piece. */
  #cork({ connection: { stream } }: pg.Client): void {
    this.corked += 1
    if (this.corked > 1) return
    stream.cork()
    setImmediate(() => {
      this.corked = 0
      stream.uncork()
    })
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
    // A lost connection fails its statements, which report it.
    client.on('error', () => this.#retire(client)).on('end', () => this.#retire(client))
    await client.connect()
    if (!this.#closed) this.#client = client
    return client
  }

  /** Ends a connection when its running statements are answered; the next statement opens a new one. */
  #retire(client: pg.Client | undefined): void {
    if (client === undefined || this.#client !== client) return
    this.#client = undefined
    client.end().catch(() => undefined)
  }
}
