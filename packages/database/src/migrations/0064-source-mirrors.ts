/**
 * Copies of the records of a source: how far each has come, and which record each row of the source has become. A node of the version
 * before answers such a registry from its tables, as any other, and also while they are being filled.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const sourceMirrors: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    // Until all records were read for the first time, nobody may be told that somebody is not there.
    await sql`alter table registry add column awaits_records boolean not null default false`.execute(db)
    await sql`create table source_mirror (
      registry integer primary key references registry on delete cascade,
      claim uuid, -- of the node that follows the source
      claimed_until timestamptz,
      file text, -- digest of the source file to which the position belongs
      position jsonb, -- up to where changes are in the records; its form belongs to the way of following
      comparison jsonb, -- how far a comparison of all records has come; null: none runs
      comparison_wanted boolean not null default false,
      compared_at timestamptz, -- the beginning of the last comparison that has ended
      current_at timestamptz, -- a time before which every change of the source is in the records
      behind bigint not null default 0, -- rows that are known to be due
      failure text, -- in the words of an operator; null: the last attempt did not fail
      failed_at timestamptz
    )`.execute(db)
    await sql`create table source_row (
      registry integer not null references registry on delete cascade,
      record_type text not null,
      key text not null,
      primary_identifier text, -- of the record that the row has become; null: none
      wanted text, -- the primary identifier that the row has and another row has taken
      reason text, -- why the row is not a record, or not as it is now
      seen bigint not null, -- the last comparison that found it
      primary key (registry, record_type, key)
    )`.execute(db)
    await sql`create index on source_row (registry, record_type, primary_identifier)`.execute(db)
    await sql`create index on source_row (registry, record_type, wanted) where wanted is not null`.execute(db)
    await sql`create index on source_row (registry, record_type, key) where reason is not null`.execute(db)
  },
}
