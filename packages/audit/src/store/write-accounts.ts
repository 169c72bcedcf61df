/** Entries of a chain and the persons they are about, written by one statement. */

import type { PersonRole } from '@rollcall/core/model/account'
import type pg from 'pg'

/** An entry that is hashed. */
export interface NewAccount {
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
  const { rows } = await pool.query<{ at: Date }>({ name: 'database time', text: 'select clock_timestamp() as at' })
  return (rows[0] as { at: Date }).at
}

const HASH = 32
const SALT = 16

/**
 * Values of fixed length, and texts, come as one run of bytes each: an array of them would be written as text, which takes
 * several times as long.
 */
const WRITE = `with entries as (
    insert into account (chain, sequence, at, entry, commitments, hash, message_id, reply_message_id)
    select $1, $3::bigint + row.number, $2, convert_from(substr($4::bytea, row.start, row.length), 'UTF8'),
      substr($5::bytea, row.person * ${HASH} + 1, row.persons * ${HASH}),
      substr($6::bytea, (row.number::integer - 1) * ${HASH} + 1, ${HASH}), row.message_id, row.reply_message_id
    from unnest($7::integer[], $8::integer[], $9::integer[], $10::integer[], $11::text[], $12::text[]) with ordinality
      as row (start, length, person, persons, message_id, reply_message_id, number)
  ), persons as (
    insert into account_person (chain, sequence, position, pseudonym, salt, role)
    select $1, $3::bigint + row.entry, row.position, substr($13::bytea, (row.number::integer - 1) * ${HASH} + 1, ${HASH}),
      substr($14::bytea, (row.number::integer - 1) * ${SALT} + 1, ${SALT}), row.role
    from unnest($15::integer[], $16::integer[], $17::text[]) with ordinality as row (entry, position, role, number)
  )
  select clock_timestamp() as at`

/**
 * Writes entries that follow the entry `after` of a chain.
 * @returns the time of the database
 */
export async function writeAccounts(
  pool: pg.Pool,
  { chain, after, at }: { readonly chain: string; readonly after: number; readonly at: Date },
  accounts: readonly NewAccount[],
): Promise<Date> {
  const texts = accounts.map(({ entry }) => Buffer.from(entry))
  const persons = accounts.flatMap(({ persons: those }, index) =>
    those.map((person, position) => ({ person, entry: index + 1, position })),
  )
  const { rows } = await pool.query<{ at: Date }>({
    name: 'write accounts',
    text: WRITE,
    values: [
      ...[chain, at, after],
      Buffer.concat(texts),
      Buffer.concat(accounts.map(({ commitments }) => commitments)),
      Buffer.concat(accounts.map(({ hash }) => hash)),
      arrayOf(starts(texts.map(({ length }) => length)).map((start) => start + 1)),
      arrayOf(texts.map(({ length }) => length)),
      arrayOf(starts(accounts.map((account) => account.persons.length))),
      arrayOf(accounts.map((account) => account.persons.length)),
      accounts.map(({ message_id }) => message_id),
      accounts.map(({ reply_message_id }) => reply_message_id),
      Buffer.concat(persons.map(({ person }) => person.pseudonym)),
      Buffer.concat(persons.map(({ person }) => person.salt)),
      arrayOf(persons.map(({ entry }) => entry)),
      arrayOf(persons.map(({ position }) => position)),
      arrayOf(persons.map(({ person }) => person.role)),
    ],
  })
  return (rows[0] as { at: Date }).at
}

/** Where each part begins, of parts of these lengths behind each other. */
function starts(lengths: readonly number[]): number[] {
  let sum = 0
  return lengths.map((length) => {
    sum += length
    return sum - length
  })
}

/** An array of numbers or of words, as PostgreSQL reads it. */
const arrayOf = (values: readonly (number | PersonRole)[]): string => `{${values.join()}}`
