/** What stays of a removed participant holds for its sender_id: revoked keys, and withdrawals of consent from it alone. */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const formerParticipants: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table participant_key
      alter column participant drop not null,
      -- Of the participant that was removed; null: it is there.
      add column former_sender_id text collate "C",
      add constraint participant_key_former_check check (
        case when participant is null then former_sender_id is not null and revoked_at is not null
          else former_sender_id is null end)`.execute(db)
    await sql`create index participant_key_former_index on participant_key (former_sender_id)
      where former_sender_id is not null`.execute(db)
    // The number of a removed participant is never given again.
    await sql`alter table consent_withdrawal add column former_sender_id text collate "C"`.execute(db)
    await sql`create index consent_withdrawal_former_index on consent_withdrawal (former_sender_id)
      where former_sender_id is not null`.execute(db)
  },
}
