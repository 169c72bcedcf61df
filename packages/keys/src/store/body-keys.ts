/** Stores the encrypted data keys of bodies, one for each day (UTC). Without its day's key, nobody can read a body. */
import type { Database } from '@rollcall/database/database'
import { isDayHeldSql } from '@rollcall/database/holds'

/** The encrypted key of a day; null when there is none. @param day 'YYYY-MM-DD' */
export async function findBodyKey(db: Database, day: string): Promise<Buffer | null> {
  const { rows } = await db.pool.query<{ sealed: Buffer }>('select sealed from body_key where day = $1', [day])
  return rows[0]?.sealed ?? null
}

/** Adds the key of a day if there is none. Returns the stored key. */
export async function addBodyKey(db: Database, day: string, sealed: Buffer): Promise<Buffer> {
  // When the day has a key already, nothing changes, and the statement returns the existing row.
  const { rows } = await db.pool.query<{ sealed: Buffer }>(
    'insert into body_key (day, sealed) values ($1, $2) on conflict (day) do update set day = excluded.day returning sealed',
    [day, sealed],
  )
  if (rows[0] === undefined) throw new Error('unreachable: there is a key of the day')
  return rows[0].sealed
}

/** SQL condition: the day ended more than `$1` seconds ago, and no hold keeps a message of the day. */
const IS_OLD_DAY_SQL = `day + 1 < (now() at time zone 'utc') - make_interval(secs => $1) and not ${isDayHeldSql('day')}`

/**
 * Destroys the keys of old days, so that the bodies of these days cannot be decrypted. An older backup still has the keys.
 * @param retention seconds since the end of the day, by the clock of the database
 * @returns the number of destroyed keys
 */
export async function destroyBodyKeys({ pool, journal }: Pick<Database, 'pool' | 'journal'>, retention: number): Promise<number> {
  const { rows } = await pool.query<{ day: string }>(`select day from body_key where ${IS_OLD_DAY_SQL} order by day`, [retention])
  if (rows.length === 0) return 0
  const days = rows.map(({ day }) => day)
  const { rowCount } = await journal.write({ kind: 'day_keys_destroyed', days }, () =>
    pool.query(`delete from body_key where day = any($2::date[]) and ${IS_OLD_DAY_SQL}`, [retention, days]),
  )
  return rowCount ?? 0
}

/** Destroys the keys of these days again, after a restore has brought them back. */
export async function destroyBodyKeysOfDays({ pool }: Pick<Database, 'pool'>, days: readonly string[]): Promise<number> {
  const { rowCount } = await pool.query('delete from body_key where day = any($1::date[])', [days])
  return rowCount ?? 0
}

/** Counts the keys that `destroyBodyKeys` would destroy now. */
export async function countBodyKeysToDestroy({ pool }: Pick<Database, 'pool'>, retention: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from body_key where ${IS_OLD_DAY_SQL}`,
    [retention],
  )
  return rows[0]?.count ?? 0
}
