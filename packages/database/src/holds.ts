/** Holds: persons, participants and periods whose data must not be deleted, because a court, say, needs them. */
import { type Kysely, sql } from 'kysely'
import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

export const HOLD_KINDS = ['person', 'participant', 'period'] as const
export type HoldKind = (typeof HOLD_KINDS)[number]

export interface Hold {
  readonly id: number
  readonly kind: HoldKind
  /** The sender_id of the participant whose rows are kept; null when the hold is not on a participant. */
  readonly participant: string | null
  readonly begins_at: Date | null
  readonly ends_at: Date | null
  readonly reason: string
  readonly created_by: string
  readonly created_at: Date
}

export type NewHold = Pick<Hold, 'kind' | 'participant' | 'begins_at' | 'ends_at' | 'reason' | 'created_by'> & {
  /** The pseudonyms of the person whose rows are kept; null when the hold is not on a person. */
  readonly pseudonyms: readonly Buffer[] | null
}

const HOLD_COLUMNS = 'id, kind, participant, begins_at, ends_at, reason, created_by, created_at'

export async function addHold({ pool }: Pick<Database, 'pool'>, hold: NewHold): Promise<Hold> {
  const { kind, participant, begins_at, ends_at, reason, created_by, pseudonyms } = hold
  const { rows } = await pool.query<Hold>(
    `insert into hold (kind, pseudonyms, participant, begins_at, ends_at, reason, created_by)
      values ($1, $2, $3, $4, $5, $6, $7) returning ${HOLD_COLUMNS}`,
    [kind, pseudonyms, participant, begins_at, ends_at, reason, created_by],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the hold was not inserted')
  return row
}

/** Lists the holds in force, the oldest first. */
export async function listHolds({ pool }: Pick<Database, 'pool'>): Promise<readonly Hold[]> {
  const { rows } = await pool.query<Hold>(`select ${HOLD_COLUMNS} from hold where removed_at is null order by id`)
  return rows
}

/** Ends a hold. @returns false when no hold with this id is in force */
export async function removeHold({ pool }: Pick<Database, 'pool'>, id: number, removed_by: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update hold set removed_at = now(), removed_by = $2 where id = $1::bigint and removed_at is null',
    [id, removed_by],
  )
  return rowCount === 1
}

/** Ends the holds that were made before `made_before`, except those in `except`. */
export async function removeHoldsExcept(
  { pool }: Pick<Database, 'pool'>,
  {
    except,
    made_before,
    removed_by,
  }: { readonly except: readonly number[]; readonly made_before: Date; readonly removed_by: string },
): Promise<void> {
  await pool.query(
    `update hold set removed_at = now(), removed_by = $3
     where removed_at is null and created_at < $2 and id <> all($1::integer[])`,
    [except, made_before, removed_by],
  )
}

/** Erases a person's pseudonyms from ended holds. Only the owner of the database may. */
export async function erasePersonOfEndedHolds(connection: Kysely<unknown>, pseudonyms: readonly Buffer[]): Promise<void> {
  await sql`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms && ${pseudonyms}::bytea[]`.execute(
    connection,
  )
}

/** Erases the pseudonyms of all ended holds. Only the owner of the database may. */
export async function clearPseudonymsOfEndedHolds({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query(`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms <> '{}'::bytea[]`)
}

/** The ids of the holds in force on a person with one of these pseudonyms. */
export async function holdIdsOfPerson(
  client: Pick<PoolClient, 'query'>,
  pseudonyms: readonly Buffer[],
): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: number }>(
    'select id from hold where removed_at is null and pseudonyms && $1::bytea[] order by id',
    [pseudonyms],
  )
  return rows.map(({ id }) => id)
}

/** The ids of the holds in force that keep a registry (all holds), or a participant (holds on it, and holds on periods). */
export async function holdIdsAgainstRemoval(
  { pool }: Pick<Database, 'pool'>,
  what: 'registry' | 'participant',
  sender_id: string,
): Promise<readonly number[]> {
  const { rows } = await pool.query<{ id: number }>(
    `select id from hold where removed_at is null
      and ($1 = 'registry' or kind = 'period' or (kind = 'participant' and participant = $2)) order by id`,
    [what, sender_id],
  )
  return rows.map(({ id }) => id)
}

/** A table's row as SQL expressions, from which `isHeldSql` decides whether a hold keeps it. */
export interface HoldableRowSql {
  readonly time: string
  /** SQL of the participant's sender_id. Null when the row has none: a hold on any participant then keeps the row. */
  readonly sender_id: string | null
  /** SQL that is true when the row is about one of `hold.pseudonyms`. Absent when rows do not name persons. */
  readonly person?: string
}

/**
 * SQL that is true when a hold keeps the row. A hold on a person keeps only rows with pseudonyms (`person`), such as audit
 * entries: stored messages are encrypted.
 */
export const isHeldSql = ({ time, sender_id, person }: HoldableRowSql): string => `exists (
  select from hold where hold.removed_at is null and (
    (hold.kind = 'period' and ${time} >= hold.begins_at and ${time} < hold.ends_at)
    or (hold.kind = 'participant' and ${sender_id === null ? 'true' : `hold.participant = ${sender_id}`})
    ${person === undefined ? '' : `or (hold.kind = 'person' and ${person})`}))`

/** Rows of a table that are deleted when they reach an age. */
export interface ExpiringRows {
  readonly table: string
  /** The column with the time from which the age is counted. */
  readonly since: string
  /** SQL of the participant's sender_id; null when the rows have none (`HoldableRowSql.sender_id`). */
  readonly sender_id: string | null
  /** SQL that is true for old rows that are still needed, such as a pending delivery. Absent when only age decides. */
  readonly stillNeeded?: string
}

/** SQL for `from`: the rows of the table that are older than `$1` seconds, and neither needed nor held. */
export const deletableRowsSql = ({ table, since, sender_id, stillNeeded = 'false' }: ExpiringRows): string =>
  `${table} where ${since} < now() - make_interval(secs => $1)
    and not (${stillNeeded}) and not ${isHeldSql({ time: `${table}.${since}`, sender_id })}`

/** SQL that is true when a hold keeps the data of a day (UTC). A hold on a participant keeps every day. */
export const isDayHeldSql = (day: string): string => `exists (
  select from hold where removed_at is null and (kind = 'participant'
    or (kind = 'period' and begins_at < (${day} + 1)::timestamp at time zone 'utc'
      and ends_at > ${day}::timestamp at time zone 'utc')))`
