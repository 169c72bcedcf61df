/** Holds: persons, participants and periods whose data are not deleted while somebody needs them, such as a court. */
import { type Kysely, sql } from 'kysely'
import type { PoolClient } from 'pg'
import type { Database } from './database.ts'

export const HOLD_KINDS = ['person', 'participant', 'period'] as const
export type HoldKind = (typeof HOLD_KINDS)[number]

export interface Hold {
  readonly id: number
  readonly kind: HoldKind
  /** sender_id */
  readonly participant: string | null
  readonly begins_at: Date | null
  readonly ends_at: Date | null
  readonly reason: string
  readonly created_by: string
  readonly created_at: Date
}

export type NewHold = Pick<Hold, 'kind' | 'participant' | 'begins_at' | 'ends_at' | 'reason' | 'created_by'> & {
  /** Pseudonyms of the person; null for another kind of hold. */
  readonly pseudonyms: readonly Buffer[] | null
}

const COLUMNS = 'id, kind, participant, begins_at, ends_at, reason, created_by, created_at'

export async function addHold({ pool }: Pick<Database, 'pool'>, hold: NewHold): Promise<Hold> {
  const { kind, participant, begins_at, ends_at, reason, created_by, pseudonyms } = hold
  const { rows } = await pool.query<Hold>(
    `insert into hold (kind, pseudonyms, participant, begins_at, ends_at, reason, created_by)
      values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
    [kind, pseudonyms, participant, begins_at, ends_at, reason, created_by],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the hold was not inserted')
  return row
}

/** Holds in force, the oldest first. */
export async function listHolds({ pool }: Pick<Database, 'pool'>): Promise<readonly Hold[]> {
  const { rows } = await pool.query<Hold>(`select ${COLUMNS} from hold where removed_at is null order by id`)
  return rows
}

/** @returns false: none with this number is in force */
export async function removeHold({ pool }: Pick<Database, 'pool'>, id: number, removed_by: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update hold set removed_at = now(), removed_by = $2 where id = $1 and removed_at is null',
    [id, removed_by],
  )
  return rowCount === 1
}

/** Ends the holds that were made before a time, except some. */
export async function removeOtherHolds(
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

/** As the owner, erases a person's pseudonyms from removed holds. */
export async function erasePersonOfHolds(connection: Kysely<unknown>, pseudonyms: readonly Buffer[]): Promise<void> {
  await sql`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms && ${pseudonyms}::bytea[]`.execute(
    connection,
  )
}

/** Erases the pseudonyms of all removed holds. Only the owner of the tables may. */
export async function clearRemovedHolds({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query(`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms <> '{}'::bytea[]`)
}

/** Numbers of the holds in force on a person with one of these pseudonyms. */
export async function holdsOfPerson(
  client: Pick<PoolClient, 'query'>,
  pseudonyms: readonly Buffer[],
): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: number }>(
    'select id from hold where removed_at is null and pseudonyms && $1::bytea[] order by id',
    [pseudonyms],
  )
  return rows.map(({ id }) => id)
}

/** Numbers of the holds in force on data of a registry (all holds) or of a participant. */
export async function holdsOf(
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

/** Which rows a hold covers, as SQL expressions of a row. */
export interface HeldRow {
  readonly time: string
  /** SQL of the participant's sender_id; null when the row has none, so that any hold of a participant covers it. */
  readonly sender_id: string | null
  /** SQL: the row is about one of `hold.pseudonyms`. Left out where a row does not name its persons. */
  readonly person?: string
}

/** SQL: a hold covers a row. Stored messages are encrypted and name no persons; audit entries have pseudonyms. */
export const isHeld = ({ time, sender_id, person }: HeldRow): string => `exists (
  select from hold where hold.removed_at is null and (
    (hold.kind = 'period' and ${time} >= hold.begins_at and ${time} < hold.ends_at)
    or (hold.kind = 'participant' and ${sender_id === null ? 'true' : `hold.participant = ${sender_id}`})
    ${person === undefined ? '' : `or (hold.kind = 'person' and ${person})`}))`

/** Rows of a table that are deleted when they are old. */
export interface ForgottenRows {
  readonly table: string
  /** The column with the time from which a row's age runs. */
  readonly since: string
  /** See `HeldRow.sender_id`. */
  readonly sender_id: string | null
  /** SQL of old rows that are still needed, whatever the holds say, such as a pending delivery. Left out when age alone decides. */
  readonly stillNeeded?: string
}

/** SQL of rows older than `$1` seconds that no hold covers. */
export const forgettable = ({ table, since, sender_id, stillNeeded = 'false' }: ForgottenRows): string =>
  `${table} where ${since} < now() - make_interval(secs => $1)
    and not (${stillNeeded}) and not ${isHeld({ time: `${table}.${since}`, sender_id })}`

/** SQL: a hold keeps data of a day (UTC; an SQL expression). A hold of a participant keeps all days. */
export const isDayHeld = (day: string): string => `exists (
  select from hold where removed_at is null and (kind = 'participant'
    or (kind = 'period' and begins_at < (${day} + 1)::timestamp at time zone 'utc'
      and ends_at > ${day}::timestamp at time zone 'utc')))`
