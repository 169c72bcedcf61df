/** Holds: persons, participants and periods whose data are not deleted while somebody needs them, such as a court. */
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
  /** Of a person. */
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

/** Those in force, oldest first. */
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

/** Of holds that are not in force any more, as the owner. */
export async function erasePersonOfHolds(
  { pool }: Pick<Database, 'pool'>,
  pseudonyms: readonly Buffer[],
): Promise<void> {
  await pool.query(`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms && $1::bytea[]`, [
    pseudonyms,
  ])
}

/** Holds that were removed say no more about whom they were, as the owner. */
export async function clearRemovedHolds({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query(`update hold set pseudonyms = '{}' where removed_at is not null and pseudonyms <> '{}'::bytea[]`)
}

/** The numbers of the holds of persons that have one of these pseudonyms. */
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

/**
 * Whether a hold of a participant or a period covers a row, as SQL. Holds of persons cover accounts alone: stored
 * messages are encrypted, and do not say whom they are about.
 * @param participant an SQL expression of its number; null: the row has none, so that any hold of a participant covers it
 */
export const isHeld = (time: string, participant: string | null): string => `exists (
  select from hold where hold.removed_at is null and (
    (hold.kind = 'period' and ${time} >= hold.begins_at and ${time} < hold.ends_at)
    or (hold.kind = 'participant' and ${
      participant === null
        ? 'true'
        : `hold.participant = (select sender_id from participant where participant.id = ${participant})`
    })))`

/** The same of a row of `account`: by its person, its participant or its time. */
export const IS_ACCOUNT_HELD = `exists (
  select from hold where hold.removed_at is null and (
    (hold.kind = 'period' and account.at >= hold.begins_at and account.at < hold.ends_at)
    or (hold.kind = 'participant' and hold.participant = account.entry::jsonb ->> 'participant'::text)
    or (hold.kind = 'person' and exists (
      select from account_person where account_person.chain = account.chain
        and account_person.sequence = account.sequence and account_person.pseudonym = any(hold.pseudonyms)))))`
