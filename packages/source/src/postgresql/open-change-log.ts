/** Opens the log of a PostgreSQL: a publication that its administrator has made, and a replication slot that we make. */

import { hash } from 'node:crypto'
import pg from 'pg'
import type { ChangeLog } from '../engine/change-log.ts'
import type { RunInSnapshot } from '../engine/connections.ts'
import { keyColumnsByLoggedTable } from '../engine/logged-keys.ts'
import type { SourceFile } from '../engine/mapped-records.ts'
import { haveTransactionsEnded, parseLogPosition } from './log-positions.ts'
import { logProblems } from './log-problems.ts'
import { readLog } from './log-reading.ts'

/** Milliseconds to wait until the connection of another reader of the slot has ended. */
const READER_END_MILLISECONDS = 1_000

/** The dependencies of `openChangeLog`. */
export interface ChangeLogDeps {
  readonly file: SourceFile
  readonly connection: pg.ClientConfig
  readonly inSnapshot: RunInSnapshot<number>
}

/** Opens the log. @param name the text after `rollcall_` in the slot's name: that of `logPlaceName` */
export function openChangeLog({ file, connection, inSnapshot }: ChangeLogDeps, name: string): ChangeLog {
  const slot = slotName(name)
  const publication = file.mirror?.publication ?? ''
  return {
    problems: () => inSnapshot((state) => logProblems(state, file, publication)),
    begin: (signal) =>
      withReplicationClient(connection, async (client) => {
        signal.addEventListener('abort', () => void client.end().catch(() => undefined), { once: true })
        await dropSlot(client, slot)
        await dropLeftSlots(client, slot)
        signal.throwIfAborted()
        // PostgreSQL waits here for the transactions that are open and write.
        const { rows } = await client.query<{ consistent_point: string }>(
          `CREATE_REPLICATION_SLOT ${pg.escapeIdentifier(slot)} LOGICAL pgoutput (SNAPSHOT 'nothing')`,
        )
        return rows[0]?.consistent_point ?? ''
      }),
    state: (position) =>
      inSnapshot(async (state) => {
        const { rows } = await state.run({
          text: `select pg_current_wal_flush_lsn()::text, slot.confirmed_flush_lsn::text, slot.wal_status,
              pg_wal_lsn_diff(pg_current_wal_flush_lsn(), slot.restart_lsn)::text
            from (values (1)) as one left join pg_replication_slots as slot
              on slot.slot_name = $1 and slot.plugin = 'pgoutput' and slot.database = current_database()`,
          values: [slot],
        })
        const [end, confirmed, status, size] = rows[0] ?? []
        const at = parseLogPosition(position)
        const isLost = status === 'lost'
        return {
          // When the log ends before our position, the source was set back to an older state.
          isKept: confirmed != null && !isLost && parseLogPosition(confirmed) <= at && at <= parseLogPosition(end ?? '0/0'),
          isLost,
          end: end ?? '0/0',
          size: Number(size ?? 0),
        }
      }),
    async read(position) {
      const client = await connectForReplication(connection)
      try {
        await endSlotReader(client, slot)
        return await readLog(client, { slot, publication, position, parts: keyColumnsByLoggedTable(file, 'public') })
      } catch (error) {
        await client.end().catch(() => undefined)
        throw error
      }
    },
    isVisible: (transactions) =>
      inSnapshot(async (state) => {
        const { rows } = await state.run({ text: 'select pg_current_snapshot()::text', values: [] }, { isLast: true })
        return haveTransactionsEnded(rows[0]?.[0] ?? '', transactions)
      }),
    drop: () => withReplicationClient(connection, (client) => dropSlot(client, slot)),
    isBefore: (one, other) => parseLogPosition(one) < parseLogPosition(other),
  }
}

/** Connects for replication, does the work, and closes the connection, even after an error. */
async function withReplicationClient<Result>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connectForReplication(connection)
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function connectForReplication(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, replication: 'database' } as pg.ClientConfig)
  // A lost connection is reported by the statement or the reader that uses it, so the error is ignored here.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** The name of a slot: at most 63 characters, and different for different long names. */
export function slotName(name: string): string {
  const slot = `rollcall_${name.toLowerCase().replace(/[^a-z0-9_]/g, '_')}`
  return slot.length <= 63 ? slot : `${slot.slice(0, 54)}_${hash('sha256', name, 'hex').slice(0, 8)}`
}

/**
 * Ends another connection that still reads the slot, such as that of a node that has lost its claim. When the host of such a node
 * has failed, the database would otherwise keep that connection, and refuse ours, until `wal_sender_timeout`.
 * @returns a row if the slot exists
 */
const endSlotReader = (client: pg.Client, slot: string): Promise<pg.QueryResult> =>
  client.query(
    `select pg_terminate_backend(active_pid, ${READER_END_MILLISECONDS}) from pg_replication_slots where slot_name = ${pg.escapeLiteral(slot)}`,
  )

/** Drops the replication slot if it exists, after ending a connection that still reads it. */
async function dropSlot(client: pg.Client, slot: string): Promise<void> {
  const { rows } = await endSlotReader(client, slot)
  if (rows.length > 0) await client.query(`DROP_REPLICATION_SLOT ${pg.escapeIdentifier(slot)} WAIT`)
}

/**
 * Drops slots of this registry that other databases have made (`logPlaceName`) and nobody reads, such as that of our database
 * before it was restored: they would fill the disk of the source. One that is read belongs to another server, and stays. A server
 * whose slot is dropped while it rests compares all records.
 */
async function dropLeftSlots(client: pg.Client, slot: string): Promise<void> {
  const names = `^${slot.replace(/_[0-9a-f]{8}$/, '')}(_[0-9a-f]{8})?$`
  await client.query(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots
     where database = current_database() and plugin = 'pgoutput' and not active and slot_name ~ ${pg.escapeLiteral(names)}`,
  )
}
