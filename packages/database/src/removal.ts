/** Removing what is stored of a registry or of a participant. Each package says beside its tables what that is. */
import type { Database } from './database.ts'

export type Removable = 'registry' | 'participant'

/** Rows that go. Others go with them by their foreign keys, such as attempts with their delivery. */
export interface RemovedRows {
  readonly table: string
  /** SQL; `$1` is the number of the registry or participant. */
  readonly of: string
}

/** Rows of a registry or a participant in some tables. In the SQL `$1` is the number of either. */
export interface StoredPart {
  /** SQL of the number of rows that go, by the name that people know them by. */
  readonly counted?: Readonly<Record<string, string>>
  /** What somebody still waits for, in the same way. */
  readonly pending?: Readonly<Record<string, string>>
  /** In the order in which they go. */
  readonly removed: readonly RemovedRows[]
}

/** All rows of these tables that name it. */
export const rowsOf = (removable: Removable, tables: readonly string[]): readonly RemovedRows[] =>
  tables.map((table) => ({ table, of: `${removable} = $1` }))

/** How many rows of a table name it, as SQL. */
export const countOf = (removable: Removable, table: string): string =>
  `(select count(*) from ${table} where ${removable} = $1)`

/** Counts what the parts say of it, by name. */
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

/** Deletes rows, a few thousand at a time. When it is cut short, it is called again. */
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
