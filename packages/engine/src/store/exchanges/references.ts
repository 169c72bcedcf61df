/**
 * The items of accepted exchanges by reference_id, stored when a request is accepted, so that a question need not read
 * requests. Reference_ids are stored in clear, like transaction_ids and message_ids (docs/security.md).
 */

import type { Database } from '@rollcall/database/database'
import { isStorable } from '@rollcall/database/text'
import type { AcceptedExchange, Asker } from './accepted-exchanges.ts'

/** One item of an exchange. */
export interface ItemReference {
  /** From 0. */
  readonly position: number
  readonly reference_id: string
}

/** A list for `storeReferencesOf`. A text that PostgreSQL cannot store is replaced by '', which no item has. */
export const storableReferences = (reference_ids: readonly string[]): string =>
  JSON.stringify(reference_ids.map((reference_id) => (isStorable(reference_id) ? reference_id : '')))

/**
 * SQL that stores the references of exchanges.
 * @param exchanges rows with correlation_id, participant, registry and received_at
 * @param list their column with the result of `storableReferences`
 * @param id their column with the correlation_id
 */
export const storeReferencesOf = (exchanges: string, list: string, id = 'correlation_id'): string =>
  `insert into exchange_reference (correlation_id, position, participant, registry, reference_id, received_at)
    select ${id}, item.number - 1, participant, registry, item.reference_id, received_at
    from ${exchanges} cross join lateral json_array_elements_text(${list}::json) with ordinality
      as item (reference_id, number)
    on conflict do nothing`

/**
 * The exchange of the asker with most of these items, each in the exchange where it was sent last; the newest of
 * several.
 */
export async function findByReferences(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, operation }: Asker,
  reference_ids: readonly string[],
): Promise<string | null> {
  const { rows } = await pool.query<{ correlation_id: string }>({
    name: 'find by references',
    text: `select latest.correlation_id
      from (select distinct reference_id from unnest($4::text[]) as given (reference_id)) as asked
      cross join lateral (
        select correlation_id, item.received_at
        from exchange_reference as item join accepted_exchange as exchange using (correlation_id)
        where item.participant = $1 and item.registry = $2 and item.reference_id = asked.reference_id collate "C"
          and exchange.operation = $3
        order by item.received_at desc limit 1
      ) as latest
      group by correlation_id order by count(*) desc, max(received_at) desc limit 1`,
    values: [participant, registry, operation, reference_ids.filter(isStorable)],
  })
  return rows[0]?.correlation_id ?? null
}

/** The items of an exchange in their order: all, or those of these reference_ids. */
export async function listReferences(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  reference_ids: readonly string[] | null,
): Promise<readonly ItemReference[]> {
  const { rows } = await pool.query<ItemReference>({
    name: 'list references',
    text: `select position, reference_id from exchange_reference
      where correlation_id = $1 and ($2::text[] is null or reference_id = any($2)) order by position`,
    values: [correlation_id, reference_ids === null ? null : reference_ids.filter(isStorable)],
  })
  return rows
}

/** Exchanges whose references are not stored, the newest first: an earlier version accepted them. */
export async function findUnreferenced(
  { pool }: Pick<Database, 'pool'>,
  limit: number,
  participant: number | null = null,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ correlation_id: string }>({
    name: 'find unreferenced exchanges',
    text: `select correlation_id from accepted_exchange
      where not references_stored and ($1::integer is null or participant = $1) order by received_at desc limit $2`,
    values: [participant, limit],
  })
  return rows.map(({ correlation_id }) => correlation_id)
}

/** Stores the references of an exchange, once, however many do so. */
export async function storeReferences(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  reference_ids: readonly string[],
): Promise<void> {
  await pool.query({
    name: 'store references',
    text: `with exchange as (
        update accepted_exchange set references_stored = true where correlation_id = $1 returning *
      )
      ${storeReferencesOf('exchange', '$2')}`,
    values: [correlation_id, storableReferences(reference_ids)],
  })
}

/**
 * The reference_ids of a chunk that are also in earlier chunks of its request. A reference_id names one item of the
 * whole request.
 */
export async function findEarlierReferences(
  { pool }: Pick<Database, 'pool'>,
  { correlation_id, first_item, items }: Pick<AcceptedExchange, 'correlation_id' | 'first_item' | 'items'>,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ reference_id: string }>({
    name: 'find earlier references',
    // Each row is read once, whatever the statistics of a newly filled table say: a join was planned as ten thousand
    // scans.
    text: `select reference_id from exchange_reference where correlation_id = $1 and position < $3
      group by reference_id having min(position) < $2 and max(position) >= $2`,
    values: [correlation_id, first_item, first_item + items],
  })
  return rows.map(({ reference_id }) => reference_id)
}
