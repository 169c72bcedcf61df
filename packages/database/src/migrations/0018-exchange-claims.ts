/**
 * One queue: accepted exchanges are claimed in their own rows, as deliveries are, and a large request is cut into chunks,
 * each with a row of its own. The tables of graphile-worker go, with their jobs: what is not answered says so itself.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Items of one chunk, as earlier versions answered them together. */
const CHUNK = sql.lit(10_000)

export const exchangeClaims: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table accepted_exchange
      alter column request drop not null,
      add column due_at timestamptz not null default now(),
      add column claim uuid,
      add column claimed_until timestamptz,
      add column runs integer not null default 0,
      add column parent uuid references accepted_exchange on delete cascade,
      add column first_item integer not null default 0,
      add column chunk integer not null default 0,
      add column chunks integer not null default 1,
      add column open_chunks integer`.execute(db)
    await sql`create index accepted_exchange_parent_index on accepted_exchange (parent)
      where parent is not null`.execute(db)

    // The steps that are done went through the chunks page by page. The request stays with the parent, from which each
    // chunk reads its items: it is as large as the request for that. What is answered already is asked about by chunks.
    await sql`insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
        sender_uri, encrypted, request_bytes, items, references_stored, state, page, received_at, started_at, finished_at, due_at, parent,
        first_item, chunk, chunks)
      select gen_random_uuid(), participant, registry, operation, message_id, transaction_id, sender_uri, encrypted,
        coalesce(request_bytes, octet_length(request)), least(${CHUNK}, items - number * ${CHUNK}), true,
        case when state in ('replied', 'failed') then state when done = 0 then 'accepted'
          when further then 'replying' else 'replied' end, done, received_at,
        started_at, case when state in ('replied', 'failed') then finished_at when done > 0 and not further then now() end, received_at, correlation_id, number * ${CHUNK},
        number, count
      from accepted_exchange
        cross join lateral (select (items + ${CHUNK} - 1) / ${CHUNK} as count) as counted
        cross join generate_series(0, count - 1) as number
        cross join lateral (
          select case when page > number then (page - number - 1) / count + 1 else 0 end as done
        ) as answered
        cross join lateral (
          select exists (
            select 1 from exchange_item as item where item.correlation_id = accepted_exchange.correlation_id
              and position >= number * ${CHUNK} and position < (number + 1) * ${CHUNK}
              and record_ids is not null and total > done * page_size
          ) as further
        ) as going
      where items > ${CHUNK} and (page > 0 or state in ('accepted', 'replying'))`.execute(db)
    await sql`update accepted_exchange set open_chunks = open,
        state = case when open = 0 and state <> 'failed' then 'replied' else state end,
        finished_at = case when open = 0 then coalesce(finished_at, now()) end
      from (
        select parent, count(*) filter (where state in ('accepted', 'replying')) as open
        from accepted_exchange where parent is not null group by parent
      ) as counted
      where accepted_exchange.correlation_id = counted.parent`.execute(db)
    await sql`create index accepted_exchange_open_index on accepted_exchange (participant, due_at)
      where state in ('accepted', 'replying') and open_chunks is null`.execute(db)

    await sql`drop function drain_deliveries`.execute(db)
    await sql`drop schema if exists graphile_worker cascade`.execute(db)
    await sql`drop table node`.execute(db)
  },
}
