/** Remembers handled messages in PostgreSQL, so that their copies are known after a restart and in other processes. */
import type { MessageKey, ReceivedMessages } from './received-messages.ts'

/** Runs one statement with its values, as `pg` and similar clients do. */
export type Query = (text: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly Record<string, unknown>[] }>

/** SQL that makes the table for `rememberInSql`; run it once. */
export const RECEIVED_MESSAGES_TABLE = `create table if not exists rollcall_received_message (
  sender_id text not null,
  message_id text not null,
  claim uuid not null,
  claimed_at timestamptz not null default now(),
  done_at timestamptz,
  primary key (sender_id, message_id)
)`

/** The key of the message_id $2: the id, or its digest where it is long, because an index takes no long rows. */
const MESSAGE_ID = `case when length($2::text) > 255 then encode(sha256(convert_to($2::text, 'UTF8')), 'hex') else $2::text end`

/** Claims a message that is new, or that was claimed over `claim_seconds` ago and is not handled. Otherwise returns no row. */
const CLAIM_MESSAGE = `insert into rollcall_received_message as known (sender_id, message_id, claim)
values ($1, ${MESSAGE_ID}, $3)
on conflict (sender_id, message_id) do update set claim = excluded.claim, claimed_at = now()
where known.done_at is null and known.claimed_at < now() - make_interval(secs => $4)
returning claim`

const FIND_MESSAGE_DONE = `select done_at is not null as done from rollcall_received_message
where sender_id = $1 and message_id = ${MESSAGE_ID}`

const NOTE_MESSAGE_DONE = `update rollcall_received_message set done_at = now()
where sender_id = $1 and message_id = ${MESSAGE_ID} and claim = $3`

const RELEASE_MESSAGE = `delete from rollcall_received_message
where sender_id = $1 and message_id = ${MESSAGE_ID} and claim = $3 and done_at is null`

const DELETE_OLD_MESSAGES = `delete from rollcall_received_message where claimed_at < now() - make_interval(secs => $1)`

/** A memory of messages in PostgreSQL. */
export interface SqlMemory extends ReceivedMessages {
  /** Forgets messages that were claimed more than `age_seconds` ago; 15 days by default. Call this about once a day. */
  forget(options?: { readonly age_seconds?: number }): Promise<void>
}

/**
 * Seconds for which `forget` keeps messages by default: a day more than the 14 days for which Rollcall tries to deliver a
 * notification.
 */
const DEFAULT_MESSAGE_AGE_SECONDS = 15 * 24 * 3_600

/** Remembers messages in PostgreSQL. @param options.claim_seconds seconds until an unfinished message may be claimed again */
export function rememberInSql(query: Query, { claim_seconds = 300 }: { readonly claim_seconds?: number } = {}): SqlMemory {
  /** The id of the claim of each message that this process is handling. The keys are from `nameOf`. */
  const claims = new Map<string, string>()
  const nameOf = ({ sender_id, message_id }: MessageKey): string => JSON.stringify([sender_id, message_id])
  const settle = async (statement: string, key: MessageKey): Promise<void> => {
    const claim = claims.get(nameOf(key))
    claims.delete(nameOf(key))
    if (claim !== undefined) await query(statement, [key.sender_id, key.message_id, claim])
  }
  return {
    async claim(key) {
      const claim = crypto.randomUUID()
      const { sender_id, message_id } = key
      const taken = await query(CLAIM_MESSAGE, [sender_id, message_id, claim, claim_seconds])
      if (taken.rows.length > 0) {
        claims.set(nameOf(key), claim)
        return 'claimed'
      }
      const { rows } = await query(FIND_MESSAGE_DONE, [sender_id, message_id])
      return rows[0]?.done === true ? 'done' : 'busy'
    },
    done: (key) => settle(NOTE_MESSAGE_DONE, key),
    release: (key) => settle(RELEASE_MESSAGE, key),
    async forget({ age_seconds = DEFAULT_MESSAGE_AGE_SECONDS } = {}) {
      await query(DELETE_OLD_MESSAGES, [age_seconds])
    },
  }
}
