/** Records that were merged into others, and the record that has taken the place of one, for those who were notified of it. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const mergedRecords: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table retired_record (
      registry integer not null,
      record_type text collate "C" not null,
      record bigint not null,
      primary_identifier text collate "C" not null,
      document text not null,
      created_at timestamptz not null,
      -- The record that it was merged into, which may itself have been merged since.
      merged_into bigint not null,
      -- The record that its identifiers find.
      survivor bigint not null,
      merged_at timestamptz not null,
      -- The event of the merge.
      event bigint not null,
      -- What was written of the record beside it (enrolment_ledger), and when its next scheduled status begins.
      ledger text,
      ledger_due timestamptz,
      primary key (registry, record_type, record),
      unique (registry, record_type, primary_identifier)
    )`.execute(db)
    await sql`create index retired_record_survivor_index on retired_record (registry, record_type, survivor)`.execute(
      db,
    )
    await sql`alter table event add column replaced_by jsonb`.execute(db)
  },
}
