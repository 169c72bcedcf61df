/**
 * What waits in mailboxes has a small table of its own, so that a notification that is sent stays where it is in the indexes
 * of all notifications. Triggers maintain it, so that nodes of the version before may still run.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const waitingNotifications: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // A column that is in an index, or in its condition, costs an entry in each index when it changes (heap-only tuples).
    await sql`drop index notification_waiting_index`.execute(db)
    await sql`drop index notification_delivery_index`.execute(db)
    // Room for the version of a row that is sent, on the same page.
    await sql`alter table notification set (fillfactor = 50)`.execute(db)

    // What an envelope holds, in place of an index of all notifications.
    await sql`alter table delivery add column notifications bigint[]`.execute(db)
    await sql`update delivery set notifications = own.ids
      from (select delivery, array_agg(id) as ids from notification where delivery is not null group by delivery) as own
      where delivery.id = own.delivery`.execute(db)
    await sql`create table waiting_notification (
      mailbox integer not null,
      is_backfill boolean not null,
      due_at timestamptz not null,
      id bigint not null,
      primary key (mailbox, is_backfill, due_at, id)
    ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05)`.execute(db)
    await sql`insert into waiting_notification
      select mailbox, is_backfill, due_at, id from notification where state = 'waiting'`.execute(db)
    // Each row is looked up by its key, whatever is known of how many there are: the plan is made once.
    await sql`create function queue_notifications() returns trigger language plpgsql
      set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
      begin
        if tg_op <> 'INSERT' then
          delete from waiting_notification as queued using before
            where before.state = 'waiting' and queued.mailbox = before.mailbox
              and queued.is_backfill = before.is_backfill and queued.due_at = before.due_at and queued.id = before.id;
        end if;
        if tg_op <> 'DELETE' then
          insert into waiting_notification select mailbox, is_backfill, due_at, id from after where state = 'waiting';
        end if;
        -- Nodes of the version before do not say it.
        if tg_op = 'UPDATE' then
          update delivery set notifications = coalesce(notifications, '{}') || own.ids
            from (select delivery, array_agg(id) as ids from after where state = 'sent' group by delivery) as own
            where delivery.id = own.delivery and (notifications is null or not notifications @> own.ids);
        end if;
        return null;
      end $$`.execute(db)
    await sql`create trigger queue_inserted after insert on notification
      referencing new table as after for each statement execute function queue_notifications()`.execute(db)
    await sql`create trigger queue_updated after update on notification
      referencing old table as before new table as after for each statement execute function queue_notifications()`.execute(
      db,
    )
    await sql`create trigger queue_deleted after delete on notification
      referencing old table as before for each statement execute function queue_notifications()`.execute(db)
    await sql`create function forget_queued_notifications() returns trigger language plpgsql as $$
      begin
        truncate waiting_notification;
        return null;
      end $$`.execute(db)
    await sql`create trigger queue_truncated after truncate on notification
      for each statement execute function forget_queued_notifications()`.execute(db)

    // Envelopes of mailboxes have no correlation_id.
    await sql`drop index delivery_correlation_index`.execute(db)
    await sql`create index delivery_correlation_index on delivery (correlation_id)
      where correlation_id is not null`.execute(db)
  },
}
