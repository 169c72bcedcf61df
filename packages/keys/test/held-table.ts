/** Statements that wait: a table that is locked until it is released, and how many statements wait for a lock. */
import type { TestDatabase } from './postgres.ts'

export interface HeldTable {
  /** Lets statements use the table again. More than once does no harm. */
  release(): Promise<void>
}

/** Locks a table: whatever reads or writes it waits from now on. */
export async function holdTable({ db }: Pick<TestDatabase, 'db'>, table = 'r1_person'): Promise<HeldTable> {
  const client = await db.pool.connect()
  await client.query(`begin; lock table "${table}" in access exclusive mode`)
  let held = true
  return {
    async release() {
      if (!held) return
      held = false
      await client.query('rollback')
      client.release()
    },
  }
}

/** The number of statements of this database that wait for a lock. */
export async function lockWaits({ db }: Pick<TestDatabase, 'db'>): Promise<number> {
  const { rows } = await db.pool.query<{ waiting: number }>(
    `select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows[0]?.waiting ?? 0
}
