/** The messages that are accounted: what was answered, acknowledged or sent, as an operator looks for it. */

import { messageKey } from '@rollcall/core/model/message-key'
import type { Database } from '@rollcall/database/database'
import { isStorable } from '@rollcall/database/text'
import {
  type AccountFilter,
  type AccountRowOf,
  BEHIND,
  type Bounds,
  endBehind,
  HAS_MEMBERS,
  membersOf,
  newestFirst,
  parsedAccount,
  placeValues,
  type ReadAccount,
  type Searched,
} from './read-accounts.ts'

/** How a message ended, by the entry of its account. */
export const MESSAGE_OUTCOMES = ['accepted', 'succeeded', 'partial', 'rejected', 'refused'] as const
export type MessageOutcome = (typeof MESSAGE_OUTCOMES)[number]

const OUTCOMES = `substring(entry from '"outcomes":([{][^}]*[}])')`

/**
 * Of `entry`: an acknowledgement accepts, and what is answered has an outcome for each item. It is read from the text, which is
 * canonical JSON: to parse many entries takes long. In a text a quotation mark is escaped.
 */
export const OUTCOME = `case
    when strpos(entry, '"kind":"acknowledgement"') > 0 then 'accepted'
    when strpos(entry, '"kind":"refusal"') > 0 then 'refused'
    when ${OUTCOMES} ~ '^[{]("succ":[0-9]+)?[}]$' then 'succeeded'
    when strpos(${OUTCOMES}, '"succ":') > 0 then 'partial'
    else 'rejected'
  end`

export interface AccountedMessage extends ReadAccount {
  readonly outcome: MessageOutcome
  /** As they are in the account (`messageKey`): of the request, and of what was sent. */
  readonly message_id: string | null
  readonly reply_message_id: string | null
}

export interface MessageFilter extends Omit<AccountFilter, 'kind'> {
  readonly operation?: string | undefined
  readonly outcome?: MessageOutcome | undefined
  /** Only those with one of these message_ids, as `messageKey` gives them: of a request, or of a message of ours. */
  readonly keys?: readonly string[] | undefined
}

const COLUMNS = `chain, sequence, at, entry, message_id, reply_message_id, ${OUTCOME} as outcome`

/**
 * Operators' own acts, and refusals, are no messages that could be looked up. Quotation marks in a text are escaped. With
 * `not like` the database expects most entries to be messages, and so reads the newest of them in order and stops.
 */
const IS_MESSAGE = `entry not like '%"kind":"operator"%' and entry not like '%"kind":"refusal"%'`

const OF_KEYS = `(message_id = any($9::text[]) or reply_message_id = any($9))`

const statement = (conditions: string): string => `select ${COLUMNS} from account
  where at >= $1 and at < $2 and ${HAS_MEMBERS} and ${IS_MESSAGE} and ${BEHIND} and ${conditions}
    and ($5::text is null or ${OUTCOME} = $5)
  order by at desc, chain, sequence desc limit $10`

const BETWEEN = statement('$9::text[] is null')
const OF_MESSAGES = statement(OF_KEYS)

/** The newest first. By their ids they are found by an index: then nothing is looked through. */
export async function accountedMessages(
  db: Pick<Database, 'pool'>,
  { participant, registry, operation, outcome, before, keys, from, to }: MessageFilter,
  { limit, most }: Bounds,
): Promise<Searched<AccountedMessage>> {
  const wanted = Object.entries({ participant, registry, operation }).filter(([, value]) => value !== undefined)
  const end = endBehind(before, to)
  const read = async (text: string, span: { from: Date; to: Date }, rowsWanted: number) => {
    const { rows } = await db.pool.query<AccountRowOf<Omit<AccountedMessage, keyof ReadAccount>>>(text, [
      ...[span.from, span.to, ...membersOf(wanted), outcome ?? null],
      ...[...placeValues(before), keys ?? null, rowsWanted],
    ])
    return rows.map(parsedAccount)
  }
  if (keys === undefined)
    return newestFirst(db, { from, to: end }, { limit, most }, (span, rows) => read(BETWEEN, span, rows))
  const span = { from: from ?? new Date(0), to: end ?? FOREVER }
  return { found: await read(OF_MESSAGES, span, limit), rest: null }
}

const FOREVER = new Date('9999-12-31T00:00:00Z')

/** Exchanges whose messages are looked up by one id. */
const MOST = 1_000

/** The ids by which a message is looked up; one of them. */
export const MESSAGE_IDS = ['message_id', 'transaction_id', 'correlation_id', 'reference_id'] as const
export type MessageIdName = (typeof MESSAGE_IDS)[number]

// The indexes of exchanges begin with the participant, of whom there are few.
const EXCHANGES_OF: Readonly<Record<MessageIdName, string>> = {
  message_id: `select exchange.correlation_id
      from participant join exchange on exchange.participant = participant.id and exchange.message_id = $1
    union select coalesce(correlation_id, id) from delivery where message_id = $1`,
  transaction_id: `select exchange.correlation_id
      from participant join exchange on exchange.participant = participant.id and exchange.transaction_id = $1`,
  correlation_id: `select $1::uuid as correlation_id`,
  reference_id: `select reference.correlation_id
      from participant cross join registry join exchange_reference as reference
        on reference.participant = participant.id and reference.registry = registry.id and reference.reference_id = $1
    union select delivery.id from notification join delivery on delivery.id = notification.delivery
      where notification.reference_id = $1`,
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The message_ids, as accounts have them, of everything that an id is of. Only a message_id is known for longer than the
 * exchange is stored.
 */
export async function messageKeysOf(
  { pool }: Pick<Database, 'pool'>,
  name: MessageIdName,
  id: string,
): Promise<readonly string[]> {
  if (!isStorable(id) || (name === 'correlation_id' && !UUID.test(id))) return []
  const key = name === 'message_id' ? messageKey(id) : id
  const { rows } = await pool.query<{ message_id: string }>(
    `with found as (select correlation_id from (${EXCHANGES_OF[name]}) as found limit ${MOST})
      select message_id from found join exchange using (correlation_id)
      union select message_id from found join delivery using (correlation_id)
      union select message_id from found join delivery on delivery.id = found.correlation_id`,
    [key],
  )
  const keys = rows.map(({ message_id }) => messageKey(message_id))
  return name === 'message_id' ? [...new Set([key, ...keys])] : keys
}
