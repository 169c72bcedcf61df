/** Reads the changes of a replication slot. Only changes that are stored in our database are acknowledged to the source. */

import pg from 'pg'
import { LogLost, type LogReader } from '../engine/change-log.ts'
import { type KeyColumnsByTable, type LoggedKeyColumn, LoggedKeys, LogStream } from '../engine/logged-keys.ts'
import { parseLogPosition, positionText } from './log-positions.ts'
import { type LoggedRelation, type LogMessage, type RowValues, readMessage } from './pgoutput.ts'

/** The number and the name of the type char(n), whose values the log pads with spaces. */
const PADDED_TYPE_OID = 1042
const PADDED_TYPE_NAME = 'bpchar'
/** Milliseconds between two messages to the server, which by default ends connections that are silent for a minute. */
const KEEP_ALIVE_MILLISECONDS = 10_000

/** Collects the changed keys from the messages of a stream. */
export class ChangedKeyCollector {
  readonly keys: LoggedKeys
  readonly #parts: KeyColumnsByTable
  readonly #relations = new Map<number, LoggedRelation>()
  /** The numbers of char(n), and of domains over it. */
  readonly #paddedTypes = new Set([PADDED_TYPE_OID])
  /** The latest position before which all changes have been collected. */
  #end: bigint

  constructor(parts: KeyColumnsByTable, position: bigint) {
    this.#parts = parts
    this.#end = position
    this.keys = new LoggedKeys(positionText(position))
  }

  message(bytes: Buffer): void {
    const message = readLogMessage(bytes)
    switch (message.is) {
      case 'begin':
        this.keys.begin(message.transaction)
        return
      case 'commit':
        this.#commit(message.end)
        return
      case 'type':
        if (message.schema === '' && message.name === PADDED_TYPE_NAME) this.#paddedTypes.add(message.id)
        return
      case 'relation':
        this.#describe(message.id, message.relation)
        return
      case 'truncate':
        if (message.relations.some((id) => this.#partsOf(id).length > 0)) this.keys.addUnknown()
        return
      case 'change':
        this.#change(message.relation, [message.before, message.after])
        return
      default:
    }
  }

  /** Moves our position on to this one, before which the server has sent all changes. While a transaction is open, it stays. */
  alive(position: bigint): void {
    if (!this.keys.hasOpen) this.#commit(position)
  }

  /**
   * Notes a table's description. When columns were altered, or another table got this name, values may have changed without a
   * change of a row in the log.
   */
  #describe(id: number, relation: LoggedRelation): void {
    const { schema, table } = relation
    const known =
      this.#relations.get(id) ?? [...this.#relations.values()].find((one) => one.schema === schema && one.table === table)
    const isSame = this.#relations.has(id) && JSON.stringify(known) === JSON.stringify(relation)
    this.#relations.set(id, relation)
    if (known !== undefined && !isSame && this.#partsOf(id).length > 0) this.keys.addUnknown()
  }

  #commit(end: bigint): void {
    if (end > this.#end) this.#end = end
    this.keys.commit(positionText(this.#end))
  }

  #change(relation: number, tuples: readonly (RowValues | null)[]): void {
    const { columns = [] } = this.#relations.get(relation) ?? {}
    for (const { recordType, key } of this.#partsOf(relation)) {
      const at = columns.findIndex(({ name }) => name === key)
      if (at < 0) {
        // The table has no column of this name any more, so it is unknown which records have changed.
        this.keys.addUnknown()
        continue
      }
      for (const tuple of tuples) {
        const value = tuple?.[at]?.toString('utf8')
        if (value === undefined) continue
        this.keys.add(recordType, this.#paddedTypes.has(columns[at]?.type ?? 0) ? value.replace(/ +$/, '') : value)
      }
    }
  }

  #partsOf(id: number): readonly LoggedKeyColumn[] {
    const relation = this.#relations.get(id)
    return relation === undefined ? [] : (this.#parts.get(`${relation.schema}.${relation.table}`) ?? [])
  }
}

/** Reads a message of the log. @throws LogLost the message cannot be understood, so it is unknown what has changed */
function readLogMessage(bytes: Buffer): LogMessage {
  try {
    return readMessage(bytes)
  } catch (error) {
    throw error instanceof RangeError ? new LogLost('a message of the log cannot be read', { cause: error }) : error
  }
}

/** The parts of pg's connection that replication needs. */
interface ReplicationConnection extends NodeJS.EventEmitter {
  sendCopyFromChunk(chunk: Buffer): void
  readonly stream: { pause(): void; resume(): void }
}

/**
 * Begins to read the changes after a position.
 * @param client a replication connection, which is closed with the reading
 * @param parts tables whose changes are collected
 */
export async function readLog(
  client: pg.Client,
  {
    slot,
    publication,
    position,
    parts,
  }: { readonly slot: string; readonly publication: string; readonly position: string; readonly parts: KeyColumnsByTable },
): Promise<LogReader> {
  const connection = (client as unknown as { readonly connection: ReplicationConnection }).connection
  const rows = new ChangedKeyCollector(parts, parseLogPosition(position))
  const log = new LogStream(rows.keys, connection.stream)
  let acknowledged = parseLogPosition(position)
  const say = (): void => connection.sendCopyFromChunk(standbyStatusMessage(acknowledged))
  connection.on('copyData', ({ chunk }: { readonly chunk: Buffer }) =>
    log.receive(() => {
      const kind = String.fromCharCode(chunk.readUInt8(0))
      if (kind === 'w') rows.message(chunk.subarray(1 + 8 + 8 + 8))
      if (kind === 'k') {
        rows.alive(chunk.readBigUInt64BE(1))
        if (chunk.readUInt8(1 + 8 + 8) === 1) say()
      }
    }),
  )
  const started = new Promise<void>((resolve) => connection.once('replicationStart', () => resolve()))
  const statement = `START_REPLICATION SLOT ${pg.escapeIdentifier(slot)} LOGICAL ${position}
    (proto_version '1', publication_names ${pg.escapeLiteral(pg.escapeIdentifier(publication))})`
  const ended = client.query(statement).then(
    () => new Error('the database has ended the replication'),
    (error: unknown) => error,
  )
  ended.then((error) => log.fail(error))
  const early = await Promise.race([started, ended])
  if (early !== undefined) throw early
  const timer = setInterval(say, KEEP_ALIVE_MILLISECONDS)
  timer.unref()
  return {
    wait: (milliseconds, signal) => log.wait(milliseconds, signal),
    take: (most) => log.take(most),
    acknowledge(to) {
      acknowledged = parseLogPosition(to)
      if (!log.hasFailed) say()
    },
    async close() {
      clearInterval(timer)
      log.fail(new Error('the reading was closed'))
      await client.end().catch(() => undefined)
    },
  }
}

/** The message that everything before the position was received and written. Its clock is only for display, and left out. */
function standbyStatusMessage(position: bigint): Buffer {
  const status = Buffer.alloc(1 + 8 + 8 + 8 + 8 + 1)
  status.write('r')
  for (const at of [1, 9, 17]) status.writeBigUInt64BE(position, at)
  return status
}
