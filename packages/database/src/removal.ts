/** Removes the rows of a registry or participant. Each package lists its own tables for this; audit entries stay. */
import type { Database } from './database.ts'

export type Removable = 'registry' | 'participant'

/** Rows to be removed. Foreign keys remove others with them, such as the attempts of a delivery. */
export interface RowsToRemove {
  readonly table: string
  /** The SQL condition that selects the rows to remove; `$1` is the id of the registry or participant. */
  readonly of: string
}

/** The rows that one package stores for a registry or a participant. `$1` in the SQL is the id of either. */
export interface RowsStoredByPackage {
  /**
   * SQL that counts the stored rows of the registry or participant, by the name that operators see, such as `subscriptions`. The
   * rows are counted before the removal, and for a dry run.
   */
  readonly counted?: Readonly<Record<string, string>>
  /** SQL that counts the rows that have not ended yet, such as pending deliveries, by the name that operators see. */
  readonly pending?: Readonly<Record<string, string>>
  /** The rows to remove, in the order in which they must be deleted. */
  readonly removed: readonly RowsToRemove[]
}

/** The rows to remove: all rows of these tables that belong to the registry or participant. */
export const rowsToRemove = (removable: Removable, tables: readonly string[]): readonly RowsToRemove[] =>
  tables.map((table) => ({ table, of: `${removable} = $1` }))

/** SQL that counts the rows of a table that belong to the registry or participant. */
export const countRowsSql = (removable: Removable, table: string): string =>
  `(select count(*) from ${table} where ${removable} = $1)`

/** Counts, by name, the rows of the registry or participant with this id that these packages list in `counted` or `pending`. */
export async function countRowsOfPackages(
  { pool }: Pick<Database, 'pool'>,
  parts: readonly RowsStoredByPackage[],
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

/** The most rows that one statement deletes. */
const MOST_ROWS_PER_DELETE = 5_000

/** Deletes rows in portions of `MOST_ROWS_PER_DELETE`. An interrupted removal is finished by another call. */
export async function removeRows({ pool }: Pick<Database, 'pool'>, removed: readonly RowsToRemove[], id: number): Promise<void> {
  for (const { table, of } of removed) {
    for (let gone = MOST_ROWS_PER_DELETE; gone > 0; ) {
      const { rowCount } = await pool.query(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${of} limit ${MOST_ROWS_PER_DELETE}))`,
        [id],
      )
      gone = rowCount ?? 0
    }
  }
}
