/** Which messages were received, by participant and message_id: one row for each exchange, written first (D27). */
import type { Database } from './database.ts'
import { firstCome } from './first-come.ts'
import { messageKey } from './message-key.ts'

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
  const memory = firstCome<NewExchange, Held>(
    {
      key: keyOf,
      held: ({ fingerprint, correlation_id }) => ({ fingerprint, correlation_id }),
      async insert(exchanges) {
        const { rows } = await pool.query<Key>({
          name: 'remember exchanges',
          text: `insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation)
            select * from unnest($1::integer[], $2::text[], $3::bytea[], $4::uuid[], $5::integer[], $6::text[])
            on conflict do nothing
            returning participant, message_id`,
          values: [
            ...keys(exchanges),
            exchanges.map(({ fingerprint }) => fingerprint),
            exchanges.map(({ correlation_id }) => correlation_id),
            exchanges.map(({ registry }) => registry),
            exchanges.map(({ operation }) => operation),
          ],
        })
        return rows.map(keyOf)
      },
      async find(exchanges) {
        const { rows } = await pool.query<Key & Held>({
          name: 'find exchanges',
          text: `select participant, message_id, fingerprint, correlation_id
            from unnest($1::integer[], $2::text[]) as asked (participant, message_id)
            join exchange using (participant, message_id)`,
          values: keys(exchanges),
        })
        return new Map(rows.map((row) => [keyOf(row), row]))
      },
    },
    options,
  )
  return {
    async remember(exchange) {
      const { first, held } = await memory.remember(exchange)
      const { correlation_id } = exchange
      if (first) return { correlation_id, known: 'new' }
      if (!held.fingerprint.equals(exchange.fingerprint)) return { correlation_id, known: 'different' }
      return { correlation_id: held.correlation_id, known: 'same' }
    },
  }
}

type Key = Pick<NewExchange, 'participant' | 'message_id'>

const keyOf = ({ participant, message_id }: Key): string => `${participant} ${messageKey(message_id)}`

const keys = (exchanges: readonly Key[]): [number[], string[]] => [
  exchanges.map(({ participant }) => participant),
  exchanges.map(({ message_id }) => messageKey(message_id)),
]
