/** Advances the sequences and counters of a restored database: numbers that were used after the snapshot are not used again. */

import { quoteName } from '@rollcall/database/names'
import type { PoolClient } from 'pg'
import { type CatalogSequence, tableNameSql } from './catalog.ts'

type Client = Pick<PoolClient, 'query'>

/**
 * How far a sequence is advanced, by its SQL type: enough for the numbers that were used after the snapshot. Receivers remember
 * the numbers of envelopes and items: they ignore a smaller number, and take an equal one for a repetition.
 */
const SEQUENCE_ADVANCE_BY_TYPE: Readonly<Record<string, bigint>> = { bigint: 1_000_000_000n, integer: 10_000n, smallint: 100n }

/**
 * Advances the sequences of the backup; other sequences stay unchanged. Each is advanced from its last number in the backup, or
 * from the largest number in its table if that is larger: the application role, which makes backups, may not read the last
 * numbers of the owner role's sequences.
 */
export async function advanceSequences(client: Client, last: readonly CatalogSequence[]): Promise<void> {
  for (const sequence of last) {
    const passed = SEQUENCE_ADVANCE_BY_TYPE[sequence.type]
    if (passed === undefined) continue
    const name = tableNameSql(sequence)
    const [known, stored] = [BigInt(sequence.last ?? 0), await largestStoredNumber(client, name)]
    const value = (stored > known ? stored : known) + passed
    await client.query('select setval($1::regclass, $2::bigint)', [name, value.toString()])
  }
}

/** The largest number in the column of a sequence; 0 when it has no column, or the table is empty. */
async function largestStoredNumber(client: Client, sequence: string): Promise<bigint> {
  const { rows: columns } = await client.query<{ table: string; name: string }>(
    `select refobjid::regclass::text as table, attname::text as name from pg_depend
      join pg_attribute on attrelid = refobjid and attnum = refobjsubid
      where classid = 'pg_class'::regclass and objid = $1::regclass and deptype in ('a', 'i')`,
    [sequence],
  )
  const [column] = columns
  if (column === undefined) return 0n
  const { rows } = await client.query<{ largest: string | null }>(
    `select max(${quoteName(column.name)})::text as largest from ${column.table}`,
  )
  return BigInt(rows[0]?.largest ?? 0)
}

/** A column with the last number that its row has used: a row of a mailbox counts the envelopes of the mailbox. */
export interface CounterColumn {
  readonly table: string
  readonly column: string
}

/** Adds 1 000 000 000 to the columns in each row: further than the numbers that may have been used after the snapshot. */
export async function advanceCounterColumns(client: Client, columns: readonly CounterColumn[]): Promise<void> {
  for (const { table, column } of columns) {
    await client.query(`update ${table} set ${column} = ${column} + $1`, [SEQUENCE_ADVANCE_BY_TYPE.bigint?.toString()])
  }
}
