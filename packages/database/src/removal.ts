/** Removes the stored data of a registry or participant. Each package lists its tables for this. */
import type { Database } from './database.ts'

export type Removable = 'registry' | 'participant'

/** Rows that are removed. Foreign keys remove others with them, such as attempts with their delivery. */
export interface RemovedRows {
  readonly table: string
  /** SQL condition; `$1` is the number of the registry or participant. */
  readonly of: string
}

/** Rows of a registry or a participant in some tables. In the SQL `$1` is the number of either. */
export interface StoredPart {
  /** SQL of a number of removed rows, by the name that operators see. */
  readonly counted?: Readonly<Record<string, string>>
  /** SQL of a number of rows that somebody still waits for, by name. */
  readonly pending?: Readonly<Record<string, string>>
  /** In the order of removal. */
  readonly removed: readonly RemovedRows[]
}

/** All rows of these tables that belong to the registry or participant. */
export const rowsOf = (removable: Removable, tables: readonly string[]): readonly RemovedRows[] =>
  tables.map((table) => ({ table, of: `${removable} = $1` }))

/** SQL of the number of a table's rows that belong to the registry or participant. */
export const countOf = (removable: Removable, table: string): string =>
  `(select count(*) from ${table} where ${removable} = $1)`

/** Counts the rows that the parts name. */
export async function countStored(
  { pool }: Pick<Database, 'pool'>,
  parts: readonly StoredPart[],
  what: 'counted' | 'pending',
  id: number,
): Promise<Readonly<Record<string, number>>> {
  const counts = parts.flatMap((part) => Object.entries(part[what] ?? {}))
  const { rows } = await pool.query<Record<string, number>>(
    `select ${counts.map(([name, count]) => `(${count})::bigint as ${name}`).join(', ')}`,
    [id],
  )
  return rows[0] ?? {}
}

/** Rows of one statement. */
const AT_ONCE = 5_000

/** Deletes rows, a few thousand at a time. After an interruption it may be called again. */
export async function removeRows(
  { pool }: Pick<Database, 'pool'>,
  removed: readonly RemovedRows[],
  id: number,
): Promise<void> {
  for (const { table, of } of removed) {
    for (let gone = AT_ONCE; gone > 0; ) {
      const { rowCount } = await pool.query(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${of} limit ${AT_ONCE}))`,
        [id],
      )
      gone = rowCount ?? 0
    }
  }
}
