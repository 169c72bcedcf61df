/** Finds messages for an operator: each is the audit entry of what was answered, acknowledged or sent. */

import type { Database } from '@rollcall/database/database'
import { ENTRIES_WITH_CONTENT_SQL, STORED_ENTRY_COLUMNS } from './entry-shape.ts'
import {
  type EntryFilter,
  type EntryRowWithMembers,
  type EntrySearchBounds,
  type EntrySearchResult,
  HAS_MEMBERS_SQL,
  IS_BEHIND_PLACE_SQL,
  type LoggedEntry,
  memberParameters,
  parseEntry,
  periodEndBehindPlace,
  placeParameters,
  searchNewestFirst,
} from './read-entries.ts'

/** How a message ended, as its audit entry says. `refused` is only counted: the list leaves refusals out. */
export const MESSAGE_OUTCOMES = ['accepted', 'succeeded', 'partial', 'rejected', 'refused'] as const
export type MessageOutcome = (typeof MESSAGE_OUTCOMES)[number]

const OUTCOMES_TEXT_SQL = `substring(content from '"outcomes":([{][^}]*[}])')`

/**
 * SQL of the outcome. An acknowledgement is accepted; an answer has the counts of its items. The SQL searches the text of the
 * entry, because parsing many entries takes long. In canonical JSON the quotation marks within a value are escaped, so they
 * cannot match.
 */
export const OUTCOME_SQL = `case
    when strpos(content, '"kind":"acknowledgement"') > 0 then 'accepted'
    when strpos(content, '"kind":"refusal"') > 0 then 'refused'
    when ${OUTCOMES_TEXT_SQL} ~ '^[{]("succ":[0-9]+)?[}]$' then 'succeeded'
    when strpos(${OUTCOMES_TEXT_SQL}, '"succ":') > 0 then 'partial'
    else 'rejected'
  end`

/** The audit entry of a message, as the list for operators has it. */
export interface AuditedMessage extends LoggedEntry {
  readonly outcome: MessageOutcome
  /** The stored forms (`messageIdKey`) of the message_ids of the request and of our message. */
  readonly message_id: string | null
  readonly reply_message_id: string | null
}

export interface MessageFilter extends Omit<EntryFilter, 'kind'> {
  readonly operation?: string | undefined
  readonly outcome?: MessageOutcome | undefined
  /** Finds only messages with one of these message_ids (`messageIdKey`), of the request or of our reply. */
  readonly keys?: readonly string[] | undefined
}

const MESSAGE_ENTRY_COLUMNS = `chain, sequence, at, ${STORED_ENTRY_COLUMNS}, ${OUTCOME_SQL} as outcome`

/**
 * SQL condition: the entry is of a message, and not of an operator's act, a refusal or an unsent message. With `not
 * like` the database expects most entries to match, so it reads from the newest on and stops early.
 */
const IS_MESSAGE_SQL = `content not like '%"kind":"operator"%' and content not like '%"kind":"refusal"%'
  and content not like '%"kind":"unsent"%'`

const HAS_MESSAGE_KEY_SQL = `(message_id = any($9::text[]) or reply_message_id = any($9))`

const findMessagesSql = (conditions: string): string => `select ${MESSAGE_ENTRY_COLUMNS} from ${ENTRIES_WITH_CONTENT_SQL}
  where at >= $1 and at < $2 and ${HAS_MEMBERS_SQL} and ${IS_MESSAGE_SQL} and ${IS_BEHIND_PLACE_SQL} and ${conditions}
    and ($5::text is null or ${OUTCOME_SQL} = $5)
  order by at desc, chain, sequence desc limit $10`

const FIND_MESSAGES_BETWEEN = findMessagesSql('$9::text[] is null')
const FIND_MESSAGES_BY_KEY = findMessagesSql(HAS_MESSAGE_KEY_SQL)

/** Lists messages, the newest first. With message_ids it uses an index; else it looks through the newest entries. */
export async function findAuditedMessages(
  db: Pick<Database, 'pool'>,
  { participant, registry, operation, outcome, before, keys, from, to }: MessageFilter,
  { limit, most }: EntrySearchBounds,
): Promise<EntrySearchResult<AuditedMessage>> {
  const wanted = Object.entries({ participant, registry, operation }).filter(([, value]) => value !== undefined)
  const end = periodEndBehindPlace(before, to)
  const read = async (text: string, span: { from: Date; to: Date }, rowsWanted: number) => {
    const { rows } = await db.pool.query<
      EntryRowWithMembers<Pick<AuditedMessage, 'outcome' | 'message_id' | 'reply_message_id'>>
    >(text, [
      ...[span.from, span.to, ...memberParameters(wanted), outcome ?? null],
      ...[...placeParameters(before), keys ?? null, rowsWanted],
    ])
    return rows.map(parseEntry)
  }
  if (keys === undefined)
    return searchNewestFirst(db, { from, to: end }, { limit, most }, (span, rows) => read(FIND_MESSAGES_BETWEEN, span, rows))
  const span = { from: from ?? new Date(0), to: end ?? LATEST_TIME }
  return { found: await read(FIND_MESSAGES_BY_KEY, span, limit), rest: null }
}

const LATEST_TIME = new Date('9999-12-31T00:00:00Z')
