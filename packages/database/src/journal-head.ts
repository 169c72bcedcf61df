/** The end of the journal, in the database: its row lets one process of all nodes write at a time. */
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { withTransaction } from './transaction.ts'

/** The last line; 0 and zeros: there is none. */
export interface JournalHead {
  readonly sequence: number
  /** SHA-256 of its text. */
  readonly digest: Buffer
}

/** The head, with the line that a process began to write: the file may have that line without our knowledge. */
export interface StoredHead extends JournalHead {
  readonly begun: number
  /** PostgreSQL's timeline when that line was begun; null when unknown. */
  readonly timeline: string | null
}

/** How lines of the journal name their database. */
export interface JournalOwner {
  /** UUID that all copies of the database share. */
  readonly database: string
  /** UUID of this copy, which each restore makes anew; null when it was never restored. */
  readonly incarnation: string | null
}

/** The journal as one database knows it. */
export interface JournalPosition extends JournalHead {
  /** UUID by which lines name their database; null: it has none, and lines are written without one. */
  readonly database: string | null
  /** Lines up to `sequence` whose acts were not committed. */
  readonly open: readonly number[]
}

const NO_LINE: StoredHead = { sequence: 0, digest: Buffer.alloc(32), begun: 0, timeline: null }

interface HasPool {
  readonly pool: Pool
}

export async function readJournalHead(client: Pick<PoolClient, 'query'>): Promise<StoredHead> {
  const { rows } = await client.query<StoredHead>('select sequence, digest, begun, timeline from journal_head')
  return rows[0] ?? NO_LINE
}

/**
 * SQL: lines that a crash left open stay open for a day, because their acts may have been committed. Later, somebody
 * may have changed the same again, and repeating the act would undo that.
 */
const OPEN = `opened_at > now() - interval '1 day'`

export async function readJournalPosition(client: Pick<PoolClient, 'query'>): Promise<JournalPosition> {
  // Tables of any version: a backup is made before they are upgraded.
  const { rows: heads } = await client.query<JournalHead>('select sequence, digest from journal_head')
  const { sequence, digest } = heads[0] ?? NO_LINE
  if (!(await hasOpenLines(client))) return { sequence, digest, database: null, open: [] }
  const { rows: open } = await client.query<{ sequence: number }>(
    `select sequence from journal_open_line where ${OPEN} and sequence <= $1 order by sequence`,
    [sequence],
  )
  const { rows: ids } = await client.query<{ id: string }>('select id from journal_database')
  return { sequence, digest, database: ids[0]?.id ?? null, open: open.map((line) => line.sequence) }
}

/** False for tables of an earlier version, which are backed up before an upgrade. */
export async function hasOpenLines(client: Pick<PoolClient, 'query'>): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `select to_regclass('journal_open_line') is not null as found`,
  )
  return rows[0]?.found === true
}

/** Makes the id by which lines name this database, if it has none. */
export async function nameDatabase(client: Pick<PoolClient, 'query'>): Promise<void> {
  await client.query('insert into journal_database default values on conflict do nothing')
}

/** How the lines of this database name it; the first call gives the database its id. */
export async function journalOwner(client: Pick<PoolClient, 'query'>): Promise<JournalOwner> {
  await nameDatabase(client)
  const { rows } = await client.query<JournalOwner>('select id as database, incarnation from journal_database')
  const [row] = rows
  if (row === undefined) throw new Error('the database has no id')
  return row
}

/**
 * PostgreSQL's timeline: it changes with each recovery to an earlier moment, and with each failover.
 * @returns null when this service of PostgreSQL does not tell it
 */
export async function currentTimeline(client: Pick<PoolClient, 'query'>): Promise<string | null> {
  return client
    .query<{ timeline: string }>('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline')
    .then(({ rows }) => rows[0]?.timeline ?? null, nullIfRefused)
}

/** An error of PostgreSQL has an SQLSTATE; a lost connection is thrown. */
function nullIfRefused(error: unknown): null {
  if (error instanceof DatabaseError) return null
  throw error
}

/** True when a line was left open in another timeline: a recovery may have lost its act. */
export async function hasLostLine(client: Pick<PoolClient, 'query'>, timeline: string): Promise<boolean> {
  const { rows } = await client.query<{ lost: boolean }>(
    `select exists (select from journal_open_line where ${OPEN} and timeline <> $1) as lost`,
    [timeline],
  )
  return rows[0]?.lost === true
}

/** The act of the line is committed. */
export async function closeLine({ pool }: HasPool, sequence: number): Promise<void> {
  await pool.query('delete from journal_open_line where sequence = $1', [sequence])
}

/**
 * Runs the work while no other process writes, and stores the head that it returns; its line is open from then on.
 * @returns the number of the line
 * @throws what the work throws; the head stays unchanged
 */
export async function moveJournalHead(
  { pool }: HasPool,
  work: (head: JournalHead) => Promise<JournalHead>,
): Promise<number> {
  const timeline = await currentTimeline(pool)
  for (;;) {
    await pool.query(
      `insert into journal_head as head (sequence, digest, begun, timeline) values ($1, $2, 1, $3)
        on conflict (one) do update set begun = greatest(head.begun, head.sequence + 1), timeline = $3`,
      [NO_LINE.sequence, NO_LINE.digest, timeline],
    )
    const moved = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<StoredHead>(
        'select sequence, digest, begun, timeline from journal_head for update',
      )
      const [head] = rows
      // Another process wrote a line in between.
      if (head === undefined || head.begun <= head.sequence) return null
      const next = await work(head)
      await storeHead(client, next)
      await client.query(`delete from journal_open_line where not (${OPEN})`)
      await client.query('insert into journal_open_line (sequence, timeline) values ($1, $2)', [
        next.sequence,
        timeline,
      ])
      return next.sequence
    })
    if (moved !== null) return moved
  }
}

/**
 * Closes all lines after a restore: their acts were done, or the journal was renounced. The database becomes a new
 * copy, which does not write to the file of the former one: that one may still run, and a drill is a copy as well.
 * @param head the line after which the journal continues; null: after the last line that the database knows
 */
export async function continueJournal(client: Pick<PoolClient, 'query'>, head: JournalHead | null): Promise<void> {
  if (head !== null) await storeHead(client, head)
  await client.query('delete from journal_open_line')
  await nameDatabase(client)
  await client.query('update journal_database set incarnation = gen_random_uuid()')
}

/** The last line is this one. */
async function storeHead(client: Pick<PoolClient, 'query'>, { sequence, digest }: JournalHead): Promise<void> {
  await client.query(
    `insert into journal_head (sequence, digest) values ($1, $2)
      on conflict (one) do update set sequence = $1, digest = $2, written_at = now()`,
    [sequence, digest],
  )
}
