/** Erasing persons from accounts, as the owner of the database: the chain goes on without their pseudonyms and salts. */

import { type Kysely, sql } from 'kysely'
import { IS_ACCOUNT_HELD } from './held-accounts.ts'

/** A row of a person in an entry. */
export interface PersonPlace {
  readonly chain: string
  readonly sequence: number
  readonly position: number
}

export interface PersonCounts {
  readonly rows: number
  readonly entries: number
  /** Of the rows, those that a hold of a participant or a period covers. */
  readonly held: number
}

export async function countPerson(connection: Kysely<unknown>, pseudonyms: readonly Buffer[]): Promise<PersonCounts> {
  const { rows } = await sql<PersonCounts>`
    select count(*)::integer as rows, pg_catalog.count(distinct (chain, sequence))::integer as entries,
      count(*) filter (where held)::integer as held
    from (select person.chain, person.sequence, exists (select from account
        where account.chain = person.chain and account.sequence = person.sequence
          and ${sql.raw(IS_ACCOUNT_HELD)}) as held
      from account_person as person where person.pseudonym = any(${pseudonyms}::bytea[])) as found`.execute(connection)
  return rows[0] ?? { rows: 0, entries: 0, held: 0 }
}

/**
 * Deletes some rows of a person that no hold covers.
 * @param transaction in which the tombstone is inserted
 * @returns the places of the rows; none: there are no more
 */
export async function deletePersonRows(
  transaction: Kysely<unknown>,
  pseudonyms: readonly Buffer[],
  most: number,
): Promise<readonly PersonPlace[]> {
  const { rows } = await sql<PersonPlace>`
    delete from account_person where ctid = any(array(
      select person.ctid from account_person as person
      where person.pseudonym = any(${pseudonyms}::bytea[]) and not exists (select from account
        where account.chain = person.chain and account.sequence = person.sequence
          and ${sql.raw(IS_ACCOUNT_HELD)})
      limit ${most}))
    returning chain, sequence, position`.execute(transaction)
  return rows
}
