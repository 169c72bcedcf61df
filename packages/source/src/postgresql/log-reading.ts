/** Reads the changes of a replication slot. It acknowledges only changes that are written here. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { LoggedChanges, LogReading } from '../engine/change-log.ts'
import { positionOf, positionText } from './log-positions.ts'
import { type Relation, readMessage, type Tuple } from './pgoutput.ts'

/** The part of the mapping that a table's rows belong to. */
export interface LoggedPart {
  readonly recordType: string
  /** The column with the key of the record. */
  readonly key: string
}

/** The parts by `schema.table`. */
export type LoggedParts = ReadonlyMap<string, readonly LoggedPart[]>

/** Part of a transaction, or several transactions, with the position after them; null: the commit has not come yet. */
interface Segment {
  readonly due: Map<string, Set<string>>
  size: number
  isEmptied: boolean
  /** The numbers of its transactions, the latest ones of many. */
  readonly transactions: number[]
  end: bigint | null
}

/** Keys of one segment; with as many waiting keys, reading pauses. */
const SEGMENT = 10_000
const MOST_WAITING = 200_000
/**
 * Segments that wait one by one. Later ones are merged, so that many small transactions need memory only for their
 * keys.
 */
const MOST_SEGMENTS = 1_000
/**
 * The most transactions that are kept of merged segments. Commits become visible almost in the order of the log: when the latest
 * ones are visible, so are older ones.
 */
const MOST_TRANSACTIONS = 10_000
/** The number of the type char(n), whose values the log pads with spaces. */
const PADDED = 1042
/** Milliseconds between two messages to the server, which ends connections that are silent for a minute. */
const ALIVE = 10_000

/** Collects the changed keys from the messages of a stream. */
export class LoggedRows {
  readonly #parts: LoggedParts
  readonly #relations = new Map<number, Relation>()
  readonly #segments: Segment[] = []
  #waiting = 0
  #open: Segment | null = null
  /** The transaction that has begun. */
  #transaction: number | null = null
  /** The position after the last commit that was taken, or a later one before which nothing is missing. */
  #position: bigint

  constructor(parts: LoggedParts, position: bigint) {
    this.#parts = parts
    this.#position = position
  }

  get waiting(): number {
    return this.#waiting
  }

  get hasSegments(): boolean {
    return this.#segments.length > 0
  }

  message(bytes: Buffer): void {
    const message = readMessage(bytes)
    switch (message.is) {
      case 'begin':
        this.#transaction = message.transaction
        this.#open = emptySegment(this.#transaction)
        return
      case 'commit': {
        const segment = this.#open ?? emptySegment()
        this.#open = null
        this.#push({ ...segment, end: message.end })
        return
      }
      case 'relation':
        this.#relations.set(message.id, message.relation)
        return
      case 'truncate':
        if (this.#open && message.relations.some((id) => this.#partsOf(id).length > 0)) this.#open.isEmptied = true
        return
      case 'change':
        this.#change(message.relation, [message.before, message.after])
        return
      default:
    }
  }

  /** Notes that nothing before the position is missing, unless a transaction is open. */
  alive(position: bigint): void {
    if (this.#open !== null) return
    this.#push({ ...emptySegment(), end: position })
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
      addAll(due, segment.due)
      if (segment.size > 0 || segment.isEmptied) transactions.push(...segment.transactions)
      if (segment.end !== null && segment.end > this.#position) this.#position = segment.end
    }
    return { due, isEmptied, transactions, position: positionText(this.#position) }
  }

  #push(segment: Segment): void {
    const last = this.#segments.at(-1)
    const isApart = segment.size > 0 && this.#segments.length < MOST_SEGMENTS
    if (isApart || !last?.end || !segment.end || last.size + segment.size > SEGMENT) {
      this.#segments.push(segment)
      this.#waiting += segment.size
      return
    }
    const fresh = addAll(last.due, segment.due)
    last.size += fresh
    if (segment.size > 0 || segment.isEmptied) {
      last.transactions.push(...segment.transactions)
      if (last.transactions.length > 2 * MOST_TRANSACTIONS) last.transactions.splice(0, MOST_TRANSACTIONS)
    }
    this.#waiting += fresh
    last.isEmptied ||= segment.isEmptied
    if (segment.end > last.end) last.end = segment.end
  }

  #change(relation: number, tuples: readonly (Tuple | null)[]): void {
    const { columns = [] } = this.#relations.get(relation) ?? {}
    for (const { recordType, key } of this.#partsOf(relation)) {
      const at = columns.findIndex(({ name }) => name === key)
      if (at < 0) {
        // The key column has another name now, so it is unknown which records have changed.
        this.#open ??= emptySegment()
        this.#open.isEmptied = true
        continue
      }
      for (const tuple of tuples) {
        const value = tuple?.[at]?.toString('utf8')
        if (value !== undefined) this.#add(recordType, columns[at]?.type === PADDED ? value.replace(/ +$/, '') : value)
      }
    }
  }

  #add(recordType: string, key: string): void {
    this.#open ??= emptySegment()
    const keys = this.#open.due.get(recordType) ?? new Set()
    this.#open.due.set(recordType, keys)
    if (keys.has(key)) return
    keys.add(key)
    this.#open.size += 1
    if (this.#open.size < SEGMENT) return
    this.#push(this.#open)
    this.#open = emptySegment(this.#transaction)
  }

  #partsOf(id: number): readonly LoggedPart[] {
    const relation = this.#relations.get(id)
    return relation === undefined ? [] : (this.#parts.get(`${relation.schema}.${relation.table}`) ?? [])
  }
}

/** Adds keys to a map, and may reuse the given sets. @returns the number of new keys */
function addAll(to: Map<string, Set<string>>, from: ReadonlyMap<string, Set<string>>): number {
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

const emptySegment = (transaction: number | null = null): Segment => ({
  due: new Map(),
  size: 0,
  isEmptied: false,
  transactions: transaction === null ? [] : [transaction],
  end: null,
})

/** The parts of pg's connection that replication needs. */
interface Stream extends NodeJS.EventEmitter {
  sendCopyFromChunk(chunk: Buffer): void
  readonly stream: { pause(): void; resume(): void }
}

/**
 * @param client a replication connection, which is closed at the end
 * @param parts tables whose changes are collected
 */
export async function readLog(
  client: pg.Client,
  {
    slot,
    publication,
    position,
    parts,
  }: { readonly slot: string; readonly publication: string; readonly position: string; readonly parts: LoggedParts },
): Promise<LogReading> {
  const connection = (client as unknown as { readonly connection: Stream }).connection
  const rows = new LoggedRows(parts, positionOf(position))
  let acknowledged = positionOf(position)
  let failure: unknown = null
  let wake = (): void => undefined
  const say = (): void => connection.sendCopyFromChunk(statusOf(acknowledged))
  connection.on('copyData', ({ chunk }: { readonly chunk: Buffer }) => {
    try {
      const kind = String.fromCharCode(chunk.readUInt8(0))
      if (kind === 'w') rows.message(chunk.subarray(1 + 8 + 8 + 8))
      if (kind === 'k') {
        rows.alive(chunk.readBigUInt64BE(1))
        if (chunk.readUInt8(1 + 8 + 8) === 1) say()
      }
      if (rows.waiting > MOST_WAITING) connection.stream.pause()
    } catch (error) {
      failure ??= error
    }
    wake()
  })
  const started = new Promise<void>((resolve) => connection.once('replicationStart', () => resolve()))
  const statement = `START_REPLICATION SLOT ${pg.escapeIdentifier(slot)} LOGICAL ${position}
    (proto_version '1', publication_names ${pg.escapeLiteral(pg.escapeIdentifier(publication))})`
  const ended = client.query(statement).then(
    () => new Error('the database has ended the replication'),
    (error: unknown) => error,
  )
  ended.then((error) => {
    failure ??= error
    wake()
  })
  const early = await Promise.race([started, ended])
  if (early !== undefined) throw early
  const timer = setInterval(say, ALIVE)
  timer.unref()
  return {
    async wait(milliseconds, signal) {
      if (rows.hasSegments || failure !== null) return
      const come = new AbortController()
      wake = () => come.abort()
      await sleep(milliseconds, undefined, { signal: AbortSignal.any([signal, come.signal]) }).catch(() => undefined)
    },
    take(most) {
      if (failure !== null && !rows.hasSegments) throw failure
      const taken = rows.take(most)
      if (rows.waiting <= MOST_WAITING) connection.stream.resume()
      return taken
    },
    acknowledge(to) {
      acknowledged = positionOf(to)
      if (failure === null) say()
    },
    async close() {
      clearInterval(timer)
      failure ??= new Error('the reading was closed')
      await client.end().catch(() => undefined)
    },
  }
}

/**
 * The message that everything before the position was received and written. Its clock is only for display, and left
 * out.
 */
function statusOf(position: bigint): Buffer {
  const status = Buffer.alloc(1 + 8 + 8 + 8 + 8 + 1)
  status.write('r')
  for (const at of [1, 9, 17]) status.writeBigUInt64BE(position, at)
  return status
}
