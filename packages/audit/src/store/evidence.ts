import type { Database } from '@rollcall/database/database'
import { ENTRIES_WITH_CONTENT_SQL, entryTextOf, STORED_ENTRY_COLUMNS, type StoredEntry } from './entry-shape.ts'
import { unpackPersons } from './packed-persons.ts'

export interface EntryPlace {
  readonly chain: string
  readonly sequence: number
}

export interface MessageEntryPlace extends EntryPlace {
  /** The sender_id of the participant; null when the participant is unknown. */
  readonly participant: string | null
}

/** The parts of an entry that its hash covers. */
export interface HashedEntry {
  readonly sequence: number
  /** The time of the entry: RFC 3339 in UTC, with milliseconds. */
  readonly at: string
  /** The canonical JSON of the entry. */
  readonly entry: string
  /** The commitments to the persons, in hexadecimal. */
  readonly commitments: string
}

/**
 * Finds the entries of a request or reply by the message's key (`messageIdKey`), the oldest first.
 * @param participant sender_id; undefined: of all
 */
export async function findPlacesOfMessage(
  { pool }: Pick<Database, 'pool'>,
  message: string,
  participant: string | undefined,
  limit: number,
): Promise<readonly MessageEntryPlace[]> {
  const { rows } = await pool.query<MessageEntryPlace>(
    `select chain, sequence, content::jsonb ->> 'participant' as participant from ${ENTRIES_WITH_CONTENT_SQL}
     where (message_id = $1 or reply_message_id = $1)
       and ($2::text is null or content::jsonb ->> 'participant' = $2)
     order by at, chain, sequence limit $3`,
    [message, participant ?? null, limit],
  )
  return rows
}

export interface EntrySigningCheckpoint {
  readonly sequence: number
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
}

/** Finds the checkpoints that sign an entry, the earliest first. The caller verifies them: other roles may insert rows. */
export async function* findEntrySigningCheckpoints(
  { pool }: Pick<Database, 'pool'>,
  { chain, sequence }: EntryPlace,
): AsyncGenerator<EntrySigningCheckpoint> {
  for (let after = { sequence, id: '0' }; ; ) {
    const { rows } = await pool.query<EntrySigningCheckpoint & { readonly id: string }>(
      `select sequence, id::text as id, content, kid, signature from account_checkpoint
       where chain = $1 and (sequence, id) > ($2, $3::bigint) and sequence < ${Number.MAX_SAFE_INTEGER}
       order by sequence, account_checkpoint.id limit 100`,
      [chain, after.sequence, after.id],
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = last
  }
}

/** Reads the entries of a chain from one to another, both included. */
export async function readHashedEntries(
  { pool }: Pick<Database, 'pool'>,
  { chain, sequence }: EntryPlace,
  last: number,
): Promise<readonly HashedEntry[]> {
  type Row = Pick<HashedEntry, 'sequence' | 'at'> & StoredEntry & { commitments: Buffer; persons: Buffer | null }
  const { rows } = await pool.query<Row>(
    `select sequence, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, ${STORED_ENTRY_COLUMNS},
       commitments, persons
     from ${ENTRIES_WITH_CONTENT_SQL} where chain = $1 and sequence between $2 and $3 order by sequence`,
    [chain, sequence, last],
  )
  return rows.map(({ sequence, at, commitments, persons, ...stored }) => {
    const runs = persons === null ? [] : (unpackPersons(persons) ?? [])
    const hashed = Buffer.concat([commitments, ...runs.map(({ commitment }) => commitment)])
    const entry = entryTextOf(stored)
    if (entry === null) throw new Error(`entry ${sequence} of chain ${chain} cannot be read: run rollcall audit verify`)
    return { sequence, at, entry, commitments: hashed.toString('hex') }
  })
}

/** The hash of an entry, or of the last pruned entry of a chain, in hexadecimal; null when it is unknown. */
export async function findEntryHash({ pool }: Pick<Database, 'pool'>, { chain, sequence }: EntryPlace): Promise<string | null> {
  const { rows } = await pool.query<{ readonly hash: string }>(
    `select encode(hash, 'hex') as hash from account where chain = $1 and sequence = $2
     union all
     select pruned ->> 'hash' from account_tombstone, jsonb_array_elements(content::jsonb -> 'pruned') as pruned
     where chains @> array[$1::uuid] and pruned ->> 'chain' = $1::text and (pruned ->> 'sequence')::bigint = $2
     limit 1`,
    [chain, sequence],
  )
  return rows[0]?.hash ?? null
}
