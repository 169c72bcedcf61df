/** Reads the messages of `pgoutput`, protocol version 1, as far as they say which rows have changed. */

/** A table, as the server describes it before its first change, and after its columns have changed. */
export interface LoggedRelation {
  readonly schema: string
  readonly table: string
  readonly columns: readonly LoggedColumn[]
}

export interface LoggedColumn {
  readonly name: string
  /** The number of the column's type in the catalog. A message `type` describes it before if it is no type of PostgreSQL itself. */
  readonly type: number
}

/**
 * The values of a row as bytes of texts, in the order of the columns; null: missing, or not sent. They are parts of the
 * message, not copies.
 */
export type RowValues = readonly (Buffer | null)[]

/** A message of the log. It names transactions and tables by numbers; the message `relation` describes a table. */
export type LogMessage =
  | { readonly is: 'begin'; readonly transaction: number }
  /** `end`: the position in the log after the transaction. */
  | { readonly is: 'commit'; readonly end: bigint }
  /** The row before and after the change. `before` is null for an insert, or if it was not sent; `after` for a delete. */
  | { readonly is: 'change'; readonly relation: number; readonly before: RowValues | null; readonly after: RowValues | null }
  | { readonly is: 'truncate'; readonly relations: readonly number[] }
  | { readonly is: 'relation'; readonly id: number; readonly relation: LoggedRelation }
  /** `name`: of the type, or of the type under a domain. An empty `schema` means pg_catalog of the server. */
  | { readonly is: 'type'; readonly id: number; readonly schema: string; readonly name: string }
  | { readonly is: 'other' }

const OTHER_MESSAGE: LogMessage = { is: 'other' }

/** Reads a message of the log. @throws RangeError the message ends too early */
export function readMessage(bytes: Buffer): LogMessage {
  const reader = new MessageReader(bytes)
  switch (reader.letter()) {
    case 'B':
      reader.skip(8 + 8)
      return { is: 'begin', transaction: reader.int32() >>> 0 }
    case 'C':
      reader.skip(1 + 8)
      return { is: 'commit', end: reader.int64() }
    case 'R':
      return readRelation(reader)
    case 'I': {
      const relation = reader.int32()
      reader.skip(1)
      return { is: 'change', relation, before: null, after: reader.tuple() }
    }
    case 'U': {
      const relation = reader.int32()
      const before = reader.letter() === 'N' ? null : reader.tuple()
      if (before !== null) reader.skip(1)
      return { is: 'change', relation, before, after: reader.tuple() }
    }
    case 'D': {
      const relation = reader.int32()
      reader.skip(1)
      return { is: 'change', relation, before: reader.tuple(), after: null }
    }
    case 'T': {
      const count = reader.int32()
      reader.skip(1)
      return { is: 'truncate', relations: Array.from({ length: count }, () => reader.int32()) }
    }
    case 'Y':
      return { is: 'type', id: reader.int32(), schema: reader.text(), name: reader.text() }
    default:
      return OTHER_MESSAGE
  }
}

function readRelation(reader: MessageReader): LogMessage {
  const id = reader.int32()
  const schema = reader.text()
  const table = reader.text()
  reader.skip(1)
  const columns = Array.from({ length: reader.int16() }, () => {
    reader.skip(1)
    const name = reader.text()
    const type = reader.int32()
    reader.skip(4)
    return { name, type }
  })
  // An empty name means the schema pg_catalog of the server.
  return { is: 'relation', id, relation: { schema: schema === '' ? 'pg_catalog' : schema, table, columns } }
}

class MessageReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  skip(count: number): void {
    this.#at += count
  }

  letter(): string {
    return String.fromCharCode(this.#bytes.readUInt8(this.#moved(1)))
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#moved(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#moved(4))
  }

  int64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#moved(8))
  }

  /** Reads a text that ends with a zero byte. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end < 0) throw new RangeError('a text of the log does not end')
    return this.#bytes.toString('utf8', this.#moved(end + 1 - this.#at), end)
  }

  tuple(): RowValues {
    return Array.from({ length: this.int16() }, () => {
      const kind = this.letter()
      if (kind !== 't' && kind !== 'b') return null
      const length = this.int32()
      const from = this.#moved(length)
      if (this.#at > this.#bytes.length) throw new RangeError('a value of the log does not end')
      return this.#bytes.subarray(from, this.#at)
    })
  }

  /** Moves past `count` bytes, and returns where they begin. */
  #moved(count: number): number {
    const from = this.#at
    this.#at += count
    return from
  }
}
