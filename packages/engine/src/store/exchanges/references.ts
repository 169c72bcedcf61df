/**
 * Stores the reference_ids of the items of accepted exchanges, so that a status question need not read requests. They
 * are stored in clear, like transaction_ids and message_ids (docs/security.md).
 */

import type { Database } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import type { AcceptedExchange, StatusQuestionScope } from './accepted-exchanges.ts'

/** The reference_id of an item of an exchange, with the item's position. */
export interface ItemReference {
  /** The position of the item in the request, from 0. */
  readonly position: number
  readonly reference_id: string
}

/** The JSON list for `storeReferencesSql`. A text that PostgreSQL cannot store becomes '', which is never valid. */
export const storableReferences = (reference_ids: readonly string[]): string =>
  JSON.stringify(reference_ids.map((reference_id) => (isTextStorable(reference_id) ? reference_id : '')))

/**
 * SQL that stores the references of exchanges.
 * @param exchanges rows with correlation_id, participant, registry and received_at
 * @param list the column of these rows with the result of `storableReferences`
 * @param id the column with the correlation_id
 */
export const storeReferencesSql = (exchanges: string, list: string, id = 'correlation_id'): string =>
  `insert into exchange_reference (correlation_id, position, participant, registry, reference_id, received_at)
    select ${id}, item.number - 1, participant, registry, item.reference_id, received_at
    from ${exchanges} cross join lateral json_array_elements_text(${list}::json) with ordinality
      as item (reference_id, number)
    on conflict do nothing`

/**
 * Finds the asker's exchange with the largest number of these reference_ids; of several, the newest. If several exchanges of the
 * asker have the same reference_id, it counts only for the newest of these exchanges.
 * @returns the correlation_id of the exchange; null when there is none
 */
export async function findExchangeByReferences(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, operation }: StatusQuestionScope,
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
    values: [participant, registry, operation, reference_ids.filter(isTextStorable)],
  })
  return rows[0]?.correlation_id ?? null
}

/** Lists the items of an exchange in order: all, or those with these reference_ids. */
export async function listReferences(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  reference_ids: readonly string[] | null,
): Promise<readonly ItemReference[]> {
  const { rows } = await pool.query<ItemReference>({
    name: 'list references',
    text: `select position, reference_id from exchange_reference
      where correlation_id = $1 and ($2::text[] is null or reference_id = any($2)) order by position`,
    values: [correlation_id, reference_ids === null ? null : reference_ids.filter(isTextStorable)],
  })
  return rows
}

/** Finds exchanges whose references are not stored, the newest first. An earlier version accepted them. */
export async function findExchangesWithoutReferences(
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

/** Stores the references of an exchange. Several nodes may do so at once; they are stored once. */
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
      ${storeReferencesSql('exchange', '$2')}`,
    values: [correlation_id, storableReferences(reference_ids)],
  })
}

/**
 * Finds the reference_ids of a chunk that earlier chunks of its request have too. A reference_id must be unique in the
 * whole request.
 */
export async function findRepeatedReferenceIds(
  { pool }: Pick<Database, 'pool'>,
  { correlation_id, first_item, items }: Pick<AcceptedExchange, 'correlation_id' | 'first_item' | 'items'>,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ reference_id: string }>({
    name: 'find earlier references',
    // The statement groups rows and has no join, so that each row is read once. With the statistics of a newly filled table,
    // PostgreSQL may plan a join as one scan for each item.
    text: `select reference_id from exchange_reference where correlation_id = $1 and position < $3
      group by reference_id having min(position) < $2 and max(position) >= $2`,
    values: [correlation_id, first_item, first_item + items],
  })
  return rows.map(({ reference_id }) => reference_id)
}
