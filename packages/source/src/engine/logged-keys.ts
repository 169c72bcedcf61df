/** Collects the keys of changed records from the stream of a log, until they are taken. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { LoggedChanges, LogReader } from './change-log.ts'
import { loggedTables, type SourceFile } from './mapped-records.ts'

/** For the rows of a logged table: the type of the records that they change, and the column with the keys of these records. */
export interface LoggedKeyColumn {
  readonly recordType: string
  /** The column with the key of the record to which a row belongs. */
  readonly key: string
}

/**
 * The record types and key columns for the rows of each table whose changes are looked for in the log of the database, by
 * `schema.table`.
 */
export type KeyColumnsByTable = ReadonlyMap<string, readonly LoggedKeyColumn[]>

/** Finds the record types and key columns of each logged table. A null `schema` means the schema `usual`. */
export function keyColumnsByLoggedTable(file: SourceFile, usual: string): KeyColumnsByTable {
  return Map.groupBy(loggedTables(file), ({ schema, table }) => `${schema ?? usual}.${table}`)
}

/**
 * The keys of the records that a part of a transaction, a whole transaction or several transactions changed. `end` is the
 * position in the log after the last transaction; null when a later segment has more of the same transaction.
 */
interface LogSegment {
  readonly due: Map<string, Set<string>>
  size: number
  isEmptied: boolean
  /** The numbers of the transactions that changed these records; of many, the latest ones. */
  readonly transactions: number[]
  end: string | null
}

/** The most keys of one segment, and the number of waiting keys above which reading pauses. */
const MOST_SEGMENT_KEYS = 10_000
const MOST_KEYS_BEFORE_PAUSE = 200_000
/**
 * When this many segments wait, a new segment is merged into the last one if both end with a transaction and together have at
 * most `MOST_SEGMENT_KEYS` keys. So many small transactions need little memory. When fewer wait, only one without keys is merged.
 */
const MOST_UNMERGED_SEGMENTS = 1_000
/**
 * A merged segment keeps the numbers of its latest transactions. When it has more than twice this many numbers, it drops the
 * oldest. Commits become visible almost in the order of the log: when the latest are visible, older ones are taken to be visible.
 */
const TRANSACTIONS_KEPT_PER_SEGMENT = 10_000

/** The keys of changed records, in segments in the order of the log, until they are taken. */
export class LoggedKeys {
  readonly #segments: LogSegment[] = []
  #waiting = 0
  #open: LogSegment | null = null
  /** The number of the transaction that began last; null: none has begun. */
  #transaction: number | null = null
  /** The position in the log up to which all changes were taken with `take`. */
  #position: string

  constructor(position: string) {
    this.#position = position
  }

  get waiting(): number {
    return this.#waiting
  }

  get hasSegments(): boolean {
    return this.#segments.length > 0
  }

  get hasOpen(): boolean {
    return this.#open !== null
  }

  begin(transaction: number): void {
    this.#transaction = transaction
    this.#open = createEmptySegment(transaction)
  }

  add(recordType: string, key: string): void {
    this.#open ??= createEmptySegment()
    const keys = this.#open.due.get(recordType) ?? new Set()
    this.#open.due.set(recordType, keys)
    if (keys.has(key)) return
    keys.add(key)
    this.#open.size += 1
    if (this.#open.size < MOST_SEGMENT_KEYS) return
    this.#push(this.#open)
    this.#open = createEmptySegment(this.#transaction)
  }

  /** Notes that it is unknown which records the transaction has changed. */
  addUnknown(): void {
    this.#open ??= createEmptySegment()
    this.#open.isEmptied = true
  }

  /** Ends the open transaction. When none is open, only lets `take` move the position to `end`. */
  commit(end: string): void {
    const segment = this.#open ?? createEmptySegment()
    this.#open = null
    this.#push({ ...segment, end })
  }

  take(most: number): LoggedChanges {
    const due = new Map<string, Set<string>>()
    const transactions: number[] = []
    let isEmptied = false
    let size = 0
    while (size < most) {
      const segment = this.#segments.shift()
      if (segment === undefined) break
      size += segment.size
      this.#waiting -= segment.size
      isEmptied ||= segment.isEmptied
      addKeysByType(due, segment.due)
      if (segment.size > 0 || segment.isEmptied) transactions.push(...segment.transactions)
      this.#position = segment.end ?? this.#position
    }
    return { due, isEmptied, transactions, position: this.#position }
  }

  #push(segment: LogSegment): void {
    const last = this.#segments.at(-1)
    const isApart = segment.size > 0 && this.#segments.length < MOST_UNMERGED_SEGMENTS
    if (isApart || !last?.end || !segment.end || last.size + segment.size > MOST_SEGMENT_KEYS) {
      this.#segments.push(segment)
      this.#waiting += segment.size
      return
    }
    const fresh = addKeysByType(last.due, segment.due)
    last.size += fresh
    if (segment.size > 0 || segment.isEmptied) {
      last.transactions.push(...segment.transactions)
      if (last.transactions.length > 2 * TRANSACTIONS_KEPT_PER_SEGMENT) last.transactions.splice(0, TRANSACTIONS_KEPT_PER_SEGMENT)
    }
    this.#waiting += fresh
    last.isEmptied ||= segment.isEmptied
    last.end = segment.end
  }
}

/** Adds keys to a map, and may reuse the given sets. @returns the number of new keys */
function addKeysByType(to: Map<string, Set<string>>, from: ReadonlyMap<string, Set<string>>): number {
  let count = 0
  for (const [type, keys] of from) {
    const known = to.get(type)
    if (known === undefined) {
      to.set(type, keys)
      count += keys.size
      continue
    }
    const before = known.size
    for (const key of keys) known.add(key)
    count += known.size - before
  }
  return count
}

const createEmptySegment = (transaction: number | null = null): LogSegment => ({
  due: new Map(),
  size: 0,
  isEmptied: false,
  transactions: transaction === null ? [] : [transaction],
  end: null,
})

/** A stream of a log, whose bytes are read into `keys`. It is paused while too many keys wait. */
export class LogStream implements Pick<LogReader, 'wait' | 'take'> {
  readonly #keys: LoggedKeys
  readonly #stream: { pause(): void; resume(): void }
  #failure: unknown = null
  #wake = (): void => undefined

  constructor(keys: LoggedKeys, stream: { pause(): void; resume(): void }) {
    this.#keys = keys
    this.#stream = stream
  }

  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /**
   * Calls `read`, which reads received bytes into the keys. If `read` throws, `take` returns the keys that were read before, and
   * throws the error when none is left.
   */
  receive(read: () => void): void {
    if (this.hasFailed) return
    try {
      read()
      if (this.#keys.waiting > MOST_KEYS_BEFORE_PAUSE) this.#stream.pause()
    } catch (error) {
      this.#failure = error
    }
    // The reader is woken only when it can take a segment or the failure, and not for the bytes of half an event.
    if (this.#keys.hasSegments || this.hasFailed) this.#wake()
  }

  fail(error: unknown): void {
    this.#failure ??= error
    this.#wake()
  }

  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.#keys.hasSegments || this.hasFailed) return
    const come = new AbortController()
    this.#wake = () => come.abort()
    await sleep(milliseconds, undefined, { signal: AbortSignal.any([signal, come.signal]) }).catch(() => undefined)
  }

  take(most: number): LoggedChanges {
    if (this.hasFailed && !this.#keys.hasSegments) throw this.#failure
    const taken = this.#keys.take(most)
    if (this.#keys.waiting <= MOST_KEYS_BEFORE_PAUSE) this.#stream.resume()
    return taken
  }
}
