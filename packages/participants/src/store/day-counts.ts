/**
 * Counts the messages and bytes that were stored for each participant on a day, for each sort of message. Days are UTC
 * days by the clock of the database.
 */
import type { Database } from '@rollcall/database/database'

/** The tables that count callbacks (inbox) and accepted requests; both have the same columns. */
export const [INBOX_DAY, ACCEPTED_DAY] = ['inbox_day', 'accepted_day'] as const
export type DayCountTable = typeof INBOX_DAY | typeof ACCEPTED_DAY

/** How much was stored for a participant today. */
export interface DayStorageUse {
  readonly messages: number
  /** The number of bytes as stored, in encrypted form. */
  readonly bytes: number
  /** Whole seconds until the next day, at least 1. */
  readonly seconds_left: number
}

const TODAY_SQL = `(now() at time zone 'UTC')::date`

/**
 * SQL for a subquery in the `with` list of a statement. It adds the messages in `written`, another subquery of that list, to the
 * counts of today. No other subquery may read the rows of this subquery, so that PostgreSQL runs it last: all nodes lock the same
 * rows of counts until they commit, so the locks must be short. All nodes count in the same order, so they do not deadlock.
 * @param written a name; the rows have the columns `participant` and `bytes`
 * @param messages SQL that counts the messages in the rows
 */
export const countMessagesSql = (table: DayCountTable, written: string, messages = 'count(*)'): string =>
  `insert into ${table} as held (participant, day, messages, bytes)
    select participant, ${TODAY_SQL}, ${messages}, coalesce(sum(bytes), 0) from ${written} group by participant order by participant
    on conflict (participant, day) do update
      set messages = held.messages + excluded.messages, bytes = held.bytes + excluded.bytes`

/** Reads how many messages and bytes were stored for a participant today. */
export async function readDayStorageUse(
  { pool }: Pick<Database, 'pool'>,
  table: DayCountTable,
  participant: number,
): Promise<DayStorageUse> {
  const { rows } = await pool.query<DayStorageUse>({
    name: `today in ${table}`,
    text: `select coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(bytes), 0)::bigint as bytes,
        ceil(86400 - extract(epoch from now())::numeric % 86400)::int as seconds_left
      from ${table} where participant = $1 and day = ${TODAY_SQL}`,
    values: [participant],
  })
  const [row] = rows
  if (row === undefined) throw new Error(`${table} did not answer`)
  return row
}

/** Deletes the counts of past days, except yesterday: a statement that began before midnight may still be counting. */
export async function deleteOldDayCounts({ pool }: Pick<Database, 'pool'>, table: DayCountTable): Promise<void> {
  await pool.query(`delete from ${table} where day < ${TODAY_SQL} - 1`)
}
