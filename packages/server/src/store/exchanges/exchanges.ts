/** Which messages were received, by participant and message_id: one row for each exchange, written first (D27). */
import type { Database } from '../db/database.ts'
import { firstCome } from '../db/group-commit.ts'
import { countInto } from './day-counts.ts'
import { messageKey } from './message-key.ts'
import { storableReferences, storeReferencesOf } from './references.ts'

/** A message that is about to be acted on. */
export interface NewExchange {
  /** A UUID made for it; it counts when the message is new. */
  readonly correlation_id: string
  /** `Participant.id` */
  readonly participant: number
  /** As the header has it, of any length. */
  readonly message_id: string
  /** 32 bytes, by `exchangeFingerprint`. */
  readonly fingerprint: Buffer
  /** `Registry.id` */
  readonly registry: number
  /** An operation's name. */
  readonly operation: string
  /** Null where the message has none of 1 to 99 characters. */
  readonly transaction_id: string | null
  /** Given when the message is answered later: then it is accepted together with being remembered. */
  readonly accepted?: AcceptedRequest
}

/** What is kept of a request that is answered later. */
export interface AcceptedRequest {
  /** Where the answer is wanted, checked; null: at the participant's own address, or nowhere. */
  readonly sender_uri: string | null
  /** Whether the message came encrypted. */
  readonly encrypted: boolean
  /** Header and message in clear, sealed. */
  readonly request: Buffer
  /** Bytes of header and message in clear. */
  readonly request_bytes: number
  /** How many items the message has. */
  readonly items: number
  /** Of each item, in their order, as its answer names it; none where the message is no batch. */
  readonly reference_ids: readonly string[]
}

export interface KnownExchange {
  /** The first one's when `same`, else the one handed in. */
  readonly correlation_id: string
  /** `same`: this very message was received before; `different`: its message_id was, with another content. */
  readonly known: 'new' | 'same' | 'different'
}

export interface ExchangeMemory {
  /**
   * Writes the exchange's row and says whether it is the first of its participant and message_id; of any
   * number of concurrent twins exactly one is `new`. Durable when it resolves.
   * Rejects with an error for which `isUnavailable` holds when the database is away or too much is waiting:
   * then nothing may be done about the message.
   */
  remember(exchange: NewExchange): Promise<KnownExchange>
  /** What `remember` would answer for a message that is there; null for one that is not. */
  known(
    exchange: Pick<NewExchange, 'participant' | 'message_id' | 'fingerprint' | 'correlation_id'>,
  ): Promise<KnownExchange | null>
}

interface Held {
  readonly fingerprint: Buffer
  readonly correlation_id: string
}

/** @param options.waiting exchanges that may wait for a statement at a time, on this node */
export function createExchangeMemory(
  { pool }: Pick<Database, 'pool'>,
  options: { waiting: number },
): ExchangeMemory {
  const find = async (exchanges: readonly Key[]): Promise<ReadonlyMap<string, Held>> => {
    const { rows } = await pool.query<Key & Held>({
      name: 'find exchanges',
      text: `select participant, message_id, fingerprint, correlation_id
        from unnest($1::integer[], $2::text[]) as asked (participant, message_id)
        join exchange using (participant, message_id)`,
      values: keys(exchanges),
    })
    return new Map(rows.map((row) => [keyOf(row), row]))
  }
  const memory = firstCome<NewExchange, Held>(
    {
      key: keyOf,
      held: ({ fingerprint, correlation_id }) => ({ fingerprint, correlation_id }),
      bytes: ({ accepted }) =>
        accepted === undefined
          ? 0
          : accepted.request.length + accepted.reference_ids.length * REFERENCE_BYTES,
      async insert(exchanges) {
        const accepted = exchanges.filter(isAccepted)
        const statement = accepted.length === 0 ? REMEMBER : ACCEPT
        const values = [...columnsOf(exchanges), ...(accepted.length === 0 ? [] : acceptedColumns(accepted))]
        const { rows } = await pool.query<Key>({ ...statement, values })
        return rows.map(keyOf)
      },
      find,
    },
    options,
  )
  return {
    async remember(exchange) {
      const { first, held } = await memory.remember(exchange)
      return first ? { correlation_id: exchange.correlation_id, known: 'new' } : compared(exchange, held)
    },
    async known(exchange) {
      const held = (await find([exchange])).get(keyOf(exchange))
      return held === undefined ? null : compared(exchange, held)
    },
  }
}

function compared({ fingerprint, correlation_id }: Held, held: Held): KnownExchange {
  return held.fingerprint.equals(fingerprint)
    ? { correlation_id: held.correlation_id, known: 'same' }
    : { correlation_id, known: 'different' }
}

/** Of one item of a request, about. */
const REFERENCE_BYTES = 64

const OFFERED = `select * from unnest($1::integer[], $2::text[], $3::bytea[], $4::uuid[], $5::integer[], $6::text[],
  $7::text[]) as offered (participant, message_id, fingerprint, correlation_id, registry, operation, transaction_id)`

const REMEMBERED =
  'insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation, transaction_id)'

const REMEMBER = {
  name: 'remember exchanges',
  text: `${REMEMBERED} ${OFFERED} on conflict do nothing returning participant, message_id`,
}

/** Remembered, accepted, given to a worker and counted in one statement: all of it is there, or none. */
const ACCEPT = {
  name: 'accept exchanges',
  text: `with offered as (${OFFERED}),
    added as (
      ${REMEMBERED} select * from offered on conflict do nothing
      returning participant, message_id, correlation_id
    ),
    asked as (
      select * from unnest($8::uuid[], $9::text[], $10::boolean[], $11::bytea[], $12::integer[], $13::integer[],
        $14::text[]) as asked (correlation_id, sender_uri, encrypted, request, items, request_bytes, reference_ids)
    ),
    accepted as (
      insert into accepted_exchange (correlation_id, participant, registry, operation, message_id, transaction_id,
        sender_uri, encrypted, request, items, request_bytes, references_stored)
      select offered.correlation_id, offered.participant, offered.registry, offered.operation, offered.message_id,
        offered.transaction_id, asked.sender_uri, asked.encrypted, asked.request, asked.items,
        asked.request_bytes, true
      from asked join offered using (correlation_id) join added using (correlation_id)
      returning correlation_id, participant, registry, received_at, octet_length(request) as bytes
    ),
    referenced as (${storeReferencesOf('accepted join asked using (correlation_id)', 'reference_ids')}),
    counted as (${countInto('accepted_day', 'accepted')}),
    jobs as (
      select job.id from (
        select array_agg((
          'process', json_build_object('correlation_id', correlation_id), null, null, null, null, null, null
        )::graphile_worker.job_spec) as specs from accepted having count(*) > 0
      ) as wanted, graphile_worker.add_jobs(wanted.specs) as job
    )
    select participant, message_id, (select count(*) from jobs) as jobs from added`,
}

type Accepted = NewExchange & { readonly accepted: AcceptedRequest }

const isAccepted = (exchange: NewExchange): exchange is Accepted => exchange.accepted !== undefined

const columnsOf = (exchanges: readonly NewExchange[]): unknown[] => [
  ...keys(exchanges),
  exchanges.map(({ fingerprint }) => fingerprint),
  exchanges.map(({ correlation_id }) => correlation_id),
  exchanges.map(({ registry }) => registry),
  exchanges.map(({ operation }) => operation),
  exchanges.map(({ transaction_id }) => transaction_id),
]

const acceptedColumns = (exchanges: readonly Accepted[]): unknown[] => [
  exchanges.map(({ correlation_id }) => correlation_id),
  exchanges.map(({ accepted }) => accepted.sender_uri),
  exchanges.map(({ accepted }) => accepted.encrypted),
  exchanges.map(({ accepted }) => accepted.request),
  exchanges.map(({ accepted }) => accepted.items),
  exchanges.map(({ accepted }) => accepted.request_bytes),
  exchanges.map(({ accepted }) => storableReferences(accepted.reference_ids)),
]

type Key = Pick<NewExchange, 'participant' | 'message_id'>

const keyOf = ({ participant, message_id }: Key): string => `${participant} ${messageKey(message_id)}`

const keys = (exchanges: readonly Key[]): [number[], string[]] => [
  exchanges.map(({ participant }) => participant),
  exchanges.map(({ message_id }) => messageKey(message_id)),
]
