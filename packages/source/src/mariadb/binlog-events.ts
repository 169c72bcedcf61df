/** Reads the events of a binlog, as far as they tell which rows have changed. Only keys of rows are kept. */

import { LogLost } from '../engine/change-log.ts'
import type { KeyColumnsByTable, LoggedKeys } from '../engine/logged-keys.ts'
import { EventByteReader } from './binlog-packets.ts'
import { type BinlogPlace, placeOrderNumber, placeText, sortedGtids } from './binlog-places.ts'
import {
  type CharsetsByCollation,
  type KeyColumn,
  type LoggedTableLayout,
  readTableMap,
  type ValueSize,
} from './binlog-tables.ts'

const [HEADER, CHECKSUM] = [19, 4]
/**
 * Flags of an event. ARTIFICIAL: the server made the event for this reader. IGNORABLE: a reader may skip the event if its type is
 * unknown.
 */
const [ARTIFICIAL, IGNORABLE] = [0x20, 0x80]
/** The bit in a GTID event of a transaction that consists of one event, without an event for its end. */
const ONE_EVENT_TRANSACTION_BIT = 1
/** The table number of a row event that has no rows. */
const ROWLESS_EVENT_TABLE_NUMBER = 0xff_ff_ff
/** The most bytes of a statement that are read. */
const LONGEST_STATEMENT_BYTES = 65_536
/** The most bytes of a key that is read. Keys of records are shorter (`canBeKey`). */
const LONGEST_KEY_BYTES = 1_024

const [QUERY, ROTATE, FORMAT, XID, TABLE_MAP, XA_PREPARE, GTID] = [2, 4, 15, 16, 19, 38, 162]
/** Event types without changes of rows, such as server stops, variables, heartbeats and texts of statements. */
const ROWLESS_EVENT_TYPES: ReadonlySet<number> = new Set([3, 5, 13, 14, 27, 29, 35, 160, 161, 163, 164])
/**
 * By type of event: how many versions (images) of each row the event has, and whether extra data comes before the rows. An update
 * has 2 images: the row before and after it.
 */
const ROW_EVENT_LAYOUTS: ReadonlyMap<number, { readonly images: number; readonly hasExtra: boolean }> = new Map(
  [23, 24, 25, 30, 31, 32].map((type) => [type, { images: type === 24 || type === 31 ? 2 : 1, hasExtra: type >= 30 }]),
)

interface RowColumn {
  readonly size: ValueSize
  readonly key: KeyColumn | undefined
}

const isBitSet = (bits: Buffer, at: number): boolean => (((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1

/** The dependencies of `BinlogKeyCollector`: the place to begin at, the tables to read, and the keys to add to. */
export interface BinlogKeyCollectorDeps {
  readonly place: BinlogPlace
  readonly parts: KeyColumnsByTable
  readonly charsets: CharsetsByCollation
  readonly keys: LoggedKeys
}

/** Collects the changed keys from the events of a binlog. */
export class BinlogKeyCollector {
  readonly #bytes = new EventByteReader()
  readonly #reading: Generator<void, void>
  readonly #parts: KeyColumnsByTable
  readonly #charsets: CharsetsByCollation
  readonly #keys: LoggedKeys
  readonly #namesTable: RegExp
  /** The tables of the transaction, by number; null: the source file does not name the table. */
  readonly #tables = new Map<number, LoggedTableLayout | null>()
  /** The last GTID of each replication domain, by the number of the domain. */
  readonly #gtids = new Map<number, string>()
  #place: BinlogPlace
  /** Bytes of the checksum at the end of each event; 0: events have none. */
  #checksum = 0
  #isOpen = false
  #isStandalone = false

  constructor({ place, parts, charsets, keys }: BinlogKeyCollectorDeps) {
    this.#place = place
    this.#parts = parts
    this.#charsets = charsets
    this.#keys = keys
    for (const gtid of sortedGtids(place.gtids)) this.#gtids.set(Number.parseInt(gtid, 10), gtid)
    const names = [...parts.keys()].map((name) => name.slice(name.indexOf('.') + 1).replaceAll('$', '\\$'))
    this.#namesTable = new RegExp(`(?<![\\w$])(?:${names.join('|')})(?![\\w$])`, 'i')
    this.#reading = this.#events()
  }

  /** Reads the next bytes of the stream. @throws LogLost, RangeError the events cannot be understood */
  add(bytes: Buffer): void {
    this.#bytes.add(bytes)
    this.#reading.next()
  }

  *#events(): Generator<void, void> {
    const bytes = this.#bytes
    for (;;) {
      bytes.left = HEADER
      const header = yield* bytes.take(HEADER)
      const [time, type, server] = [header.readUInt32LE(0), header.readUInt8(4), header.readUInt32LE(5)]
      const [length, end, flags] = [header.readUInt32LE(9), header.readUInt32LE(13), header.readUInt16LE(17)]
      // The checksum is skipped, not compared, because TCP has a checksum too.
      const checksum = type === FORMAT ? 0 : this.#checksum
      bytes.left = length - HEADER - checksum
      if ((flags & ARTIFICIAL) === 0 && end > 0) this.#place = { ...this.#place, position: end }
      const rows = ROW_EVENT_LAYOUTS.get(type)
      if (type === ROTATE) yield* this.#rotate()
      else if (type === FORMAT) yield* this.#format(time)
      else if (type === GTID) yield* this.#begin(server)
      else if (type === QUERY) yield* this.#query()
      else if (type === XID || type === XA_PREPARE) this.#isOpen = false
      else if (type === TABLE_MAP) yield* this.#table()
      else if (rows !== undefined) yield* this.#rows(rows)
      else if (!ROWLESS_EVENT_TYPES.has(type) && (flags & IGNORABLE) === 0) throw new LogLost(`an event has the type ${type}`)
      bytes.left += checksum
      yield* bytes.skip(bytes.left)
      if (this.#isOpen) continue
      const gtids = [...this.#gtids.values()].join(',')
      this.#keys.commit(placeText({ ...this.#place, gtids }))
    }
  }

  *#rotate(): Generator<void, void> {
    const position = Number((yield* this.#bytes.take(8)).readBigUInt64LE(0))
    const file = (yield* this.#bytes.take(this.#bytes.left)).toString('utf8')
    if (file !== this.#place.file) this.#place = { ...this.#place, file, position, made: null }
  }

  /** Reads the first event of a file. @param made the time at which the file was made, in seconds since 1970 */
  *#format(made: number): Generator<void, void> {
    if (this.#place.made !== null && this.#place.made !== made) throw new LogLost('another file has the name')
    this.#place = { ...this.#place, made }
    // The last five bytes say whether the following events have checksums, then give the checksum of this event.
    const event = yield* this.#bytes.take(this.#bytes.left)
    this.#checksum = event.readUInt8(event.length - 1 - CHECKSUM) === 0 ? 0 : CHECKSUM
  }

  *#begin(server: number): Generator<void, void> {
    const event = yield* this.#bytes.take(13)
    const domain = event.readUInt32LE(8)
    this.#gtids.set(domain, `${domain}-${server}-${event.readBigUInt64LE(0)}`)
    this.#isOpen = true
    this.#isStandalone = (event.readUInt8(12) & ONE_EVENT_TRANSACTION_BIT) !== 0
    this.#tables.clear()
    // The transaction's number is the place after this event. The place of a snapshot is the end of the last transaction that
    // the snapshot sees. So a snapshot sees this transaction if the snapshot's place is not before the number.
    this.#keys.begin(placeOrderNumber(this.#place))
  }

  *#query(): Generator<void, void> {
    const bytes = this.#bytes
    const head = yield* bytes.take(13)
    yield* bytes.skip(head.readUInt8(8) + 1 + head.readUInt16LE(11))
    const isLong = bytes.left > LONGEST_STATEMENT_BYTES
    const statement = (yield* bytes.take(Math.min(bytes.left, LONGEST_STATEMENT_BYTES))).toString('utf8')
    if (/^(?:commit|rollback)$/i.test(statement)) {
      this.#isOpen = false
      return
    }
    if (/^(?:begin$|#|savepoint |rollback to |release savepoint )/i.test(statement)) return
    // Only definitions of tables and the like (DDL) are expected here. Another statement may have changed rows without a row
    // event, or may end a distributed transaction.
    if (!DEFINITION_STATEMENT_PATTERN.test(statement)) {
      throw new LogLost(
        'a statement is in the log in place of its rows: of a distributed transaction (XA), or of a session with another binlog_format',
      )
    }
    const isNamed =
      this.#namesTable.test(statement) || DATABASE_DEFINITION_PATTERN.test(statement) || /[^\0-\x7f]/.test(statement)
    if (isLong || isNamed) this.#keys.addUnknown()
    if (this.#isStandalone) this.#isOpen = false
  }

  *#table(): Generator<void, void> {
    const event = yield* this.#bytes.take(this.#bytes.left)
    this.#tables.set(event.readUIntLE(0, 6), readTableMap(event, this.#parts, this.#charsets))
  }

  *#rows({ images, hasExtra }: { readonly images: number; readonly hasExtra: boolean }): Generator<void, void> {
    const bytes = this.#bytes
    const id = yield* bytes.number(6)
    const table = this.#tables.get(id)
    if (table === null || id === ROWLESS_EVENT_TABLE_NUMBER) return
    if (table === undefined) throw new LogLost('rows have no table')
    yield* bytes.skip(2)
    if (hasExtra) yield* bytes.skip((yield* bytes.number(2)) - 2)
    const count = table.sizes.length
    if (count > 250) yield* bytes.skip(2)
    yield* bytes.skip(1)
    const found: RowColumn[][] = []
    for (let image = 0; image < images; image += 1) {
      const present = yield* bytes.take(Math.ceil(count / 8))
      const columns = table.sizes.map((size, at): RowColumn => ({ size, key: table.keys.get(at) }))
      found.push(columns.filter((_, at) => isBitSet(present, at)))
    }
    const hasKeys = (columns: readonly RowColumn[]) => columns.filter(({ key }) => key !== undefined).length === table.keys.size
    if (!found.every(hasKeys)) throw new LogLost('rows are without their keys')
    while (bytes.left > 0) for (const columns of found) yield* this.#row(columns)
  }

  /** Reads a row, and notes the keys in it. @param columns the columns of the row, in order */
  *#row(columns: readonly RowColumn[]): Generator<void, void> {
    const bytes = this.#bytes
    const nulls = yield* bytes.take(Math.ceil(columns.length / 8))
    let unread = 0
    for (const [at, { size, key }] of columns.entries()) {
      if (isBitSet(nulls, at)) continue
      if ('prefix' in size) {
        yield* bytes.skip(unread)
        unread = yield* bytes.number(size.prefix)
      } else if (key === undefined) unread += size.bytes
      else {
        yield* bytes.skip(unread)
        unread = size.bytes
      }
      if (key === undefined || unread > LONGEST_KEY_BYTES) continue
      const value = key.read(yield* bytes.take(unread))
      unread = 0
      for (const recordType of key.recordTypes) this.#keys.add(recordType, value)
    }
    yield* bytes.skip(unread)
  }
}

/** Matches statements such as `alter table`. They can change rows only in tables that they name. */
const DEFINITION_STATEMENT_PATTERN =
  /^\s*(?:\/\*(?!!).*?\*\/\s*)?(?:alter|analyze\s+table|create|drop|flush|grant|optimize|rename|repair|revoke|truncate)\b/is
const DATABASE_DEFINITION_PATTERN = /^\s*(?:alter|drop)\s+(?:database|schema)\b/i
