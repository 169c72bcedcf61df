/** Writes down how an accepted exchange is answered: its items, and the delivery that carries a page of the answer. */
import type pg from 'pg'
import type { Claim, NewDelivery } from '../../model/delivery.ts'
import type { Database } from '../db/database.ts'
import { groupCommit } from '../db/group-commit.ts'
import { perPool } from '../db/per-pool.ts'

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
 * Writes all of a step in one statement, small steps of several exchanges together.
 * @returns false when it was taken already, by a run before this one: then nothing is changed
 */
export async function commitReply({ pool }: Pick<Database, 'pool'>, step: ReplyStep): Promise<boolean> {
  if (isSmall(step)) return small(pool).submit(step)
  const [taken] = await writeSteps(pool, [step])
  return taken === true
}

/** Entries of a group wait for each other, and are in memory once more: neither is right for large ones. */
const SMALL = { items: 20, bytes: 65_536 }
const isSmall = ({ items, delivery }: ReplyStep): boolean =>
  items.length <= SMALL.items && (delivery?.body.length ?? 0) <= SMALL.bytes

/** There are never more than jobs in work. */
const small = perPool((pool) =>
  groupCommit<ReplyStep, boolean>((steps) => writeSteps(pool, steps), { waiting: Infinity }),
)

async function writeSteps(pool: pg.Pool, steps: readonly ReplyStep[]): Promise<readonly boolean[]> {
  const taken = new Set<ReplyStep>()
  let left = steps
  // Of one exchange one at a time: which of two the statement would take is not said.
  while (left.length > 0) {
    const byExchange = new Map(left.map((step) => [step.correlation_id, step]))
    const now = [...byExchange.values()]
    for (const correlation_id of await writeOnce(pool, now)) {
      const step = byExchange.get(correlation_id)
      if (step !== undefined) taken.add(step)
    }
    left = left.filter((step) => !now.includes(step))
  }
  return steps.map((step) => taken.has(step))
}

/** @returns the exchanges whose steps were taken */
async function writeOnce(pool: pg.Pool, steps: readonly ReplyStep[]): Promise<readonly string[]> {
  const items = steps.flatMap(({ correlation_id, items }) =>
    items.map((item) => ({ ...item, correlation_id })),
  )
  const deliveries = steps.flatMap(({ delivery, claim, correlation_id }) =>
    delivery === null ? [] : [{ ...delivery, claim, correlation_id }],
  )
  const { rows } = await pool.query<{ correlation_id: string }>({
    name: 'commit replies',
    text: COMMIT_REPLIES,
    values: [
      ...columns(steps, ['correlation_id', 'from', 'page', 'state', 'more']),
      ...columns(items, ['correlation_id', 'position', 'reference_id', 'status', 'total', 'page_size']),
      items.map(({ record_type }) => record_type),
      items.map(({ record_ids }) => (record_ids === null ? null : `{${record_ids.join(',')}}`)),
      ...columns(deliveries, ['correlation_id', 'id', 'callback', 'page', 'message_id', 'target']),
      ...columns(deliveries, ['encrypted', 'body']),
      deliveries.map(({ claim }) => claim?.id ?? null),
      deliveries.map(({ claim }) => claim?.seconds ?? null),
    ],
  })
  return rows.map(({ correlation_id }) => correlation_id)
}

const columns = <Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]))

// Participants in one order: each has a lock while its job is made sure of.
const COMMIT_REPLIES = `with stepped as (
    update accepted_exchange as exchange set page = step.page, state = step.state,
      started_at = coalesce(exchange.started_at, now()),
      finished_at = case when step.state = 'replying' then null else now() end
    from unnest($1::uuid[], $2::integer[], $3::integer[], $4::text[], $5::boolean[])
      as step (correlation_id, before, page, state, more)
    where exchange.correlation_id = step.correlation_id and exchange.page = step.before
      and exchange.state in ('accepted', 'replying')
    returning exchange.correlation_id, exchange.participant, exchange.registry, step.more
  ),
  items as (
    insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size,
      record_type, record_ids)
    select stepped.correlation_id, stepped.participant, item.position, item.reference_id, item.status, item.total,
      item.page_size, item.record_type, item.record_ids::bigint[]
    from stepped join unnest($6::uuid[], $7::integer[], $8::text[], $9::text[], $10::integer[], $11::integer[],
      $12::text[], $13::text[]) as item (correlation_id, position, reference_id, status, total, page_size,
      record_type, record_ids) using (correlation_id)
    on conflict do nothing
  ),
  made as (
    insert into delivery (id, participant, registry, correlation_id, callback, page, message_id, target, encrypted,
      body, state, next_attempt_at, claim, claimed_until, attempts)
    select new.id, stepped.participant, stepped.registry, correlation_id, new.callback, new.page, new.message_id,
      new.target, new.encrypted, new.body, case when new.target is null then 'held' else 'pending' end,
      case when new.target is not null then now() end, case when new.target is not null then new.claim end,
      case when new.target is not null then now() + make_interval(secs => new.seconds) end,
      (new.target is not null and new.claim is not null)::int
    from stepped join unnest($14::uuid[], $15::uuid[], $16::text[], $17::integer[], $18::text[], $19::text[],
      $20::boolean[], $21::bytea[], $22::uuid[], $23::float8[]) as new (correlation_id, id, callback, page,
      message_id, target, encrypted, body, claim, seconds) using (correlation_id)
    returning participant, state, claim
  ),
  waiting as (
    select distinct participant from made where state = 'pending' and claim is null order by participant
  ),
  drained as (select drain_deliveries(participant, now()) from waiting),
  jobs as (
    select job.id from stepped, graphile_worker.add_job('process',
      json_build_object('correlation_id', stepped.correlation_id)) as job where stepped.more
  )
  select correlation_id, (select count(*) from drained) + (select count(*) from jobs) as jobs from stepped`
