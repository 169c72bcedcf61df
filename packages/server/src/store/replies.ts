/** Writes down how an accepted exchange is answered: its items, and the delivery that carries a page of the answer. */
import type { Database } from './database.ts'
import type { Claim, NewDelivery } from './deliveries.ts'

/** One answered item, with the records that its further pages are made of. */
export interface NewItem {
  /** From 0, in the order of the request. */
  readonly position: number
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  /** Records that were found; null where none were looked for. */
  readonly total: number | null
  readonly page_size: number | null
  readonly record_type: string | null
  readonly record_ids: readonly number[] | null
}

/** A step of an answer. */
export interface ReplyStep {
  readonly correlation_id: string
  /** The last page before it, 0 for none: a step that was taken already is not taken again. */
  readonly from: number
  /** The last page with it. */
  readonly page: number
  readonly state: 'replying' | 'replied' | 'failed'
  readonly items: readonly NewItem[]
  readonly delivery: NewDelivery | null
  /** Given when the delivery is attempted right after; else the participant's `drain` job takes it. */
  readonly claim: Claim | null
  /** Whether a job is to go on with further pages. */
  readonly more: boolean
}

/**
 * Writes all of a step in one statement.
 * @returns false when it was taken already, by a run before this one: then nothing is changed
 */
export async function commitReply({ pool }: Pick<Database, 'pool'>, step: ReplyStep): Promise<boolean> {
  const { items, delivery, claim } = step
  const { rows } = await pool.query<{ stepped: boolean }>({
    name: 'commit reply',
    text: COMMIT_REPLY,
    values: [
      ...[step.correlation_id, step.from, step.page, step.state, step.more],
      ...[
        items.map(({ position }) => position),
        items.map(({ reference_id }) => reference_id),
        items.map(({ status }) => status),
        items.map(({ total }) => total),
        items.map(({ page_size }) => page_size),
        items.map(({ record_type }) => record_type),
        items.map(({ record_ids }) => (record_ids === null ? null : `{${record_ids.join(',')}}`)),
      ],
      ...[delivery?.id ?? null, delivery?.callback ?? null, delivery?.message_id ?? null],
      ...[delivery?.target ?? null, delivery?.encrypted ?? null, delivery?.body ?? null],
      ...[claim?.id ?? null, claim?.seconds ?? null, delivery?.page ?? null],
    ],
  })
  return rows[0]?.stepped === true
}

const COMMIT_REPLY = `with stepped as (
    update accepted_exchange set page = $3, state = $4, started_at = coalesce(started_at, now()),
      finished_at = case when $4 = 'replying' then null else now() end
    where correlation_id = $1 and page = $2 and state in ('accepted', 'replying')
    returning correlation_id, participant, registry
  ),
  items as (
    insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size,
      record_type, record_ids)
    select stepped.correlation_id, stepped.participant, item.position, item.reference_id, item.status, item.total,
      item.page_size, item.record_type, item.record_ids::bigint[]
    from stepped, unnest($6::integer[], $7::text[], $8::text[], $9::integer[], $10::integer[], $11::text[],
      $12::text[]) as item (position, reference_id, status, total, page_size, record_type, record_ids)
    on conflict do nothing
  ),
  made as (
    insert into delivery (id, participant, registry, correlation_id, callback, page, message_id, target, encrypted,
      body, state, next_attempt_at, claim, claimed_until, attempts)
    select $13::uuid, participant, registry, correlation_id, $14::text, $21::integer, $15::text, $16::text,
      $17::boolean, $18::bytea, case when $16::text is null then 'held' else 'pending' end,
      case when $16::text is not null then now() end, case when $16::text is not null then $19::uuid end,
      case when $16::text is not null then now() + make_interval(secs => $20) end,
      ($16::text is not null and $19::uuid is not null)::int
    from stepped where $13::uuid is not null
    returning participant, state, claim
  ),
  drained as (
    select drain_deliveries(participant, now()) from made where state = 'pending' and claim is null
  ),
  jobs as (
    select job.id from stepped, graphile_worker.add_job('process',
      json_build_object('correlation_id', stepped.correlation_id)) as job where $5
  )
  select exists (select from stepped) as stepped, (select count(*) from drained) + (select count(*) from jobs) as jobs`
