/** Writes down how an accepted exchange is answered: its items, and the delivery that carries a page of the answer. */

import type { Claim, NewDelivery } from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'
import { groupCommit, perPool } from '@rollcall/database/group-commit'
import type { Effect } from '@rollcall/database/transaction'
import { withTransaction } from '@rollcall/database/transaction'
import { insertDeliveriesFrom } from '@rollcall/delivery/store/deliveries/deliveries'
import type pg from 'pg'

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

/** A page of an answer, written under the claim of the run that made it. */
export interface ReplyStep {
  /** Of the row of the exchange, or of the chunk. */
  readonly id: string
  /** Of the run. */
  readonly claim: string
  /** The last page before it, 0 for none; in a chunk, of the chunk. */
  readonly from: number
  /** The last page with it: the same where nothing is sent. */
  readonly page: number
  readonly state: 'replying' | 'replied' | 'failed'
  readonly items: readonly NewItem[]
  readonly delivery: NewDelivery | null
  /** Given when the delivery is attempted right after; else the node that claims it attempts it. */
  readonly deliveryClaim: Claim | null
  /** What the operation writes besides, in the same transaction. */
  readonly effects?: readonly Effect[]
  /** Whether this run goes on with the next page; else the exchange is due again, where it has further pages. */
  readonly goesOn: boolean
}

/**
 * Writes all of a page in one statement, small pages of several exchanges together.
 * @returns false when the claim has ended: another run answers the exchange, and nothing is changed
 */
export async function commitReply({ pool }: Pick<Database, 'pool'>, step: ReplyStep): Promise<boolean> {
  const { effects = [] } = step
  if (effects.length > 0) return commitWithEffects(pool, step, effects)
  if (isSmall(step)) return small(pool).submit(step)
  const [committed] = await writeSteps(pool, [step])
  return committed === true
}

/** The page first: where the claim has ended, nothing else is written. */
function commitWithEffects(pool: pg.Pool, step: ReplyStep, effects: readonly Effect[]): Promise<boolean> {
  return withTransaction(pool, async (client) => {
    const [committed] = await writeSteps(client, [step])
    if (committed === true) for (const effect of effects) await effect(client)
    return committed === true
  })
}

/** Commits what the operation of a synchronous request writes, before its reply is sent. */
export async function commitEffects({ pool }: Pick<Database, 'pool'>, effects: readonly Effect[]): Promise<void> {
  if (effects.length === 0) return
  await withTransaction(pool, async (client) => {
    for (const effect of effects) await effect(client)
  })
}

/** Entries of a group wait for each other, and are in memory once more: neither is right for large ones. */
const SMALL = { items: 20, bytes: 65_536 }
const isSmall = ({ items, delivery }: ReplyStep): boolean =>
  items.length <= SMALL.items && (delivery?.body.length ?? 0) <= SMALL.bytes

/** There are never more than exchanges in work. */
const small = perPool((pool) =>
  groupCommit<ReplyStep, boolean>((steps) => writeSteps(pool, steps), { waiting: Infinity }),
)

/** @returns of each whether its claim still held */
async function writeSteps(pool: pg.Pool | pg.ClientBase, steps: readonly ReplyStep[]): Promise<readonly boolean[]> {
  const items = steps.flatMap(({ items }, at) => items.map((item) => ({ ...item, step: at + 1 })))
  const deliveries = steps.flatMap(({ delivery, deliveryClaim: claim }, at) =>
    delivery === null ? [] : [{ ...delivery, claim, step: at + 1 }],
  )
  const { rows } = await pool.query<{ step: number }>({
    name: 'commit replies',
    text: COMMIT_REPLIES,
    values: [
      ...columns(steps, ['id', 'claim', 'from', 'page', 'state', 'goesOn']),
      ...columns(items, ['step', 'position', 'reference_id', 'status', 'total', 'page_size', 'record_type']),
      items.map(({ record_ids }) => (record_ids === null ? null : `{${record_ids.join(',')}}`)),
      ...columns(deliveries, ['step', 'id', 'callback', 'message_id', 'target', 'encrypted', 'body']),
      deliveries.map(({ claim }) => claim?.id ?? null),
      deliveries.map(({ claim }) => claim?.seconds ?? null),
      deliveries.map(({ made }) => made?.grant ?? null),
      deliveries.map(({ made }) => made?.protection ?? null),
    ],
  })
  const committed = new Set(rows.map(({ step }) => step))
  return steps.map((_, at) => committed.has(at + 1))
}

const columns = <Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]))

// A page of a chunk is counted among the pages of the whole request: first those of all chunks with the number 1, then
// those with the number 2. Requests whose chunks are answered at the same time are locked in one order.
const COMMIT_REPLIES = `with stepped as (
    update accepted_exchange as exchange set page = step.page, state = step.state, runs = 0,
      claim = case when step.goes_on then exchange.claim end,
      claimed_until = case when step.goes_on then claimed_until end,
      due_at = case when step.goes_on then due_at else now() end,
      finished_at = case when step.state = 'replying' then null else now() end
    from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::integer[], $5::text[], $6::boolean[]) with ordinality
      as step (id, claim, before, page, state, goes_on, number)
    where exchange.correlation_id = step.id and exchange.claim = step.claim and exchange.page = step.before
      and exchange.state in ('accepted', 'replying')
    returning step.number::integer as step, coalesce(parent, exchange.correlation_id) as correlation_id, participant,
      registry, first_item, chunk, chunks, parent, exchange.state, exchange.page
  ),
  items as (
    insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size,
      record_type, record_ids)
    select correlation_id, participant, first_item + item.position, item.reference_id, item.status, item.total,
      item.page_size, item.record_type, item.record_ids::bigint[]
    from stepped join unnest($7::integer[], $8::integer[], $9::text[], $10::text[], $11::integer[], $12::integer[],
      $13::text[], $14::text[]) as item (step, position, reference_id, status, total, page_size, record_type, record_ids)
      using (step)
    on conflict do nothing
  ),
  made as (${insertDeliveriesFrom(
    `stepped join unnest($15::integer[], $16::uuid[], $17::text[], $18::text[], $19::text[],
      $20::boolean[], $21::bytea[], $22::uuid[], $23::float8[], $24::integer[], $25::bigint[]) as new (step, id,
      callback, message_id, target, encrypted, body, claim, seconds, granted, protection) using (step)`,
    '(page - 1) * chunks + chunk + 1',
  )}),
  parents as (
    select correlation_id from accepted_exchange
    where correlation_id in (select parent from stepped where state <> 'replying')
    order by correlation_id for update
  ),
  closed as (
    update accepted_exchange set open_chunks = open_chunks - done.count,
      state = case when done.failed or state = 'failed' then 'failed' when open_chunks = done.count then 'replied'
        else 'replying' end,
      finished_at = case when open_chunks = done.count then now() end
    from parents join (
      select parent, count(*)::integer as count, bool_or(state = 'failed') as failed
      from stepped where state <> 'replying' group by parent
    ) as done on done.parent = parents.correlation_id
    where accepted_exchange.correlation_id = parents.correlation_id
  )
  select step from stepped`
