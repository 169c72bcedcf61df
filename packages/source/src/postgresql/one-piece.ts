/**
 * Sends several statements together, as one piece, and waits once. When a statement fails, PostgreSQL skips the rest of the
 * piece. So if BEGIN fails, no later statement runs without its transaction. If no transaction is open and no statement says
 * BEGIN, the piece is one transaction.
 */

import { oncePerObject } from '@rollcall/core/model/once-per'
import pg from 'pg'
import { type Statement, type StatementResult, TransactionNotBegun } from '../engine/connections.ts'
import type { AnswerTimeLimit } from '../engine/time-limit.ts'

/** The most statements that a connection keeps prepared. The one that was used longest ago is dropped first. */
const MOST_PREPARED_STATEMENTS = 50

type ResultColumns = Pick<StatementResult<number>, 'types' | 'names'>

interface PreparedStatement {
  readonly name: string
  /** The columns of the result; null: the server was not asked for them yet. */
  columns: ResultColumns | null
  /** The value of `useCount` when the statement was last used. */
  used: number
}

interface ConnectionStatements {
  /** The prepared statements by text. */
  readonly prepared: Map<string, PreparedStatement>
  /** The names of prepared statements to be closed. */
  readonly dropped: string[]
}

const connectionStatementsOf = oncePerObject((_: pg.ClientBase): ConnectionStatements => ({ prepared: new Map(), dropped: [] }))
/** Grows with each use of a prepared statement. */
let useCount = 0

/** The columns of a statement have changed since it was prepared. The statement is no longer prepared. */
export class OutdatedStatement extends Error {
  constructor(cause: unknown) {
    super('the columns of a prepared statement have changed', { cause })
  }
}

/**
 * Sends a piece: some statements whose rows are not read, and then the wanted statement. A connection keeps the wanted statement
 * prepared, and the other statements that have values.
 * @throws TransactionNotBegun a statement before the wanted one has failed; OutdatedStatement; or the error of the wanted one
 */
export async function sendStatementsTogether(
  client: pg.ClientBase,
  before: readonly Statement[],
  asked: Statement,
  limit: AnswerTimeLimit,
): Promise<StatementResult<number>> {
  const { prepared, dropped } = connectionStatementsOf(client)
  const fresh: string[] = []
  const prepare = ({ text }: Statement): PreparedStatement => {
    useCount += 1
    const found = prepared.get(text) ?? { name: `rollcall_${useCount}`, columns: null, used: 0 }
    if (found.used === 0) {
      fresh.push(text)
      prepared.set(text, found)
    }
    found.used = useCount
    return found
  }
  const forget = (text: string): void => {
    dropped.push(prepared.get(text)?.name ?? '')
    prepared.delete(text)
  }
  const steps = [...before, asked].map((statement): StatementToSend => {
    const isKept = statement === asked || statement.values.length > 0
    const { name, columns } = isKept ? prepare(statement) : UNNAMED_STATEMENT
    const isNew = !isKept || fresh.includes(statement.text)
    const values = statement.values.map(parameterText)
    return { text: statement.text, values, name, isNew, isDescribed: statement === asked && columns === null }
  })
  const query = new PieceQuery(steps, before.length, dropped)
  try {
    await limit.wait(query.sent(client))
  } catch (error) {
    const isOutdated = !fresh.includes(asked.text) && query.completed === before.length && isChangedResultError(error)
    for (const text of isOutdated ? [...fresh, asked.text] : fresh) forget(text)
    if (isOutdated) throw new OutdatedStatement(error)
    throw query.completed < before.length ? new TransactionNotBegun(error) : error
  }
  dropped.length = 0
  const kept = prepared.get(asked.text)
  const columns = kept?.columns ?? query.columns
  if (kept !== undefined) kept.columns = columns
  if (prepared.size > MOST_PREPARED_STATEMENTS) {
    const oldestFirst = [...prepared].toSorted(([, one], [, other]) => one.used - other.used)
    for (const [text] of oldestFirst.slice(0, -MOST_PREPARED_STATEMENTS)) forget(text)
  }
  return { rows: query.rows, ...columns }
}

/** True when PostgreSQL refuses a prepared statement because a changed table would give it other columns. */
const isChangedResultError = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '0A000'

const UNNAMED_STATEMENT: PreparedStatement = { name: '', columns: null, used: 0 }

interface StatementToSend extends Statement {
  readonly values: readonly (string | null)[]
  /** The name of the prepared statement; empty: the statement is not kept prepared. */
  readonly name: string
  /** True when the connection has not prepared the statement yet. */
  readonly isNew: boolean
  /** True when the server is asked for the columns of the result. */
  readonly isDescribed: boolean
}

/** The methods of pg's connection that a piece uses, with only the parameters that a piece gives. */
interface PieceConnection {
  readonly stream: { cork(): void; uncork(): void }
  parse(message: { readonly text: string; readonly name: string }): void
  bind(message: { readonly statement: string; readonly values: readonly (string | null)[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(): void
  close(message: { readonly type: 'S'; readonly name: string }): void
  sync(): void
}

/** The query object of a piece. The client of `pg` calls `submit`, which sends the piece, then a method for each answer. */
class PieceQuery {
  /** The client replaces this function by its own, which also stops the timer of the query. */
  callback: (error: unknown) => void = () => undefined
  /** The number of statements of the piece that have ended. */
  completed = 0
  readonly rows: (string | null)[][] = []
  columns: ResultColumns = { types: [], names: [] }
  readonly #steps: readonly StatementToSend[]
  readonly #asked: number
  readonly #dropped: readonly string[]

  /** Makes the query of a piece. @param steps its statements @param asked the index of the statement whose rows are read */
  constructor(steps: readonly StatementToSend[], asked: number, dropped: readonly string[]) {
    this.#steps = steps
    this.#asked = asked
    this.#dropped = dropped
  }

  sent(client: pg.ClientBase): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.callback = (error) => (error === null ? resolve() : reject(error))
    client.query(this)
    return promise
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as PieceConnection
    wire.stream.cork()
    for (const name of this.#dropped) wire.close({ type: 'S', name })
    for (const { text, values, name, isNew, isDescribed } of this.#steps) {
      if (isNew) wire.parse({ text, name })
      wire.bind({ statement: name, values })
      if (isDescribed) wire.describe({ type: 'P' })
      wire.execute()
    }
    wire.sync()
    wire.stream.uncork()
  }

  handleRowDescription({ fields }: Pick<pg.QueryResult, 'fields'>): void {
    this.columns = { types: fields.map(({ dataTypeID }) => dataTypeID), names: fields.map(({ name }) => name) }
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    if (this.completed === this.#asked) this.rows.push(fields)
  }

  handleCommandComplete(): void {
    this.completed += 1
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

/** The text of a parameter; null stays. A list becomes an array in PostgreSQL's form, with each element in quotation marks. */
function parameterText(value: unknown): string | null {
  if (!Array.isArray(value)) return value === null ? null : String(value)
  return `{${value.map((one) => `"${String(one).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
