/** Reads accepted exchanges, for the node that answers them and for status questions. */
import type { RecordId } from '@rollcall/core/model/records'
import type { Database } from '@rollcall/database/database'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { isTextStorable } from '@rollcall/database/text'
import { findSentPage, type StoredAnswerPage } from '@rollcall/delivery/store/deliveries/sent-pages'

/** An accepted exchange, and how far its answer has come. */
export interface AcceptedExchange {
  readonly participant: number
  readonly registry: number
  readonly operation: string
  readonly transaction_id: string
  readonly sender_uri: string | null
  readonly encrypted: boolean
  /** The number of items in the request, or in the chunk. */
  readonly items: number
  /** True when `exchange_reference` has the reference_ids of its items; false for exchanges that an earlier version accepted. */
  readonly references_stored: boolean
  /** For a chunk: the row id of the request that was divided. Otherwise null. */
  readonly parent: string | null
  /** For a divided request: the number of chunks that are not answered. Null: it was not divided. */
  readonly open_chunks: number | null
  /** The row id: the correlation_id, or the id of a chunk, which is never sent to anybody. */
  readonly id: string
  /** The correlation_id of the request; its chunks have the same correlation_id. */
  readonly correlation_id: string
  /** For a chunk: the position of its first item in the whole request. Otherwise 0. */
  readonly first_item: number
  /** Header and message, encrypted for `requestBodyBinding`; null: they are large (`findEncryptedRequest`), or not stored. */
  readonly request: Buffer | null
  /** The bytes of header and message in clear. */
  readonly request_bytes: number
  readonly state: 'accepted' | 'replying' | 'replied' | 'failed'
  /** The number of the last page of the answer that has a delivery; 0 for none. */
  readonly page: number
  readonly received_at: Date
  readonly started_at: Date | null
}

/** One further page of the records that an item of a request found. */
export interface PersistedItemPage {
  /** The position of the item in the request, or in the chunk. */
  readonly position: number
  readonly page_size: number
  /** The number of records in all pages. */
  readonly total: number
  /** The ids of the records of this page, in order. */
  readonly record_ids: readonly RecordId[]
}

/** SQL for a `from` clause: the columns of requests that the delivery of answers needs (`AcceptedRequestsSql`). */
export const ANSWERED_REQUESTS_SQL = '(select correlation_id, operation, sender_uri from accepted_exchange)'

/** The most bytes of a request that is read with its exchange; `findEncryptedRequest` reads a larger one. */
export const SMALL_REQUEST_BYTES = 262_144

/** The columns of an `AcceptedExchange` in SQL, for a table or alias `accepted_exchange`. */
export const ACCEPTED_COLUMNS = `correlation_id as id, coalesce(parent, correlation_id) as correlation_id, participant, registry,
  operation, transaction_id, sender_uri, encrypted, items, references_stored, parent, first_item, open_chunks,
  case when coalesce(request_bytes, octet_length(request)) <= ${SMALL_REQUEST_BYTES} then request end as request,
  coalesce(request_bytes, octet_length(request), 0) as request_bytes, state, page, received_at, started_at`

/** Finds an accepted request by its correlation_id; null: none, or it was deleted. Simultaneous calls share one statement. */
export async function findAcceptedExchange(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<AcceptedExchange | null> {
  return acceptedExchangeFinder(pool).submit(correlation_id)
}

/**
 * For each pool, puts simultaneous calls of `findAcceptedExchange` into one statement. The number of waiting calls has no limit,
 * because they come from requests and runs in progress, whose number is limited.
 */
const acceptedExchangeFinder = oncePerPool((pool) =>
  createGroupCommit<string, AcceptedExchange | null>(
    async (ids) => {
      const { rows } = await pool.query<AcceptedExchange>({
        name: 'find accepted exchanges',
        text: `select ${ACCEPTED_COLUMNS} from accepted_exchange where correlation_id = any($1::uuid[])`,
        values: [ids],
      })
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => found.get(id.toLowerCase()) ?? null)
    },
    { waiting: Infinity },
  ),
)

/** Reads the encrypted request of a row, also a large one; null when the row stores no request, or was deleted. */
export async function findEncryptedRequest({ pool }: Pick<Database, 'pool'>, id: string): Promise<Buffer | null> {
  const { rows } = await pool.query<{ request: Buffer | null }>({
    name: 'find accepted request',
    text: 'select request from accepted_exchange where correlation_id = $1',
    values: [id],
  })
  return rows[0]?.request ?? null
}

/**
 * Finds the items of an exchange, or of one of its chunks, that have records on this page of the answer, sorted by position.
 * @param page the number of the page, from 2
 */
export async function findPersistedPage(
  { pool }: Pick<Database, 'pool'>,
  { correlation_id, first_item, items }: Pick<AcceptedExchange, 'correlation_id' | 'first_item' | 'items'>,
  page: number,
): Promise<readonly PersistedItemPage[]> {
  const { rows } = await pool.query<PersistedItemPage>({
    name: 'find persisted page',
    text: `select position - $3 as position, page_size, total,
        coalesce(record_keys[($2 - 1) * page_size + 1 : $2 * page_size],
          record_ids[($2 - 1) * page_size + 1 : $2 * page_size]::text[]) as record_ids
      from exchange_item where correlation_id = $1 and record_ids is not null and total > ($2 - 1) * page_size
        and position >= $3 and position < $3 + $4
      order by position`,
    values: [correlation_id, page, first_item, Math.max(items, 1)],
  })
  return rows
}

/** An earlier exchange that a status question is about. */
export interface ExchangeAskedAbout {
  readonly correlation_id: string
  readonly transaction_id: string
  /** The accepted exchange; null: the request was synchronous. Then only enrolment updates have a stored answer, the receipt. */
  readonly accepted: AcceptedExchange | null
  /** The delivery of the first page of the answer, with the encrypted body; null: there is none. */
  readonly first: StoredAnswerPage | null
}

/** The exchanges that a status question can find: those of its sender with one registry, of one operation. */
export interface StatusQuestionScope {
  /** The `Participant.id` of the sender of the status question. */
  readonly participant: number
  /** The `Registry.id` of the registry that got the status question. */
  readonly registry: number
  /** The name of the operation that is asked about. */
  readonly operation: string
}

/** The most messages with one transaction_id, status questions included, among which the exchange is searched for. */
const MOST_MESSAGES_OF_ONE_ID = 10_000

/** Finds the newest exchange of the asker with one of the given transaction_ids or correlation_ids. */
export async function findExchangeAskedAbout(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, operation }: StatusQuestionScope,
  by: { readonly transaction_ids: readonly string[] } | { readonly correlation_ids: readonly string[] },
): Promise<ExchangeAskedAbout | null> {
  const [asked, values] =
    'transaction_ids' in by
      ? ['unnest($4::text[]) as asked (id)', by.transaction_ids.filter(isTextStorable)]
      : ['unnest($4::uuid[]) as asked (id)', by.correlation_ids.filter(isUuid)]
  const named = 'transaction_ids' in by ? 'transaction_id = asked.id collate "C"' : 'correlation_id = asked.id'
  const { rows } = await pool.query<{ correlation_id: string; transaction_id: string }>({
    text: `select correlation_id, transaction_id from ${asked} cross join lateral (
        select * from (
          select * from exchange where participant = $1 and transaction_id is not null and ${named}
          order by received_at desc limit ${MOST_MESSAGES_OF_ONE_ID}
        ) as named where registry = $2 and operation = $3 order by received_at desc limit 1
      ) as newest
      order by received_at desc limit 1`,
    values: [participant, registry, operation, values],
  })
  const [found] = rows
  if (found === undefined) return null
  const { correlation_id } = found
  const accepted = await findAcceptedExchange({ pool }, correlation_id)
  return { ...found, accepted, first: accepted === null ? null : await findSentPage({ pool }, correlation_id, 1) }
}

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isUuid = (text: string): boolean => UUID_PATTERN.test(text)

/** Finds the status of each answered item of an exchange, by its position. */
export async function findItemStatuses(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ position: number; status: string }>({
    name: 'find item statuses',
    text: 'select position, status from exchange_item where correlation_id = $1',
    values: [correlation_id],
  })
  return new Map(rows.map(({ position, status }) => [position, status]))
}

/** Finds the position in the request, from 0, of the first item of each chunk of an exchange, in order. */
export async function findChunkStartPositions(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<readonly number[]> {
  const { rows } = await pool.query<{ first_item: number }>({
    name: 'find chunk starts',
    text: 'select first_item from accepted_exchange where parent = $1 order by first_item',
    values: [correlation_id],
  })
  return rows.map(({ first_item }) => first_item)
}

/** Reads the stored requests of an exchange, encrypted: one, or one for each chunk, in the order of their items. */
export async function listEncryptedRequests(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  limit: number,
): Promise<readonly { readonly id: string; readonly request: Buffer }[]> {
  const { rows } = await pool.query<{ id: string; request: Buffer }>(
    `select correlation_id as id, request from accepted_exchange
      where (correlation_id = $1 or parent = $1) and request is not null order by first_item limit $2`,
    [correlation_id, limit],
  )
  return rows
}
