/** Whether a database is the demo's: a demo and a production never share one. */
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** What stands in the directory, such as `registry civil`; both lists are empty in a new database. */
export interface DirectoryContent {
  /** Made by `rollcall demo`. */
  readonly demo: readonly string[]
  readonly real: readonly string[]
}

/** Reads the directory of any database, also of one that was never migrated; nothing is changed. */
export async function directoryContent(db: Database): Promise<DirectoryContent> {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('registry') is not null and to_regclass('participant') is not null as there`.execute(
    db.kysely,
  )
  if (tables[0]?.there !== true) return { demo: [], real: [] }
  const registries = await db.kysely.selectFrom('registry').select(['namespace', 'demo']).execute()
  const participants = await db.kysely.selectFrom('participant').select(['sender_id', 'demo']).execute()
  const entries = [
    ...registries.map(({ namespace, demo }) => ({ name: `registry ${namespace}`, demo })),
    ...participants.map(({ sender_id, demo }) => ({ name: `participant ${sender_id}`, demo })),
  ]
  const named = (demo: boolean): string[] =>
    entries
      .filter((entry) => entry.demo === demo)
      .map(({ name }) => name)
      .sort()
  return { demo: named(true), real: named(false) }
}
