/** The binlog of a MariaDB. The server keeps nothing for us, and we keep our place. */

import { randomInt } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { Connection, PoolOptions, RowDataPacket } from 'mysql2/promise'
import { type ChangeLog, LogLost, type LogReader } from '../engine/change-log.ts'
import { CONNECT_TIMEOUT_MS, type RunInSnapshot } from '../engine/connections.ts'
import { keyColumnsByLoggedTable, LoggedKeys, LogStream } from '../engine/logged-keys.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { BinlogKeyCollector } from './binlog-events.ts'
import { PacketReader } from './binlog-packets.ts'
import { type BinlogPlace, continuesLog, parseBinlogPlace, placeOrderNumber, placeText, sortedGtids } from './binlog-places.ts'
import { binlogProblems } from './binlog-problems.ts'
import type { MariadbSnapshot, ResultColumn } from './connections.ts'

/** Milliseconds for statements that read a file of the log. */
const LOG_STATEMENT_LIMIT_MS = 60_000
/** Seconds after which a server that has no new events sends a heartbeat. */
const HEARTBEAT_SECONDS = 10
/** Milliseconds without any message after which the server counts as lost. */
const MOST_SERVER_SILENCE_MS = 30_000
/** Seconds for which the server keeps the connection while we read nothing, because we still write earlier changes. */
const WRITE_TIMEOUT_SECONDS = 3_600
/** The error of a server that cannot read its log from our place on. */
const UNREADABLE_LOG_ERROR = 1236
const BINLOG_DUMP_COMMAND = 0x12

/** The dependencies of `openBinlog`. */
export interface BinlogDeps {
  readonly file: SourceFile
  readonly connection: PoolOptions
  readonly inSnapshot: RunInSnapshot<ResultColumn>
}

export function openBinlog({ file, connection: options, inSnapshot }: BinlogDeps): ChangeLog {
  const seen = () => inSnapshot(placeSeenBySnapshot)
  return {
    problems: () => inSnapshot((state) => binlogProblems(state, file)),
    async begin() {
      const found = await seen()
      const connection = await openLogConnection(options)
      try {
        return placeText({ ...found, made: null, gtids: (await findGtidsAt(connection, found)) ?? '' })
      } finally {
        connection.destroy()
      }
    },
    state: (position) =>
      inSnapshot(async (state) => {
        const found = await placeSeenBySnapshot(state)
        const { rows } = await state.run({ text: 'select @@global.gtid_binlog_pos', values: [] })
        // After RESET MASTER, the server would send nothing until its new log is as long as the former one.
        const isKept = continuesLog(rows[0]?.[0] ?? '', parseBinlogPlace(position).gtids)
        return { isKept, isLost: false, end: placeText({ ...found, made: null, gtids: '' }), size: 0 }
      }),
    async read(position) {
      const place = parseBinlogPlace(position)
      const connection = await openLogConnection(options)
      try {
        const gtids = await findGtidsAt(connection, place)
        if (gtids === null || sortedGtids(gtids).join() !== sortedGtids(place.gtids).join())
          throw new LogLost('the log is another one, or was purged')
        return await readBinlog(connection, file, place)
      } catch (error) {
        connection.destroy()
        throw error
      }
    },
    async isVisible(transactions) {
      const now = placeOrderNumber(await seen())
      return transactions.every((one) => one <= now)
    },
    drop: async () => undefined,
    isBefore: (one, other) => placeOrderNumber(parseBinlogPlace(one)) < placeOrderNumber(parseBinlogPlace(other)),
  }
}

/** The place after the last transaction that a snapshot sees. The log may go on: a commit is in the log before others see it. */
async function placeSeenBySnapshot(state: MariadbSnapshot): Promise<Pick<BinlogPlace, 'file' | 'position'>> {
  const { rows } = await state.run({ text: `show status like 'binlog_snapshot_%'`, values: [] })
  const found = new Map(rows.map(([name, value]) => [name?.toLowerCase(), value ?? '']))
  return { file: found.get('binlog_snapshot_file') ?? '', position: Number(found.get('binlog_snapshot_position')) }
}

async function openLogConnection(options: PoolOptions): Promise<Connection> {
  const { createConnection } = await import('mysql2/promise')
  const { rowsAsArray: _, connectionLimit: __, maxPreparedStatements: ___, ...own } = options
  return createConnection({ ...own, connectTimeout: CONNECT_TIMEOUT_MS })
}

/** The last GTIDs before a place; null: the log has no such place. */
async function findGtidsAt(connection: Connection, { file, position }: Pick<BinlogPlace, 'file' | 'position'>) {
  const [rows] = await connection.query<(RowDataPacket & { readonly gtids: string | null })[]>(
    { sql: 'select binlog_gtid_pos(?, ?) as gtids', timeout: LOG_STATEMENT_LIMIT_MS },
    [file, position],
  )
  return rows[0]?.gtids ?? null
}

/** The object inside a driver's connection. We read its stream, because the driver would hold each packet whole in memory. */
interface InnerDriverConnection {
  readonly stream: Duplex & { setTimeout(milliseconds: number, then: () => void): void }
  on(event: 'error', then: (error: unknown) => void): void
}

async function readBinlog(connection: Connection, file: SourceFile, place: BinlogPlace): Promise<LogReader> {
  const [[database]] = await connection.query<(RowDataPacket & { readonly name: string | null })[]>('select database() as name')
  const [charsets] = await connection.query<(RowDataPacket & { readonly id: number; readonly name: string })[]>(
    'select id, character_set_name as name from information_schema.collation_character_set_applicability',
  )
  await connection.query(
    `set session net_write_timeout = ${WRITE_TIMEOUT_SECONDS}, @master_binlog_checksum = 'NONE', @mariadb_slave_capability = 4,
      @master_heartbeat_period = ${HEARTBEAT_SECONDS}000000000`,
  )
  const keys = new LoggedKeys(placeText(place))
  const core = (connection as unknown as { readonly connection: InnerDriverConnection }).connection
  const { stream } = core
  const log = new LogStream(keys, stream)
  const events = new BinlogKeyCollector({
    place,
    parts: keyColumnsByLoggedTable(file, database?.name ?? ''),
    charsets: new Map(charsets.map(({ id, name }) => [Number(id), name])),
    keys,
  })
  const packets = new PacketReader((bytes) => events.add(bytes))
  core.on('error', (error) => log.fail(error))
  stream.removeAllListeners('data')
  stream.on('data', (chunk: Buffer) => log.receive(() => readChunk(packets, chunk)))
  stream.setTimeout(MOST_SERVER_SILENCE_MS, () => {
    if (stream.isPaused()) return
    log.fail(Object.assign(new Error('the server is silent'), { code: 'ETIMEDOUT' }))
    stream.destroy()
  })
  stream.write(makeDumpRequest(place))
  return {
    wait: (milliseconds, signal) => log.wait(milliseconds, signal),
    take: (most) => log.take(most),
    // The server keeps its log as long as its own settings say.
    acknowledge: () => undefined,
    async close() {
      log.fail(new Error('the reading was closed'))
      stream.destroy()
    },
  }
}

/** Reads a chunk of the log. @throws LogLost it cannot be read; or another error of the server */
function readChunk(packets: PacketReader, chunk: Buffer): void {
  try {
    packets.add(chunk)
  } catch (error) {
    const isUnreadable = error instanceof RangeError || (error as { readonly errno?: number }).errno === UNREADABLE_LOG_ERROR
    throw isUnreadable ? new LogLost('the log cannot be read', { cause: error }) : error
  }
}

/** Makes the request for events. The server_id is random: a server ends an older reader with the same id. */
function makeDumpRequest({ file, position }: BinlogPlace): Buffer {
  const name = Buffer.from(file)
  const request = Buffer.alloc(4 + 11 + name.length)
  request.writeUIntLE(11 + name.length, 0, 3)
  request.writeUInt8(BINLOG_DUMP_COMMAND, 4)
  request.writeUInt32LE(position, 5)
  request.writeUInt32LE(randomInt(2 ** 31, 2 ** 32), 11)
  name.copy(request, 15)
  return request
}
