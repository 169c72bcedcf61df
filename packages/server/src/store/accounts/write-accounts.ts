/** Entries of a chain and the persons they are about, written by one statement. */
import type pg from 'pg'
import type { PersonRole } from '../../model/account.ts'

/** An entry that is hashed. */
export interface NewAccount {
  readonly sequence: number
  /** Canonical JSON. */
  readonly entry: string
  /** 32 bytes for each person. */
  readonly commitments: Buffer
  readonly hash: Buffer
  readonly message_id: string | null
  readonly reply_message_id: string | null
  readonly persons: readonly NewAccountPerson[]
}

export interface NewAccountPerson {
  readonly pseudonym: Buffer
  readonly salt: Buffer
  readonly role: PersonRole
}

/** @returns the time of the database */
export async function databaseTime(pool: pg.Pool): Promise<Date> {
  const { rows } = await pool.query<{ at: Date }>({
    name: 'database time',
    text: 'select clock_timestamp() as at',
  })
  return (rows[0] as { at: Date }).at
}

const WRITE = `with entries as (
    insert into account (chain, sequence, at, entry, commitments, hash, message_id, reply_message_id)
    select $1, row.sequence, $2, row.entry, row.commitments, row.hash, row.message_id, row.reply_message_id
    from unnest($3::bigint[], $4::text[], $5::bytea[], $6::bytea[], $7::text[], $8::text[])
      as row (sequence, entry, commitments, hash, message_id, reply_message_id)
  ), persons as (
    insert into account_person (chain, sequence, position, pseudonym, salt, role)
    select $1, row.sequence, row.position, row.pseudonym, row.salt, row.role
    from unnest($9::bigint[], $10::integer[], $11::bytea[], $12::bytea[], $13::text[])
      as row (sequence, position, pseudonym, salt, role)
  )
  select clock_timestamp() as at`

/**
 * Writes entries of a chain.
 * @returns the time of the database
 */
export async function writeAccounts(
  pool: pg.Pool,
  chain: string,
  at: Date,
  accounts: readonly NewAccount[],
): Promise<Date> {
  const persons = accounts.flatMap(({ sequence, persons: those }) =>
    those.map((person, position) => ({ ...person, sequence, position })),
  )
  const { rows } = await pool.query<{ at: Date }>({
    name: 'write accounts',
    text: WRITE,
    values: [
      chain,
      at,
      accounts.map(({ sequence }) => sequence),
      accounts.map(({ entry }) => entry),
      accounts.map(({ commitments }) => commitments),
      accounts.map(({ hash }) => hash),
      accounts.map(({ message_id }) => message_id),
      accounts.map(({ reply_message_id }) => reply_message_id),
      persons.map(({ sequence }) => sequence),
      persons.map(({ position }) => position),
      persons.map(({ pseudonym }) => pseudonym),
      persons.map(({ salt }) => salt),
      persons.map(({ role }) => role),
    ],
  })
  return (rows[0] as { at: Date }).at
}
