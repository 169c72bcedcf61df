/** A version after this one, for tests of upgrades: its migration adds to every table what this version does not know. */
import { sql } from 'kysely'
import type { SchemaMigration } from '../src/migration.ts'
import { MIGRATIONS } from '../src/migrations/index.ts'

export const NEXT_VERSION = '999.0.0'
export const NEXT_MIGRATION = '9999-next-version'

const nextVersion: SchemaMigration = {
  version: NEXT_VERSION,
  phase: 'expand',
  async up(db): Promise<void> {
    await sql`create table next_version (id integer generated always as identity primary key)`.execute(db)
    const { rows } = await sql<{ name: string }>`select quote_ident(relname) as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and not starts_with(relname, 'rollcall_')
        and not exists (select from pg_inherits where inhrelid = pg_class.oid)
      order by relname`.execute(db)
    for (const { name } of rows) {
      await sql`alter table ${sql.raw(name)} add column next_version text not null default 'new'`.execute(db)
    }
  },
}

/** From now on this process is the next version; the returned function makes it this version again. */
export function becomeNextVersion(): () => void {
  const migrations: Record<string, SchemaMigration> = MIGRATIONS
  migrations[NEXT_MIGRATION] = nextVersion
  return () => {
    delete migrations[NEXT_MIGRATION]
  }
}
