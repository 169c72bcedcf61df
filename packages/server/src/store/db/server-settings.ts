/** How the PostgreSQL at the other end is set up, for whoever judges it. */
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface ServerSettings {
  /** Such as `18.4`. */
  readonly version: string
  readonly encoding: string
  /** `on` or `off`, and for synchronous_commit also `local`, `remote_write`, `remote_apply`. */
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
}

/** Reads them in one statement; what our own connections override shows as overridden. */
export async function readServerSettings(db: Database): Promise<ServerSettings> {
  const { rows } = await sql<ServerSettings>`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit`.execute(db.kysely)
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no settings')
  return row
}
