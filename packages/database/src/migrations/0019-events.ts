/**
 * Events: subscriptions with the keys they are filed under, events, and the notifications that they cause, each in the
 * mailbox of a participant and an address. Operators get tokens for the admin API, and registries an outbox.
 *
 * No foreign keys to participants, registries and records: these rows are written for every change of a record.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const events: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table participant
      add column unfiltered_subscriptions boolean not null default false,
      add column max_subscriptions double precision
        check (max_subscriptions >= 0 and max_subscriptions = floor(max_subscriptions))`.execute(db)
    // The participant of a demo may do everything.
    await sql`update participant set unfiltered_subscriptions = true, max_subscriptions = 'Infinity'
      where demo`.execute(db)
    await sql`alter table participant_callback
      add column notify_url text,
      add column notify_items integer not null default 100 check (notify_items between 1 and 1000),
      add column notify_bytes integer not null default 1048576 check (notify_bytes >= 1024),
      add column notify_unlisted boolean not null default false`.execute(db)

    await sql`create table mailbox (
      id integer generated always as identity primary key,
      participant integer not null,
      registry integer not null,
      -- As the subscribe request has it; empty where it had none.
      sender_uri text collate "C" not null default '',
      state text not null default 'open' check (state in ('open', 'closed')),
      sequence bigint not null default 0,
      -- What receivers know it by.
      public_id uuid not null default gen_random_uuid(),
      claim uuid,
      claimed_until timestamptz,
      -- Since when there is nowhere to send to.
      resting_since timestamptz,
      created_at timestamptz not null default now(),
      closed_at timestamptz,
      unique (participant, registry, sender_uri)
    )`.execute(db)

    await sql`create table subscription (
      id integer generated always as identity primary key,
      code text collate "C" not null unique,
      participant integer not null,
      registry integer not null,
      mailbox integer not null references mailbox,
      event_type text collate "C" not null,
      record_type text collate "C" not null,
      fingerprint bytea not null,
      criteria text not null,
      locale text,
      -- Whether it came encrypted: what it causes then leaves encrypted.
      encrypted boolean not null default false,
      person boolean not null default false,
      cron text,
      start_at timestamptz,
      end_at timestamptz,
      state text not null default 'live' check (state in ('live', 'suspended', 'ended')),
      reason text,
      transaction_id text collate "C" not null,
      correlation_id uuid not null,
      reference_id text collate "C" not null,
      -- The record up to which a backfill is queued; null: none is under way.
      backfilled bigint,
      -- Of the backfill that is under way: only records that were written since then; null: all.
      backfilled_since timestamptz,
      -- Whether the log has said that it is suspended.
      suspension_logged boolean not null default false,
      created_at timestamptz not null default now(),
      ended_at timestamptz,
      -- The correlation_id of the unsubscribe that ended it.
      ended_by uuid
    )`.execute(db)
    // One that was suspended is still there: it is not made a second time.
    await sql`create unique index subscription_same_index
      on subscription (participant, registry, event_type, record_type, fingerprint) where state <> 'ended'`.execute(
      db,
    )
    await sql`create index subscription_participant_index on subscription (participant, registry, created_at)`.execute(
      db,
    )
    await sql`create index subscription_end_index on subscription (end_at)
      where state <> 'ended' and end_at is not null`.execute(db)
    await sql`create index subscription_mailbox_index on subscription (mailbox) where state <> 'ended'`.execute(
      db,
    )

    await sql`create index subscription_unlogged_index on subscription (id)
      where state = 'suspended' and not suspension_logged`.execute(db)

    // Of live subscriptions alone. The key is a digest: values may be long, and are about people.
    await sql`create table subscription_key (
      registry integer not null,
      event_type text collate "C" not null,
      record_type text collate "C" not null,
      key bytea not null,
      subscription integer not null references subscription on delete cascade,
      whole boolean not null,
      primary key (registry, event_type, record_type, key, subscription)
    )`.execute(db)
    await sql`create index subscription_key_subscription_index on subscription_key (subscription)`.execute(db)

    // Whether its changes are events: what is gone on with stays as it was begun.
    await sql`alter table import_progress add column events boolean not null default false`.execute(db)

    await sql`create sequence record_version as bigint`.execute(db)
    await sql`create table event (
      id bigint generated always as identity primary key,
      registry integer not null,
      event_id text collate "C",
      fingerprint bytea,
      event_type text collate "C" not null,
      record_type text collate "C" not null,
      record bigint not null,
      record_version bigint not null,
      occurred_at timestamptz not null,
      recorded_at timestamptz not null default now(),
      document text,
      identifiers text,
      reversed_by bigint,
      matched integer not null default 0,
      -- What an operator asked for is sent like an event, and is none.
      purpose text not null default 'event' check (purpose in ('event', 'backfill', 'test'))
    )`.execute(db)
    await sql`create unique index event_event_id_index on event (registry, event_id) where event_id is not null`.execute(
      db,
    )
    await sql`create index event_record_index on event (registry, record_type, record, id)`.execute(db)
    await sql`create index event_recorded_index on event (recorded_at)`.execute(db)

    await sql`create table record_source_version (
      registry integer not null,
      record_type text collate "C" not null,
      primary_identifier text collate "C" not null,
      source_version bigint not null,
      primary key (registry, record_type, primary_identifier)
    )`.execute(db)

    await sql`create table notification (
      id bigint generated always as identity primary key,
      mailbox integer not null,
      event bigint not null references event on delete cascade,
      subscription integer not null references subscription on delete cascade,
      presence text not null check (presence in ('entered', 'stayed', 'left')),
      purpose text not null default 'event' check (purpose in ('event', 'correction', 'backfill', 'test')),
      corrects bigint,
      -- Behind all others; a column, because an index is not asked by the negation of an expression.
      is_backfill boolean not null generated always as (purpose = 'backfill') stored,
      due_at timestamptz not null default now(),
      state text not null default 'waiting' check (state in ('waiting', 'sent', 'dropped')),
      delivery uuid,
      reference_id text collate "C",
      check ((state = 'sent') = (delivery is not null))
    )`.execute(db)
    await sql`create index notification_waiting_index on notification (mailbox, is_backfill, due_at, id)
      where state = 'waiting'`.execute(db)
    await sql`create index notification_event_index on notification (event)`.execute(db)
    await sql`create index notification_subscription_index on notification (subscription)`.execute(db)
    await sql`create index notification_delivery_index on notification (delivery) where delivery is not null`.execute(
      db,
    )

    await sql`alter table delivery add column mailbox integer, add column sequence bigint`.execute(db)
    await sql`create unique index delivery_mailbox_index on delivery (mailbox)
      where state = 'pending' and mailbox is not null`.execute(db)

    await sql`create table operator_token (
      id integer generated always as identity primary key,
      name text collate "C" not null,
      sha256 bytea not null,
      roles text[] not null check (
        cardinality(roles) > 0 and roles <@ array['read', 'publish', 'operate', 'audit', 'own']),
      registries integer[],
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      revoked_at timestamptz
    )`.execute(db)
    await sql`create unique index operator_token_name_index on operator_token (name)
      where revoked_at is null`.execute(db)
    await createOutbox(db)
  },
}

/** Where an existing registry system INSERTs its events, in its own transactions. Its role may do nothing else. */
async function createOutbox(db: Kysely<unknown>): Promise<void> {
  await sql`create schema rollcall_outbox`.execute(db)
  await sql`create table rollcall_outbox.event (
    id bigint generated always as identity primary key,
    namespace text not null,
    reg_event_type text not null,
    record jsonb not null,
    record_type text,
    event_id text,
    occurred_at timestamptz,
    source_version bigint,
    replace boolean not null default false,
    remove jsonb,
    corrects text,
    created_at timestamptz not null default now(),
    -- How often publishing it took longer than a statement may.
    timeouts integer not null default 0,
    -- Why it cannot be published; never what it holds.
    failure text,
    failed_at timestamptz,
    check ((failure is null) = (failed_at is null))
  )`.execute(db)
  await sql`create index event_waiting_index on rollcall_outbox.event (id) where failed_at is null`.execute(
    db,
  )
  await sql`create function rollcall_outbox.announce() returns trigger language plpgsql as $$
    begin
      perform pg_notify('rollcall_work', 'o');
      return null;
    end $$`.execute(db)
  await sql`create trigger announce after insert on rollcall_outbox.event
    for each statement execute function rollcall_outbox.announce()`.execute(db)
  // Roles belong to all databases of the server. Who may not make one is told how (docs/events.md).
  await sql`do $$
    begin
      begin
        create role rollcall_outbox_writer nologin;
      exception when duplicate_object or unique_violation then null;
      end;
      grant usage on schema rollcall_outbox to rollcall_outbox_writer;
      grant insert (namespace, reg_event_type, record, record_type, event_id, occurred_at, source_version, replace,
        remove, corrects) on rollcall_outbox.event to rollcall_outbox_writer;
    exception when insufficient_privilege then
      raise notice 'the role rollcall_outbox_writer could not be made';
    end $$`.execute(db)
}
