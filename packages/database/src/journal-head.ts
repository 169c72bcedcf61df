/**
 * The head of the journal, its last line, stored in the database. Its row is locked while a line is written, so only
 * one process of all nodes writes at a time.
 */
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { withTransaction } from './transaction.ts'

/** The last line of the journal: its number and digest; 0 and zeros when there is no line. */
export interface JournalHead {
  readonly sequence: number
  /** The SHA-256 digest of the last line's text. */
  readonly digest: Buffer
}

/**
 * The head, with the number of the line that a process began to write (`begun`). If `begun` is greater than `sequence`, the file
 * may have that line already.
 */
export interface StoredHead extends JournalHead {
  readonly begun: number
  /** The timeline of PostgreSQL when the line `begun` was begun; null when unknown. */
  readonly timeline: string | null
}

/** The names by which lines of the journal identify their database. */
export interface DatabaseAndCopyIds {
  /** A UUID that all copies of the database share. */
  readonly database: string
  /** A UUID of this copy: each restore makes a new one; null when it was never restored. */
  readonly incarnation: string | null
}

/** The last line of the journal that the database knows, and the lines that are still open. */
export interface JournalPosition extends JournalHead {
  /** The UUID of the database; null when it has none yet. */
  readonly database: string | null
  /** The numbers of the lines up to `sequence` that count as open: their acts are not known to be committed. */
  readonly open: readonly number[]
}

const EMPTY_JOURNAL_HEAD: StoredHead = { sequence: 0, digest: Buffer.alloc(32), begun: 0, timeline: null }

interface PoolDeps {
  readonly pool: Pool
}

/** Reads the last line of the journal that the database knows, and the line that was begun. */
export async function readJournalHead(client: Pick<PoolClient, 'query'>): Promise<StoredHead> {
  const { rows } = await client.query<StoredHead>('select sequence, digest, begun, timeline from journal_head')
  return rows[0] ?? EMPTY_JOURNAL_HEAD
}

/**
 * SQL condition on a row of open lines: the line still counts as open. A crash leaves a line open, and its act may have been
 * committed. After a day the line no longer counts as open: somebody may have changed the same data again, and repeating the act
 * would undo that change.
 * @param at SQL of the time at which the line must be less than a day old; the current time where it is null
 */
const isOpenLineSql = (at: string): string => `opened_at > coalesce(${at}::timestamptz, now()) - interval '1 day'`

/**
 * Reads the last line of the journal that the database knows, and the open lines up to that line.
 * @param at for a recovered database, the time of its newest data: the age of open lines is measured at this time. Null: now,
 * because the database is in use
 */
export async function readJournalPosition(client: Pick<PoolClient, 'query'>, at: Date | null = null): Promise<JournalPosition> {
  // The tables may be of an earlier version: a backup is made before an upgrade.
  const { rows: heads } = await client.query<JournalHead>('select sequence, digest from journal_head')
  const { sequence, digest } = heads[0] ?? EMPTY_JOURNAL_HEAD
  if (!(await hasOpenLineTable(client))) return { sequence, digest, database: null, open: [] }
  const { rows: open } = await client.query<{ sequence: number }>(
    `select sequence from journal_open_line where ${isOpenLineSql('$2')} and sequence <= $1 order by sequence`,
    [sequence, at],
  )
  const { rows: ids } = await client.query<{ id: string }>('select id from journal_database')
  return { sequence, digest, database: ids[0]?.id ?? null, open: open.map((line) => line.sequence) }
}

/** True when the database has the table of open lines; false before an upgrade from an earlier version. */
export async function hasOpenLineTable(client: Pick<PoolClient, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(`select to_regclass('journal_open_line') is not null as found`)
  return rows[0]?.found === true
}

export async function ensureDatabaseUuid(client: Pick<PoolClient, 'query'>): Promise<void> {
  await client.query('insert into journal_database default values on conflict do nothing')
}

/** Reads how lines of the journal identify this database. The first call gives the database its UUID. */
export async function readDatabaseAndCopyIds(client: Pick<PoolClient, 'query'>): Promise<DatabaseAndCopyIds> {
  await ensureDatabaseUuid(client)
  const { rows } = await client.query<DatabaseAndCopyIds>('select id as database, incarnation from journal_database')
  const [row] = rows
  if (row === undefined) throw new Error('the database has no id')
  return row
}

/**
 * The timeline of PostgreSQL: it changes when the database is restored to an earlier time, and after a failover.
 * @returns null when this PostgreSQL does not report it
 */
export async function currentTimeline(client: Pick<PoolClient, 'query'>): Promise<string | null> {
  return client
    .query<{ timeline: string }>('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline')
    .then(({ rows }) => rows[0]?.timeline ?? null, nullIfDatabaseError)
}

/** Returns null for an error that PostgreSQL reported. Throws any other error, such as a lost connection. */
function nullIfDatabaseError(error: unknown): null {
  if (error instanceof DatabaseError) return null
  throw error
}

/**
 * True when a line of the last day was left open on another timeline: a recovery may have lost the line's act.
 * @param at the end of that day; null: the current time
 */
export async function mayHaveLostAct(client: Pick<PoolClient, 'query'>, timeline: string, at: Date | null): Promise<boolean> {
  const { rows } = await client.query<{ lost: boolean }>(
    `select exists (select from journal_open_line where ${isOpenLineSql('$2')} and timeline <> $1) as lost`,
    [timeline, at],
  )
  return rows[0]?.lost === true
}

/** Closes a line of the journal, because its act is committed. */
export async function closeJournalLine({ pool }: PoolDeps, sequence: number): Promise<void> {
  await pool.query('delete from journal_open_line where sequence = $1', [sequence])
}

/**
 * Runs work that writes a line, while no other process writes. Stores the head that the work returns; its line is open
 * until `closeJournalLine`.
 * @returns the number of the line
 * @throws what the work throws; the head stays unchanged
 */
export async function moveJournalHead({ pool }: PoolDeps, work: (head: JournalHead) => Promise<JournalHead>): Promise<number> {
  const timeline = await currentTimeline(pool)
  for (;;) {
    await pool.query(
      `insert into journal_head as head (sequence, digest, begun, timeline) values ($1, $2, 1, $3)
        on conflict (one) do update set begun = greatest(head.begun, head.sequence + 1), timeline = $3`,
      [EMPTY_JOURNAL_HEAD.sequence, EMPTY_JOURNAL_HEAD.digest, timeline],
    )
    const moved = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<StoredHead>('select sequence, digest, begun, timeline from journal_head for update')
      const [head] = rows
      // If another process has written the line `begun` meanwhile, returns null: the loop tries again with the next line.
      if (head === undefined || head.begun <= head.sequence) return null
      const next = await work(head)
      await storeHead(client, next)
      await client.query(`delete from journal_open_line where not (${isOpenLineSql('null')})`)
      await client.query('insert into journal_open_line (sequence, timeline) values ($1, $2)', [next.sequence, timeline])
      return next.sequence
    })
    if (moved !== null) return moved
  }
}

/**
 * After a restore, closes all lines: their acts were done, or the journal was given up. The database gets a new incarnation,
 * because the database from which it was restored may still run and write to its own journal file.
 * @param head the line after which the journal continues; null: after the last line that the database knows
 */
export async function continueJournalAfterRestore(client: Pick<PoolClient, 'query'>, head: JournalHead | null): Promise<void> {
  if (head !== null) await storeHead(client, head)
  await client.query('delete from journal_open_line')
  await ensureDatabaseUuid(client)
  await client.query('update journal_database set incarnation = gen_random_uuid()')
}

/** Stores the number and the digest of the journal's last line. */
async function storeHead(client: Pick<PoolClient, 'query'>, { sequence, digest }: JournalHead): Promise<void> {
  await client.query(
    `insert into journal_head (sequence, digest) values ($1, $2)
      on conflict (one) do update set sequence = $1, digest = $2, written_at = now()`,
    [sequence, digest],
  )
}
