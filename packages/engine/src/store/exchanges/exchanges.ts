/**
 * Stores which messages were received, by participant and message_id: one row for each exchange, written before its
 * answer is sent (D27). A message that is refused in steps 1 to 5 of `exchange/receive.ts`, such as for its signature, has none.
 */

import type { DeliveryClaim } from '@rollcall/core/model/delivery'
import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { createOneRowPerKeyStore, LEAST_LARGE_ENTRY_BYTES } from '@rollcall/database/group-commit'
import { type JointWrite, type ParameterSql, separateWriteParameterSql } from '@rollcall/database/joint-write'
import { WORK_CHANNEL } from '@rollcall/database/queue'
import { ACCEPTED_DAY, countMessagesSql } from '@rollcall/participants/store/day-counts'
import { storableReferences, storeReferencesSql } from './references.ts'

/** A received message, to be stored before its answer is sent. */
export interface NewExchange {
  /** The UUID for the exchange. It is not used if an equal message is stored already. */
  readonly correlation_id: string
  /** The `Participant.id` of the sender. */
  readonly participant: number
  /** The message_id of the header, of any length. */
  readonly message_id: string
  /** The 32 bytes of `exchangeFingerprint`. */
  readonly fingerprint: Buffer
  /** The `Registry.id` of the receiving registry. */
  readonly registry: number
  /** The name of the requested operation. */
  readonly operation: string
  /** The transaction_id, of 1 to 99 characters; null when the message has none that can be stored. */
  readonly transaction_id: string | null
  /** Milliseconds since the work on the message began, by which `received_at` is dated back; absent: 0. */
  readonly age?: number
  /** Set when the message is answered later: it is put in the queue in the statement that stores it. */
  readonly accepted?: AcceptedRequestMembers
}

/** The members that are stored of a request that is answered later, besides those of every message. */
export interface AcceptedRequestMembers {
  /**
   * The checked address that the request names for its answer; null when it names none. The answer then goes to the participant's
   * own address. If the participant has none, the answer is only stored for a status question.
   */
  readonly sender_uri: string | null
  /** True when the message was encrypted. */
  readonly encrypted: boolean
  /** The reference_id of each item in order; empty when the message is no batch. */
  readonly reference_ids: readonly string[]
  /** One chunk, or several for a large batch. */
  readonly chunks: readonly NewChunk[]
  /** Set when the accepting node claims the request at once; null or absent: it waits for a node that claims it. */
  readonly claim?: DeliveryClaim | null
}

/** A whole request, or a part of a large batch that is answered alone. */
export interface NewChunk {
  /** A UUID: the correlation_id if there is one chunk, otherwise an id of its own. */
  readonly id: string
  /** The header and message, encrypted for the `requestBodyBinding` of the id. */
  readonly request: Buffer
  /** The bytes of header and message in clear. */
  readonly request_bytes: number
  /** The number of items in this chunk; 1 when the message is no batch. */
  readonly items: number
}

/** The result of `remember`: whether the message was received before. */
export interface KnownOrNewExchange {
  /** For `same`, the correlation_id of the message that came first; otherwise that of the given exchange. */
  readonly correlation_id: string
  /**
   * `new`: no message with this message_id was received before. `same`: this message was. `different`: a message with the same
   * message_id and other content was.
   */
  readonly known: 'new' | 'same' | 'different'
}

/** Remembers in the database which messages were received. */
export interface ReceivedMessageStore {
  /**
   * Stores a message, and says whether it is the first with its participant and message_id. Of equal messages at the
   * same time, at most one is `new`. The row is on disk when the promise resolves. If the database does not answer, or too many
   * messages wait, the promise rejects with an error for which `isUnavailable` is true; then the message must not be answered.
   */
  remember(exchange: NewExchange): Promise<KnownOrNewExchange>
  /** Returns `same` or `different` when a message with this message_id is stored; null when none is. It stores nothing. */
  known(
    exchange: Pick<NewExchange, 'participant' | 'message_id' | 'fingerprint' | 'correlation_id'>,
  ): Promise<KnownOrNewExchange | null>
}

/** The fingerprint and the correlation_id of a message. */
interface FingerprintAndCorrelationId {
  readonly fingerprint: Buffer
  readonly correlation_id: string
}

/**
 * Creates the store of received messages.
 * @param options.waiting the most messages on this node that wait for a statement
 */
export function createReceivedMessageStore({ pool }: Pick<Database, 'pool'>, options: { waiting: number }): ReceivedMessageStore {
  const find = async (exchanges: readonly ExchangeKey[]): Promise<ReadonlyMap<string, FingerprintAndCorrelationId>> => {
    const { rows } = await pool.query<ExchangeKey & FingerprintAndCorrelationId>({
      name: 'find exchanges',
      text: `select participant, message_id, fingerprint, correlation_id
        from unnest($1::integer[], $2::text[]) as asked (participant, message_id)
        join exchange using (participant, message_id)`,
      values: exchangeKeyColumnValues(exchanges),
    })
    return new Map(rows.map((row) => [exchangeKeyText(row), row]))
  }
  const memory = createOneRowPerKeyStore<NewExchange, FingerprintAndCorrelationId>(
    {
      key: exchangeKeyText,
      stored: ({ fingerprint, correlation_id }) => ({ fingerprint, correlation_id }),
      bytes: countRequestBytes,
      async insert(exchanges) {
        const accepted = exchanges.filter(isToBeAccepted)
        const statement = accepted.length === 0 ? REMEMBER_EXCHANGES : ACCEPT_EXCHANGES
        const values = [...exchangeColumnValues(exchanges), ...(accepted.length === 0 ? [] : acceptedColumnValues(accepted))]
        const { rows } = await pool.query<ExchangeKey>({ ...statement, values })
        return rows.map(exchangeKeyText)
      },
      find,
    },
    options,
  )
  return {
    async remember(exchange) {
      const { first, stored } = await memory.remember(exchange)
      return first ? { correlation_id: exchange.correlation_id, known: 'new' } : compareWithStoredExchange(exchange, stored)
    },
    async known(exchange) {
      const stored = (await find([exchange])).get(exchangeKeyText(exchange))
      return stored === undefined ? null : compareWithStoredExchange(exchange, stored)
    },
  }
}

/** Compares a received message with the stored one that has the same participant and message_id. */
function compareWithStoredExchange(
  { fingerprint, correlation_id }: FingerprintAndCorrelationId,
  stored: FingerprintAndCorrelationId,
): KnownOrNewExchange {
  return stored.fingerprint.equals(fingerprint)
    ? { correlation_id: stored.correlation_id, known: 'same' }
    : { correlation_id, known: 'different' }
}

/** The approximate bytes that a reference_id takes in the row of a request. */
const REFERENCE_ID_BYTES = 64

/** The number of bytes to store for an accepted request: its encrypted chunks and its reference_ids. For other messages 0. */
const countRequestBytes = ({ accepted }: NewExchange): number =>
  accepted === undefined
    ? 0
    : accepted.chunks.reduce((sum, { request }) => sum + request.length, 0) + accepted.reference_ids.length * REFERENCE_ID_BYTES

const newExchangeRowsSql = (parameter: ParameterSql): string => `unnest(${parameter(0)}::integer[], ${parameter(1)}::text[],
  ${parameter(2)}::bytea[], ${parameter(3)}::uuid[], ${parameter(4)}::integer[], ${parameter(5)}::text[], ${parameter(6)}::text[],
  ${parameter(7)}::float8[])`

const EXCHANGE_COLUMNS = 'participant, message_id, fingerprint, correlation_id, registry, operation, transaction_id'

/**
 * SQL that stores messages. One insert has all messages of a statement, sorted by participant and message_id: as every statement
 * has this order, two nodes do not deadlock.
 */
const insertExchangesSql = (parameter: ParameterSql): string => `offered as (
    select * from ${newExchangeRowsSql(parameter)} with ordinality as offered (${EXCHANGE_COLUMNS}, age, number)
  ),
  added as (
    insert into exchange (${EXCHANGE_COLUMNS}, received_at)
    select ${EXCHANGE_COLUMNS}, now() - make_interval(secs => age / 1000) from offered
    order by (participant || ' ' || message_id) collate "C" on conflict do nothing
    returning participant, message_id, correlation_id
  )`

const REMEMBER_EXCHANGES = {
  name: 'remember exchanges',
  text: `with ${insertExchangesSql(separateWriteParameterSql)} select participant, message_id from added`,
}

const ACCEPTANCE_SQL_TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'boolean', 'bytea', 'integer', 'integer', 'integer', 'integer', 'integer', 'integer'],
  'text',
  'uuid',
  'float8',
]

/**
 * SQL that stores messages, accepts those with an `AcceptedRequestMembers`, and tells the workers of all nodes if some are not
 * claimed. A statement with this SQL must read its part `announced`: PostgreSQL runs a `select` in `with` only as far as
 * something reads it.
 */
const storeAndAcceptSql = (parameter: ParameterSql): string => `${insertExchangesSql(parameter)},
  asked as (
    select * from unnest(${ACCEPTANCE_SQL_TYPES.map((type, at) => `${parameter(8 + at)}::${type}[]`).join()})
      as asked (correlation_id, id, parent, sender_uri, encrypted, request, request_bytes, items, first_item, chunk,
        chunks, open_chunks, reference_ids, claim, seconds)
  ),
  accepted as (
    insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
      sender_uri, encrypted, request, request_bytes, items, parent, first_item, chunk, chunks, open_chunks,
      references_stored, claim, claimed_until, runs, started_at)
    select asked.id, offered.participant, offered.registry, offered.operation, offered.message_id,
      offered.transaction_id, asked.sender_uri, asked.encrypted, asked.request, asked.request_bytes, asked.items,
      asked.parent, asked.first_item, asked.chunk, asked.chunks, asked.open_chunks, true,
      asked.claim, now() + make_interval(secs => asked.seconds), num_nonnulls(asked.claim),
      case when asked.claim is not null then now() end
    from asked join offered using (correlation_id) join added using (correlation_id)
    returning correlation_id, participant, registry, received_at, parent, claim, octet_length(request) as bytes
  ),
  referenced as (${storeReferencesSql(
    'accepted join asked on asked.id = accepted.correlation_id and asked.parent is null',
    'reference_ids',
    'asked.id',
  )}),
  announced as (select pg_notify('${WORK_CHANNEL}', '') where exists (select 1 from accepted where claim is null))`

/** SQL that adds the accepted messages of the statement to the day's count for the daily limit. Chunks only add their bytes. */
const COUNT_ACCEPTED_MESSAGES_SQL = `counted as (${countMessagesSql(ACCEPTED_DAY, 'accepted', 'count(*) filter (where parent is null)')})`

/** Stores, accepts, announces and counts messages in one statement: all of it is written, or nothing. */
const ACCEPT_EXCHANGES = {
  name: 'accept exchanges',
  text: `with ${storeAndAcceptSql(separateWriteParameterSql)}, ${COUNT_ACCEPTED_MESSAGES_SQL}
    select participant, message_id, (select count(*) from announced) as announced from added`,
}

/** SQL condition: the row of the message_id has this message's correlation_id. False: an earlier message has stored the row. */
const IS_STORED_MESSAGE_SQL = `offered.correlation_id in (select correlation_id from added) or (
      select true from exchange where exchange.participant = offered.participant
        and exchange.message_id = offered.message_id and exchange.correlation_id = offered.correlation_id limit 1)`

/** Stores messages in the statement of their audit entries, when all of them are answered synchronously. */
const SYNC_REQUEST_JOINT_WRITE: JointWrite<NewExchange> = {
  name: 'messages',
  held: (parameter) =>
    `${insertExchangesSql(parameter)}, messages_held as (select number from offered where ${IS_STORED_MESSAGE_SQL})`,
  values: (exchanges) => exchangeColumnValues(exchanges),
}

/**
 * Stores messages in the statement of their audit entries: messages that are accepted, and messages that are answered
 * synchronously. A message that was received before is not accepted again. One insert has both sorts, so that all are inserted in
 * one order (`insertExchangesSql`).
 */
export const REQUEST_JOINT_WRITE: JointWrite<NewExchange> = {
  name: 'requests',
  held: (parameter) => `${storeAndAcceptSql(parameter)}, requests_held as (
    select number from offered cross join (select count(*) from announced) as announced where ${IS_STORED_MESSAGE_SQL}
  )`,
  written: () => COUNT_ACCEPTED_MESSAGES_SQL,
  values: (exchanges) => [...exchangeColumnValues(exchanges), ...acceptedColumnValues(exchanges.filter(isToBeAccepted))],
  simpler: (exchanges) => (exchanges.some(isToBeAccepted) ? null : SYNC_REQUEST_JOINT_WRITE),
}

/** True when a request is small enough to be stored in one statement with other messages. */
export const isSmallRequest = (exchange: NewAcceptedExchange): boolean => countRequestBytes(exchange) < LEAST_LARGE_ENTRY_BYTES

/** A message that is answered later, so that `accepted` is set. */
export type NewAcceptedExchange = NewExchange & { readonly accepted: AcceptedRequestMembers }

const isToBeAccepted = (exchange: NewExchange): exchange is NewAcceptedExchange => exchange.accepted !== undefined

const exchangeColumnValues = (exchanges: readonly NewExchange[]): unknown[] => [
  ...exchangeKeyColumnValues(exchanges),
  exchanges.map(({ fingerprint }) => fingerprint),
  exchanges.map(({ correlation_id }) => correlation_id),
  exchanges.map(({ registry }) => registry),
  exchanges.map(({ operation }) => operation),
  exchanges.map(({ transaction_id }) => transaction_id),
  exchanges.map(({ age = 0 }) => age),
]

/** Makes the rows to store for a request: one for the request, and one for each chunk if it was divided. */
const acceptedRowsOf = ({ correlation_id, accepted }: NewAcceptedExchange): readonly unknown[][] => {
  const { sender_uri, encrypted, reference_ids, chunks, claim } = accepted
  const references = storableReferences(reference_ids)
  const count = chunks.length
  let first_item = 0
  const rows = chunks.map(({ id, request, request_bytes, items }, chunk) => {
    const of = { parent: count === 1 ? null : correlation_id, references: count === 1 ? references : '[]' }
    const row = [correlation_id, id, of.parent, sender_uri, encrypted, request, request_bytes, items]
    row.push(first_item, chunk, count, null, of.references, claim?.id ?? null, claim?.seconds ?? null)
    first_item += items
    return row
  })
  if (count === 1) return rows
  const parent = [correlation_id, correlation_id, null, sender_uri, encrypted, null, null, first_item]
  return [[...parent, 0, 0, count, count, references, null, null], ...rows]
}

const acceptedColumnValues = (exchanges: readonly NewAcceptedExchange[]): unknown[] => {
  const rows = exchanges.flatMap(acceptedRowsOf)
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]))
}

type ExchangeKey = Pick<NewExchange, 'participant' | 'message_id'>

const exchangeKeyText = ({ participant, message_id }: ExchangeKey): string => `${participant} ${messageIdKey(message_id)}`

const exchangeKeyColumnValues = (exchanges: readonly ExchangeKey[]): [number[], string[]] => [
  exchanges.map(({ participant }) => participant),
  exchanges.map(({ message_id }) => messageIdKey(message_id)),
]
