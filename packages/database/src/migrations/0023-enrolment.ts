/** Enrolment updates: what was written of a person beside the record, and the receipts of updates. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const enrolment: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table enrolment_ledger (
      registry integer not null,
      record_type text collate "C" not null,
      record bigint not null,
      -- JSON, which only the server reads.
      state text not null,
      -- When the next scheduled status begins; null: none is scheduled.
      next_due timestamptz,
      primary key (registry, record_type, record)
    )`.execute(db)
    await sql`create index enrolment_ledger_due_index on enrolment_ledger (next_due)
      where next_due is not null`.execute(db)

    await sql`create table enrolment_receipt (
      correlation_id uuid primary key,
      encrypted boolean not null,
      -- The answer, encrypted at rest.
      body bytea not null,
      received_at timestamptz not null default now()
    )`.execute(db)
    await sql`create index enrolment_receipt_received_index on enrolment_receipt (received_at)`.execute(db)
  },
}
