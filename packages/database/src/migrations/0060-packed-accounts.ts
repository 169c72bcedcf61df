/**
 * Entries of accounts that are small at rest. They are in a table of their own, which is a child of `account`: whoever reads
 * `account` reads both, no row of earlier versions is touched, and no index is made of a table that may be large.
 */
import { type Kysely, sql } from 'kysely'
import type { SchemaMigration } from '../migration.ts'

export const packedAccounts: SchemaMigration = {
  version: '0.1.0',
  phase: 'expand',
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table account_shape (
      -- SHA-256 of the content.
      digest bytea primary key,
      -- Canonical JSON of entries, with marks in place of the values that are not shared.
      content text not null,
      -- Nobody can put another content under a digest before its own comes.
      constraint account_shape_digest_check check (digest = sha256(convert_to(content, 'UTF8')))
    )`.execute(db)
    // Null in the rows of earlier versions.
    await sql`alter table account
      -- Digest of the row of account_shape; null: the entry is whole, in its column.
      add column shape bytea,
      -- The values of an entry that has a shape, in the order of its marks.
      add column packed bytea,
      -- 49 bytes for each person.
      add column persons bytea,
      -- For look-ups: the beginnings of pseudonyms, and of the correlation_ids whose answers are given again.
      add column keys bigint[],
      -- Of an entry that has a shape with a mark for it.
      add column correlation_id uuid,
      add column emergency boolean`.execute(db)
    await sql`create table account_entry (
      primary key (chain, sequence),
      constraint account_entry_form_check check (
        (entry = '') = (shape is not null) and (packed is null) = (shape is null)
        and persons is not null and keys is not null and emergency is not null)
    ) inherits (account)`.execute(db)
    await sql`create index account_entry_newest_index on account_entry (at)`.execute(db)
    // Equal ids are few bytes in a btree, however often a peer sends a message again; a hash index would be walked through.
    await sql`create index account_entry_message_index on account_entry (message_id)`.execute(db)
    // A hash index has four bytes of a value. These ids are ours, and each is of one answer.
    await sql`create index account_entry_reply_message_index on account_entry using hash (reply_message_id)`.execute(db)
    // A pending list would take more room than it saves time.
    await sql`create index account_entry_keys_index on account_entry using gin (keys) with (fastupdate = off)`.execute(db)
    await sql`create index account_entry_emergency_index on account_entry (at) where emergency`.execute(db)
  },
}
