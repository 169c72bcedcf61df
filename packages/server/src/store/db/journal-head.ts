/** The end of the journal, in the database: its row lets one process write at a time, whichever node it is on. */
import type { Pool, PoolClient } from 'pg'
import { withTransaction } from './transaction.ts'

/** The last line; 0 and zeros: there is none. */
export interface JournalHead {
  readonly sequence: number
  /** SHA-256 of its text. */
  readonly digest: Buffer
}

/** With the line that a process began to write, which may be in the file and not be known here. */
export interface StoredHead extends JournalHead {
  readonly begun: number
}

const NO_LINE: StoredHead = { sequence: 0, digest: Buffer.alloc(32), begun: 0 }

interface HasPool {
  readonly pool: Pool
}

export async function readJournalHead(client: Pick<PoolClient, 'query'>): Promise<StoredHead> {
  const { rows } = await client.query<StoredHead>('select sequence, digest, begun from journal_head')
  return rows[0] ?? NO_LINE
}

/**
 * Runs the work while no other process writes, and stores the head that it returns.
 * @throws what the work throws; the head stays as it was
 */
export async function moveJournalHead(
  { pool }: HasPool,
  work: (head: JournalHead) => Promise<JournalHead>,
): Promise<void> {
  for (let moved = false; !moved; ) {
    await pool.query(
      `insert into journal_head as head (sequence, digest, begun) values ($1, $2, 1)
        on conflict (one) do update set begun = greatest(head.begun, head.sequence + 1)`,
      [NO_LINE.sequence, NO_LINE.digest],
    )
    moved = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<StoredHead>(
        'select sequence, digest, begun from journal_head for update',
      )
      const [head] = rows
      // Another process wrote a line in between.
      if (head === undefined || head.begun <= head.sequence) return false
      await storeHead(client, await work(head))
      return true
    })
  }
}

/** The journal goes on behind this line. */
export async function storeHead(
  client: Pick<PoolClient, 'query'>,
  { sequence, digest }: JournalHead,
): Promise<void> {
  await client.query(
    `insert into journal_head (sequence, digest) values ($1, $2)
      on conflict (one) do update set sequence = $1, digest = $2, written_at = now()`,
    [sequence, digest],
  )
}
