/** Stores the answer to an accepted exchange: its items, and the delivery of each page. */

import type { DeliveryClaim, NewDelivery } from '@rollcall/core/model/delivery'
import type { RecordId } from '@rollcall/core/model/records'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { Database } from '@rollcall/database/database'
import { type JointWrite, type ParameterSql, separateWriteParameterSql } from '@rollcall/database/joint-write'
import { toStoredIdArrays } from '@rollcall/database/record-ids'
import type { ReplyEffect } from '@rollcall/database/transaction'
import { withTransaction } from '@rollcall/database/transaction'
import { insertDeliveriesSql } from '@rollcall/delivery/store/deliveries/deliveries'
import type pg from 'pg'

/** An answered item to be stored, with the found records if it has further pages. */
export interface NewAnsweredItem {
  /** The position in the request, or in the chunk, from 0. */
  readonly position: number
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  /** The number of records found; null when none were searched for. */
  readonly total: number | null
  readonly page_size: number | null
  readonly record_type: string | null
  /** The ids of all found records; null when the item has no further page. */
  readonly record_ids: readonly RecordId[] | null
}

/**
 * A page of an answer, or the end of an exchange without a further page. It is written only while the exchange has the claim
 * under which the page was made.
 */
export interface PageToCommit {
  /** The row id of the exchange or chunk. */
  readonly id: string
  /** The id of the claim under which the run answers the exchange. */
  readonly claim: string
  /** The number of the last page that the row has before this write, 0 for none. Each chunk counts its own pages. */
  readonly from: number
  /** The number of this page: `from` + 1; or equal to `from` when no page is sent, as for an exchange that is given up. */
  readonly page: number
  readonly state: 'replying' | 'replied' | 'failed'
  readonly items: readonly NewAnsweredItem[]
  readonly delivery: NewDelivery | null
  /** Set when this node attempts the delivery at once; null: a node that claims it attempts it, or there is no delivery. */
  readonly deliveryClaim: DeliveryClaim | null
  /** The checks and writes of the operation, in the transaction of the page. */
  readonly effects?: readonly ReplyEffect[]
  /** True when this run continues with the next page; otherwise the exchange is due again if it has further pages. */
  readonly goesOn: boolean
}

/**
 * Writes a page and runs its effects, in one transaction.
 * @returns false when the claim has ended: another run answers the exchange, and nothing was changed
 */
export function commitPage({ pool }: Pick<Database, 'pool'>, step: PageToCommit): Promise<boolean> {
  return withTransaction(pool, async (client) => {
    const isWritten = await writePageInTransaction(client, step)
    if (isWritten) for (const effect of step.effects ?? []) await effect(client)
    return isWritten
  })
}

/** Commits the writes of a synchronous operation before its reply is sent. */
export async function commitReplyEffects({ pool }: Pick<Database, 'pool'>, effects: readonly ReplyEffect[]): Promise<void> {
  if (effects.length === 0) return
  await withTransaction(pool, async (client) => {
    for (const effect of effects) await effect(client)
  })
}

/**
 * The most items, and the most bytes of a callback's body, of a page that is written in one statement with other pages: a larger
 * page would keep the others waiting.
 */
const SMALL_PAGE_LIMITS = { items: 20, bytes: 65_536 }

/** True when a page may be written in one statement with others: small, without effects, and of no chunk. */
export const isSmallPage = (
  { items, delivery, effects = [] }: PageToCommit,
  { parent }: { readonly parent: string | null },
): boolean =>
  parent === null &&
  effects.length === 0 &&
  items.length <= SMALL_PAGE_LIMITS.items &&
  (delivery?.body.length ?? 0) <= SMALL_PAGE_LIMITS.bytes

/** Writes a page in the transaction of `client`; false: the claim has ended, and nothing was written. */
async function writePageInTransaction(client: pg.ClientBase, step: PageToCommit): Promise<boolean> {
  const { rows } = await client.query({ name: 'commit reply', text: COMMIT_PAGE, values: pageValues([step]) })
  return rows.length > 0
}

function pageValues(pages: readonly PageToCommit[]): unknown[] {
  const items = pages.flatMap(({ items }, at) => items.map((item) => ({ ...item, step: at + 1 })))
  const deliveries = pages.flatMap(({ delivery, deliveryClaim: claim }, at) =>
    delivery === null ? [] : [{ ...delivery, claim, step: at + 1 }],
  )
  return [
    ...groupValuesByColumn(pages, ['id', 'claim', 'from', 'page', 'state', 'goesOn']),
    ...groupValuesByColumn(items, ['step', 'position', 'reference_id', 'status', 'total', 'page_size', 'record_type']),
    ...groupValuesByColumn(
      items.map(({ record_ids }) => (record_ids === null ? NO_RECORD_IDS : toStoredIdArrays(record_ids))),
      ['record_ids', 'record_keys'],
    ),
    ...groupValuesByColumn(deliveries, ['step', 'id', 'callback', 'message_id', 'target', 'encrypted', 'body']),
    deliveries.map(({ claim }) => claim?.id ?? null),
    deliveries.map(({ claim }) => claim?.seconds ?? null),
    deliveries.map(({ disclosedUnder }) => disclosedUnder?.grant ?? null),
    deliveries.map(({ disclosedUnder }) => disclosedUnder?.protection ?? null),
  ]
}

const NO_RECORD_IDS = { record_ids: null, record_keys: null }

/** Makes SQL for a `from` clause: the pages to write, from the parameters of the statement. */
const pageRowsSql = (
  parameter: ParameterSql,
): string => `unnest(${parameter(0)}::uuid[], ${parameter(1)}::uuid[], ${parameter(2)}::integer[],
    ${parameter(3)}::integer[], ${parameter(4)}::text[], ${parameter(5)}::boolean[]) with ordinality
    as step (id, claim, before, page, state, goes_on, number)`

/** SQL condition on a page to write (`step`): its exchange is not finished, still has this claim, and got no page meanwhile. */
const HOLDS_CLAIM_SQL = `exchange.correlation_id = step.id and exchange.claim = step.claim and exchange.page = step.before
  and exchange.state in ('accepted', 'replying')`

// The deliveries of a divided request have page numbers of the whole request: first come the first pages of all chunks, then
// their second pages. `stepped_parents` locks divided requests in the order of their ids, so that statements do not deadlock.
const writePagesSql = (parameter: ParameterSql, condition: string): string => `stepped as (
    update accepted_exchange as exchange set page = step.page, state = step.state, runs = 0,
      claim = case when step.goes_on then exchange.claim end,
      claimed_until = case when step.goes_on then claimed_until end,
      due_at = case when step.goes_on then due_at else now() end,
      finished_at = case when step.state = 'replying' then null else now() end
    from ${pageRowsSql(parameter)}
    where ${HOLDS_CLAIM_SQL} and ${condition}
    returning step.number::integer as step, coalesce(parent, exchange.correlation_id) as correlation_id, participant,
      registry, first_item, chunk, chunks, parent, exchange.state, exchange.page
  ),
  stepped_items as (
    insert into exchange_item (correlation_id, participant, position, reference_id, status, total, page_size,
      record_type, record_ids, record_keys)
    select correlation_id, participant, first_item + item.position, item.reference_id, item.status, item.total,
      item.page_size, item.record_type, item.record_ids::bigint[], item.record_keys::text[]
    from stepped join unnest(${[6, 7, 8, 9, 10, 11, 12, 13, 14].map((place, at) => `${parameter(place)}::${ITEM_COLUMN_TYPES[at]}[]`).join()})
      as item (step, position, reference_id, status, total, page_size, record_type, record_ids, record_keys)
      using (step)
    on conflict do nothing
  ),
  stepped_deliveries as (${insertDeliveriesSql(
    `stepped join unnest(${DELIVERY_COLUMN_TYPES.map((type, at) => `${parameter(15 + at)}::${type}[]`).join()}) as new (step, id,
      callback, message_id, target, encrypted, body, claim, seconds, granted, protection) using (step)`,
    '(page - 1) * chunks + chunk + 1',
  )}),
  stepped_parents as (
    select correlation_id from accepted_exchange
    where correlation_id in (select parent from stepped where state <> 'replying')
    order by correlation_id for update
  ),
  stepped_chunks as (
    update accepted_exchange set open_chunks = open_chunks - done.count,
      state = case when done.failed or state = 'failed' then 'failed' when open_chunks = done.count then 'replied'
        else 'replying' end,
      finished_at = case when open_chunks = done.count then now() end
    from stepped_parents join (
      select parent, count(*)::integer as count, bool_or(state = 'failed') as failed
      from stepped where state <> 'replying' group by parent
    ) as done on done.parent = stepped_parents.correlation_id
    where accepted_exchange.correlation_id = stepped_parents.correlation_id
  )`

const ITEM_COLUMN_TYPES = ['integer', 'integer', 'text', 'text', 'integer', 'integer', 'text', 'text', 'text']
const DELIVERY_COLUMN_TYPES = [
  'integer',
  'uuid',
  'text',
  'text',
  'text',
  'boolean',
  'bytea',
  'uuid',
  'float8',
  'integer',
  'bigint',
]

const COMMIT_PAGE = `with ${writePagesSql(separateWriteParameterSql, 'true')} select step from stepped`

/** Writes pages in the statement of their audit entries. A page whose exchange is locked by others is not written. */
export const PAGE_JOINT_WRITE: JointWrite<PageToCommit> = {
  name: 'replies',
  held: (parameter) => `replies_held as (
    select step.number from accepted_exchange as exchange join ${pageRowsSql(parameter)} on ${HOLDS_CLAIM_SQL}
    for update of exchange skip locked
  )`,
  written: (parameter) => writePagesSql(parameter, '(select held from joint)'),
  values: pageValues,
}
