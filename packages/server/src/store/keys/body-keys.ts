/** The encrypted data keys of bodies at rest, one for each day (UTC). Without the row of its day a body cannot be read any more. */
import type { Database } from '../db/database.ts'

/** @param day 'YYYY-MM-DD' */
export async function findBodyKey(db: Database, day: string): Promise<Buffer | null> {
  const found = await db.kysely
    .selectFrom('body_key')
    .select('sealed')
    .where('day', '=', day)
    .executeTakeFirst()
  return found?.sealed ?? null
}

/** Adds the day's key unless there is one; returns the one that counts. */
export async function addBodyKey(db: Database, day: string, sealed: Buffer): Promise<Buffer> {
  const row = await db.kysely
    .insertInto('body_key')
    .values({ day, sealed })
    // Changes nothing, and returns the row that is there.
    .onConflict((conflict) => conflict.column('day').doUpdateSet({ day }))
    .returning('sealed')
    .executeTakeFirstOrThrow()
  return row.sealed
}
