/** Counts the use of the daily quotas of grants on all nodes. Days are UTC days by the clock of the database. */
import type { Database } from '@rollcall/database/database'

/** Identifies one count of a day: the participant, the registry, and what is counted. */
export interface DailyQuotaKey {
  readonly participant: number
  readonly registry: number
  readonly counted: string
}

const TODAY_BY_CLOCK_SQL = `(clock_timestamp() at time zone 'UTC')::date`

/** Takes `wanted` from a day's quota, or nothing. @param most the quota @returns false when too little is left */
export async function takeDailyQuota(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, counted }: DailyQuotaKey,
  wanted: number,
  most: number,
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'take of day',
    text: `insert into grant_use as held (participant, registry, counted, day, used)
      select $1, $2, $3, ${TODAY_BY_CLOCK_SQL}, $4::bigint where $4::bigint <= $5::bigint
      on conflict (participant, registry, counted, day) do update set used = held.used + $4::bigint
        where held.used + $4::bigint <= $5::bigint
      returning used`,
    values: [participant, registry, counted, wanted, most],
  })
  return rowCount === 1
}

/**
 * SQL for the `with` part of a statement: counts what is delivered without a request, even beyond the quota of the day.
 * @param rows a select with the columns of `DailyQuotaKey` and `used`. Its order is the same on every node, so that
 * they do not deadlock.
 */
export const countGrantUseSql = (rows: string): string =>
  `insert into grant_use as held (participant, registry, counted, day, used)
    select participant, registry, counted, ${TODAY_BY_CLOCK_SQL}, used from (${rows}) as counts
    on conflict (participant, registry, counted, day) do update set used = held.used + excluded.used`

/** The number that was used today for this participant, registry and `counted`; 0 when nothing was used. */
export async function readQuotaUseToday(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, counted }: DailyQuotaKey,
): Promise<number> {
  const { rows } = await pool.query<{ used: number }>({
    name: 'used of day',
    text: `select used from grant_use where participant = $1 and registry = $2 and counted = $3 and day = ${TODAY_BY_CLOCK_SQL}`,
    values: [participant, registry, counted],
  })
  return rows[0]?.used ?? 0
}

/** Deletes what was counted for daily quotas on the days before yesterday. */
export async function deleteOldQuotaUse({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query(`delete from grant_use where day < ${TODAY_BY_CLOCK_SQL} - 1`)
}
