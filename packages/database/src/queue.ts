/**
 * The channel on which new work is announced to workers (LISTEN, NOTIFY). The payload says which work: empty for an accepted
 * exchange; the id of a participant for a delivery; `m` with ids of mailboxes, separated by commas, or `m` alone for any mailbox;
 * `o` for a row in the event outbox; `s` when the source file of a registry was set or changed. A notification may be lost, so
 * nodes also poll.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export const WORK_CHANNEL = 'rollcall_work'

/** Milliseconds from the end of a lost or failed listening connection to the next attempt to connect. */
const RECONNECT_PAUSE_MS = 1_000
/** The most milliseconds to wait until the lost connection has closed. */
const MOST_CONNECTION_CLOSING_MS = 1_000

/** The first character of the payload that announces mailboxes. */
export const MAILBOXES_NOTIFY_PREFIX = 'm'
/**
 * The most mailboxes that are announced by id, because PostgreSQL refuses payloads of 8,000 bytes. When there are more, the
 * announcement names none, and all are polled.
 */
export const MOST_ANNOUNCED_MAILBOXES = 500
/** The payload with which the trigger of the event outbox announces rows to publish. */
const OUTBOX_NOTIFY_PAYLOAD = 'o'
/** The payload that announces that the source file of a registry was set or changed. */
export const SOURCES_NOTIFY_PAYLOAD = 's'

const mailboxIdsIn = (payload: string): readonly number[] =>
  payload
    .slice(MAILBOXES_NOTIFY_PREFIX.length)
    .split(',')
    .map(Number)
    .filter((id) => id > 0)

interface WorkListener {
  readonly signal: AbortSignal
  readonly onExchanges: () => void
  /** Called when a delivery may be due for a participant. @param participant `Participant.id` */
  readonly onDeliveries: (participant: number) => void
  /** Called when notifications wait in these mailboxes. @param mailboxes their ids */
  readonly onMailboxes: (mailboxes: readonly number[]) => void
  /** Called when notifications may wait in any mailbox. */
  readonly onAnyMailbox: () => void
  readonly onOutbox: () => void
  readonly onSources: () => void
}

/** Listens on a connection of its own until the signal aborts, and replaces a lost connection. Never rejects. */
export async function listenForWork(
  connection: pg.ClientConfig,
  { signal, onExchanges, onDeliveries, onMailboxes, onAnyMailbox, onOutbox, onSources }: WorkListener,
): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client(connection)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    client.on('error', () => end())
    client.on('end', () => end())
    client.on('notification', ({ payload }) => {
      if (payload === undefined || payload === '') onExchanges()
      else if (payload === OUTBOX_NOTIFY_PAYLOAD) onOutbox()
      else if (payload === SOURCES_NOTIFY_PAYLOAD) onSources()
      else if (payload === MAILBOXES_NOTIFY_PREFIX) onAnyMailbox()
      else if (payload.startsWith(MAILBOXES_NOTIFY_PREFIX)) onMailboxes(mailboxIdsIn(payload))
      else onDeliveries(Number(payload))
    })
    const stop = (): void => end()
    signal.addEventListener('abort', stop)
    try {
      await client.connect()
      await Promise.race([client.query(`listen ${WORK_CHANNEL}`), ended])
      await ended
    } catch {
      // The error is ignored, because the node also polls the queues, and reports when it cannot.
    }
    signal.removeEventListener('abort', stop)
    // An unreachable host does not answer, so the end of the connection is not awaited for long.
    await Promise.race([client.end().catch(() => undefined), sleep(MOST_CONNECTION_CLOSING_MS, undefined, { ref: false })])
    await sleep(RECONNECT_PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

/**
 * Reads, in one statement, the seconds until something is due in each queue: 0 or less for now, null for an empty queue.
 * @param queues SQL of the seconds, for each queue
 */
export async function secondsUntilDue<Queue extends string>(
  pool: Pick<pg.Pool, 'query'>,
  queues: Readonly<Record<Queue, string>>,
): Promise<Readonly<Record<Queue, number | null>>> {
  const columns = Object.entries<string>(queues).map(([queue, seconds]) => `(${seconds})::float8 as ${queue}`)
  const { rows } = await pool.query<Record<Queue, number | null>>({
    name: `due in ${Object.keys(queues).join(', ')}`,
    text: `select ${columns.join(', ')}`,
  })
  const [row] = rows
  if (row === undefined) throw new Error('a statement without a table has one row')
  return row
}

/**
 * SQL of a recursive `waiting (participant)`: the participants that have matching rows. Each is found by one step in an index
 * that begins with the participant, however many rows that participant has.
 * @param condition the condition of that index
 */
export const participantsWithRowsSql = (table: string, condition: string): string =>
  `waiting (participant) as (
    (select participant from ${table} where ${condition} order by participant limit 1)
    union all
    select following.participant from waiting cross join lateral (
      select participant from ${table}
      where ${condition} and participant > waiting.participant order by participant limit 1
    ) as following
  )`
