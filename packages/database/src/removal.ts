/**
 * Removing what is stored of a registry or of a participant. Accounts of access, holds, withdrawals of consent and public keys
 * stay.
 */
import type { Database } from './database.ts'
import { quoteName } from './names.ts'
import { withTransaction } from './transaction.ts'

export type Removable = 'registry' | 'participant'

/** Rows of one statement. */
const AT_ONCE = 5_000

interface Rows {
  readonly table: string
  /** SQL; `$1` is the number of the registry or participant. */
  readonly of: string
}

const OF_EXCHANGES = (removable: Removable): string =>
  `correlation_id in (select correlation_id from exchange where ${removable} = $1)`

const rowsOf = (removable: Removable, tables: readonly string[]): readonly Rows[] =>
  tables.map((table) => ({ table, of: `${removable} = $1` }))

/** Rows that name both. Others go with them by their foreign keys, such as attempts with their delivery. */
const OF_BOTH = (removable: Removable): readonly Rows[] => [
  { table: 'enrolment_receipt', of: OF_EXCHANGES(removable) },
  ...rowsOf(removable, [
    'participant_check',
    'exchange_reference',
    'delivery',
    'accepted_exchange',
    'inbox_message',
    'exchange',
  ]),
  { table: 'waiting_notification', of: `mailbox in (select id from mailbox where ${removable} = $1)` },
  ...rowsOf(removable, ['subscription', 'mailbox', 'participant_check']),
]

/** In the order in which they go; the row of the registry or participant itself, and what hangs on it, is the last. */
export const REMOVED_ROWS: Readonly<Record<Removable, readonly Rows[]>> = {
  registry: [
    { table: 'consent_use', of: OF_EXCHANGES('registry') },
    ...OF_BOTH('registry'),
    ...rowsOf('registry', ['event', 'record_source_version', 'retired_record', 'record_tombstone']),
    ...rowsOf('registry', ['enrolment_ledger', 'protected_record', 'protected_reference', 'column_rules']),
    { table: 'rollcall_outbox.event', of: 'namespace = (select namespace from registry where registry.id = $1)' },
  ],
  participant: [
    ...OF_BOTH('participant'),
    ...rowsOf('participant', ['consent_use', 'sealed_message', 'accepted_day', 'inbox_day', 'breaker']),
  ],
}

/** What somebody still waits for. */
export interface Pending {
  readonly subscriptions: number
  /** Accepted, and not answered to the end. */
  readonly requests: number
  readonly deliveries: number
  /** Rows of the outbox that are to be published; of a participant none. */
  readonly outbox: number
}

export async function countPending(
  { pool }: Pick<Database, 'pool'>,
  removable: Removable,
  id: number,
): Promise<Pending> {
  const outbox =
    removable === 'registry'
      ? `(select count(*) from rollcall_outbox.event
          where namespace = (select namespace from registry where id = $1) and failed_at is null)`
      : '0'
  const { rows } = await pool.query<Pending>(
    `select (select count(*) from subscription where ${removable} = $1 and state <> 'ended') as subscriptions,
      (select count(*) from accepted_exchange
        where ${removable} = $1 and state in ('accepted', 'replying') and parent is null) as requests,
      (select count(*) from delivery where ${removable} = $1 and state = 'pending') as deliveries,
      ${outbox}::bigint as outbox`,
    [id],
  )
  const [row] = rows
  if (row === undefined) throw new Error('nothing was counted')
  return row
}

/** What is counted before it goes, by the name that people know it by: the tables whose rows they are. */
const COUNTED: Readonly<Record<Removable, Readonly<Record<string, readonly string[]>>>> = {
  registry: {
    grants: ['participant_grant'],
    subscriptions: ['subscription'],
    messages: ['exchange', 'inbox_message'],
    deliveries: ['delivery'],
    events: ['event'],
  },
  participant: {
    grants: ['participant_grant'],
    secrets: ['participant_secret'],
    keys: ['participant_key'],
    subscriptions: ['subscription'],
    messages: ['exchange', 'inbox_message'],
    deliveries: ['delivery'],
  },
}

/** How much is stored of it. */
export async function countStored(
  { pool }: Pick<Database, 'pool'>,
  removable: Removable,
  id: number,
): Promise<Readonly<Record<string, number>>> {
  const counts = Object.entries(COUNTED[removable]).map(([name, tables]) => {
    const each = tables.map((table) => `(select count(*) from ${table} where ${removable} = $1)`)
    return `(${each.join(' + ')})::bigint as ${name}`
  })
  const { rows } = await pool.query<Record<string, number>>(`select ${counts.join(', ')}`, [id])
  return rows[0] ?? {}
}

/** The numbers of the holds in force that keep what is stored of it: of a registry all of them. */
export async function holdsOf(
  { pool }: Pick<Database, 'pool'>,
  removable: Removable,
  sender_id: string,
): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: number }>(
    `select id from hold where removed_at is null
      and ($1 = 'registry' or kind = 'period' or (kind = 'participant' and participant = $2)) order by id`,
    [removable, sender_id],
  )
  return rows.map(({ id }) => id)
}

interface Closing {
  /** From now on nobody asks of the registry, or as the participant; gives the rows that it changed. */
  readonly close: string
  /** Makes these rows (`$1`) again what they were, unless something newer counts in their place. */
  readonly reopen: string
}

const CLOSING: Readonly<Record<Removable, Closing>> = {
  registry: {
    close: `update participant_grant set revoked_at = now()
      where registry = $1 and revoked_at is null and valid_from <= now() returning id`,
    reopen: `update participant_grant as closed set revoked_at = null
      where id = any($1::integer[]) and not exists (select from participant_grant as newer
        where newer.participant = closed.participant and newer.registry = closed.registry and newer.revoked_at is null
          and tstzrange(newer.valid_from, newer.valid_until) && tstzrange(closed.valid_from, closed.valid_until))`,
  },
  participant: {
    close: `update participant set status = 'disabled' where id = $1 and status = 'active' returning id`,
    reopen: `update participant set status = 'active' where id = any($1::integer[])`,
  },
}

/** Every node follows within a second. @returns takes it back: it is as it was before */
export async function closeForRemoval(
  { pool }: Pick<Database, 'pool'>,
  removable: Removable,
  id: number,
): Promise<() => Promise<void>> {
  const { close, reopen } = CLOSING[removable]
  const { rows } = await pool.query<{ id: number }>(close, [id])
  return async () => {
    await pool.query(reopen, [rows.map((row) => row.id)])
  }
}

/** Deletes what is stored, a few thousand rows at a time. When it is cut short, it is called again. */
export async function removeRows({ pool }: Pick<Database, 'pool'>, removable: Removable, id: number): Promise<void> {
  for (const { table, of } of REMOVED_ROWS[removable]) {
    for (let gone = AT_ONCE; gone > 0; ) {
      const { rowCount } = await pool.query(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where ${of} limit ${AT_ONCE}))`,
        [id],
      )
      gone = rowCount ?? 0
    }
  }
}

/** Drops the tables of the records, and deletes the registry. */
export function removeRegistryRow(db: Pick<Database, 'pool'>, id: number): Promise<void> {
  return withTransaction(db.pool, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'
        and starts_with(relname, 'r' || $1::integer || '_') order by relname`,
      [id],
    )
    if (rows.length > 0) {
      await client.query(`drop table ${rows.map(({ name }) => quoteName(name)).join(', ')}`)
    }
    await client.query('delete from registry where id = $1', [id])
  })
}

/**
 * Deletes the participant. Its public keys stay: what it has signed can still be verified. Its revoked keys, and the
 * withdrawals of consent from it, stay under its sender_id: they hold for a participant that has it later.
 */
export function removeParticipantRow(db: Pick<Database, 'pool'>, id: number): Promise<void> {
  return withTransaction(db.pool, async (client) => {
    await client.query(
      `insert into published_key (sender_id, thumbprint, kid, public_jwk, first_used_at, last_used_at)
        select sender_id, thumbprint, kid, public_jwk, participant_key.created_at, coalesce(revoked_at, now())
        from participant_key join participant on participant.id = participant_key.participant
        where participant.id = $1 and use = 'sig' on conflict do nothing`,
      [id],
    )
    await client.query(
      `update participant_key set participant = null, former_sender_id = sender_id
        from participant where participant.id = $1 and participant_key.participant = participant.id
          and revoked_at is not null`,
      [id],
    )
    await client.query(
      `update consent_withdrawal set former_sender_id = sender_id
        from participant where participant.id = $1 and consent_withdrawal.participant = participant.id`,
      [id],
    )
    await client.query('delete from participant where id = $1', [id])
  })
}
