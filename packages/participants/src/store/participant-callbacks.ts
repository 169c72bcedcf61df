/** The callback settings of a participant: addresses, encrypted credentials, rate and retries. */

import type { Database } from '@rollcall/database/database'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { StoreRefusal } from '@rollcall/database/refusal'
import { assignmentsSql, valuesSql } from '@rollcall/database/statement-parts'
import { NO_STATEMENT_TIMEOUT_SQL } from '@rollcall/database/transaction'
import type { Callback } from '@rollcall/protocol'
import { CompiledQuery, sql } from 'kysely'

export type CallbackAuth = 'none' | 'bearer' | 'oauth2' | 'mtls'

/** The settings for the callbacks to one participant. */
export interface CallbackSettings {
  /** The origins, each perhaps with a path prefix, that are allowed for a `sender_uri`; `:*` allows any port. */
  readonly allowed: readonly string[]
  /** The address for answers to requests without `sender_uri`; it lacks the path of the callback. Null: no address. */
  readonly default_url: string | null
  readonly auth: CallbackAuth
  /** The encrypted credentials for `auth`, and the URL origin to which they are sent; null when there are none. */
  readonly sealed: Buffer | null
  /** The most requests to the participant that are in flight at a time on one node. */
  readonly concurrency: number
  /** The most requests to the participant in one second, on one node. */
  readonly rate: number
  /** The most milliseconds that one attempt at a delivery may take. */
  readonly timeout_ms: number
  /** The seconds between attempts at a delivery; null: the schedule of the server. */
  readonly schedule: readonly number[] | null
  /** The address for all notifications; null: the `sender_uri` of the subscription, or else the default address. */
  readonly notify_url: string | null
  /** The most items of one notification. */
  readonly notify_items: number
  /** The most bytes of one notification. A single item that is larger is sent nevertheless. */
  readonly notify_bytes: number
  /** True when notifications may name events that are not in the published list of the registry's kind. */
  readonly notify_unlisted: boolean
}

/** The largest allowed value of `concurrency`. */
export const MOST_CALLBACK_CONCURRENCY = 128

/** The callback settings of a participant that has none: no callbacks are sent to it. */
export const NO_CALLBACK_SETTINGS: CallbackSettings = {
  allowed: [],
  default_url: null,
  auth: 'none',
  sealed: null,
  concurrency: 8,
  rate: 200,
  timeout_ms: 10_000,
  schedule: null,
  notify_url: null,
  notify_items: 100,
  notify_bytes: 1_048_576,
  notify_unlisted: false,
}

/** The table with the encrypted credentials, its primary key, and the purpose for which their encryption key is derived. */
export const SEALED_CREDENTIAL_TABLE = {
  table: 'participant_callback',
  id: 'participant',
  purpose: 'callback credentials',
} as const

/** SQL for a `from` clause: the address for all notifications of each participant. */
export const NOTIFY_ADDRESSES_SQL = '(select participant, notify_url from participant_callback)'

const CALLBACK_COLUMNS = Object.keys(NO_CALLBACK_SETTINGS).join(', ')

/** Finds the callback settings of a participant by its `Participant.id`. Simultaneous calls share one statement. */
export const findCallbackSettings = ({ pool }: Pick<Database, 'pool'>, participant: number): Promise<CallbackSettings> =>
  callbackSettingsFinder(pool).submit(participant)

const callbackSettingsFinder = oncePerPool((pool) =>
  createGroupCommit<number, CallbackSettings>(
    async (participants) => {
      const { rows } = await pool.query<CallbackSettings & { readonly participant: number }>({
        name: 'find callback settings',
        text: `select participant, ${CALLBACK_COLUMNS} from participant_callback where participant = any($1::integer[])`,
        values: [participants],
      })
      const found = new Map(rows.map(({ participant, ...row }) => [participant, row]))
      return participants.map((participant) => found.get(participant) ?? NO_CALLBACK_SETTINGS)
    },
    { waiting: Infinity },
  ),
)

const CALLBACK_SETTING_RANGES = [
  ['concurrency', 1, MOST_CALLBACK_CONCURRENCY],
  ['rate', 1, 10_000],
  ['timeout_ms', 100, 120_000],
  ['notify_items', 1, 1_000],
  ['notify_bytes', 1_024, 67_108_864],
] as const

/**
 * The full address of a callback at the default address of a participant. Settings are stored as the operator wrote
 * them, so the address is normalised here.
 */
export function defaultCallbackAddress(default_url: string, { path }: Pick<Callback, 'path'>): string {
  return `${(URL.parse(default_url)?.href ?? default_url).replace(/\/+$/, '')}/${path}`
}

/**
 * Changes the settings that `changes` names.
 * @param moving makes the statement that moves waiting deliveries to a new default address
 * @throws StoreRefusal a number is outside of its range
 */
export async function setCallbackSettings(
  { kysely }: Pick<Database, 'kysely'>,
  participant: number,
  changes: Partial<CallbackSettings>,
  moving?: (default_url: string) => { readonly text: string; readonly values: readonly unknown[] },
): Promise<void> {
  const { allowed, schedule, ...others } = changes
  const row = {
    ...others,
    ...(allowed !== undefined && { allowed: [...allowed] }),
    ...(schedule !== undefined && { schedule: schedule === null ? null : [...schedule] }),
  }
  for (const [name, least, most] of CALLBACK_SETTING_RANGES) {
    const value = changes[name]
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most)) {
      throw new StoreRefusal(`${name} must be a whole number from ${least} to ${most}`)
    }
  }
  await kysely.transaction().execute(async (transaction) => {
    const changed = Object.keys(row).length > 0
    await sql`insert into participant_callback ${valuesSql({ participant, ...row })}
      on conflict (participant) do ${changed ? sql`update set ${assignmentsSql(row)}` : sql`nothing`}`.execute(transaction)
    if (!changes.default_url || moving === undefined) return
    await sql.raw(NO_STATEMENT_TIMEOUT_SQL).execute(transaction)
    const { text, values } = moving(changes.default_url)
    await transaction.executeQuery(CompiledQuery.raw(text, [...values]))
  })
}
