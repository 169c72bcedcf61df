/** Erases persons from the audit log, as the owner of the database. The chains still verify afterwards. */

import { StoreRefusal } from '@rollcall/database/refusal'
import { type Kysely, sql } from 'kysely'
import { ENTRIES_WITH_CONTENT_SQL } from './entry-shape.ts'
import { IS_ENTRY_HELD_SQL } from './held-entries.ts'
import { entrySearchKeyOf, erasePackedPersons, personRowsSql, unpackPersons } from './packed-persons.ts'

/** The place of a person in the audit log: the entry, and the position among the persons of the entry. */
export interface PersonPlace {
  readonly chain: string
  readonly sequence: number
  readonly position: number
}

export interface PersonRowCounts {
  readonly rows: number
  readonly entries: number
  /** The number of the counted rows that a hold protects, so that they are not erased. */
  readonly held: number
}

/** Counts the rows of persons with these pseudonyms, and the entries to which the rows belong. */
export async function countPersonRows(connection: Kysely<unknown>, pseudonyms: readonly Buffer[]): Promise<PersonRowCounts> {
  const { rows } = await sql<PersonRowCounts>`
    select count(*)::integer as rows, pg_catalog.count(distinct (chain, sequence))::integer as entries,
      count(*) filter (where held)::integer as held
    from (select person.chain, person.sequence, exists ${heldEntrySql('person')} as held
      from ${personRowsOfPseudonyms(pseudonyms)} as person where person.pseudonym = any(${pseudonyms}::bytea[])) as found`.execute(
    connection,
  )
  return rows[0] ?? { rows: 0, entries: 0, held: 0 }
}

const personRowsOfPseudonyms = (pseudonyms: readonly Buffer[]) =>
  sql.raw(personRowsSql(`'{${pseudonyms.map(entrySearchKeyOf).join()}}'::bigint[]`))

/** SQL subquery: the entry of a row, if a hold protects the entry. */
const heldEntrySql = (row: string) =>
  sql.raw(`(select from ${ENTRIES_WITH_CONTENT_SQL} where account.chain = ${row}.chain and account.sequence = ${row}.sequence
    and ${IS_ENTRY_HELD_SQL})`)

/**
 * Erases pseudonyms and salts of a person in at most `most` rows, except those that a hold protects.
 * @param transaction the one that also inserts the tombstone
 * @returns the places of the erased pseudonyms; empty when none are left
 */
export async function erasePersonsOfPseudonyms(
  transaction: Kysely<unknown>,
  pseudonyms: readonly Buffer[],
  most: number,
): Promise<readonly PersonPlace[]> {
  const { rows } = await sql<PersonPlace>`
    delete from account_person where ctid = any(array(
      select person.ctid from account_person as person
      where person.pseudonym = any(${pseudonyms}::bytea[]) and not exists ${heldEntrySql('person')}
      limit ${most}))
    returning chain, sequence, position`.execute(transaction)
  return rows.length > 0 ? rows : erasePersonsInEntries(transaction, pseudonyms, most)
}

/**
 * Erases the persons with these pseudonyms from the packed column `persons` of at most `most` entries. An entry that a hold
 * protects is left unchanged.
 */
async function erasePersonsInEntries(
  transaction: Kysely<unknown>,
  pseudonyms: readonly Buffer[],
  most: number,
): Promise<readonly PersonPlace[]> {
  const { rows } = await sql<Omit<PersonPlace, 'position'> & { persons: Buffer; keys: readonly number[] }>`
    select chain, sequence, persons, keys from account_entry as entry
    where (chain, sequence) in (select person.chain, person.sequence from ${personRowsOfPseudonyms(pseudonyms)} as person
        where person.pseudonym = any(${pseudonyms}::bytea[]))
      and not exists ${heldEntrySql('entry')}
    limit ${most} for update of entry`.execute(transaction)
  const isErased = (pseudonym: Buffer): boolean => pseudonyms.some((one) => one.equals(pseudonym))
  const changed = rows.map(({ chain, sequence, persons, keys }) => {
    const { packed, positions } = erasePackedPersons(persons, isErased)
    const left = new Set((unpackPersons(packed) ?? []).flatMap(({ person }) => person && entrySearchKeyOf(person.pseudonym)))
    const gone = new Set(pseudonyms.map(entrySearchKeyOf).filter((key) => !left.has(key)))
    return { chain, sequence, packed, positions, keys: `{${keys.filter((key) => !gone.has(key)).join()}}` }
  })
  if (changed.some(({ positions }) => positions.length === 0)) {
    throw new StoreRefusal('an audit entry is not as it was written: run rollcall audit verify, which names it')
  }
  await sql`update account_entry set persons = changed.persons, keys = changed.keys::bigint[]
    from rows from (
      pg_catalog.unnest(${changed.map(({ chain }) => chain)}::uuid[]),
      pg_catalog.unnest(${changed.map(({ sequence }) => sequence)}::bigint[]),
      pg_catalog.unnest(${changed.map(({ packed }) => packed)}::bytea[]),
      pg_catalog.unnest(${changed.map(({ keys }) => keys)}::text[])) as changed (chain, sequence, persons, keys)
    where account_entry.chain = changed.chain and account_entry.sequence = changed.sequence`.execute(transaction)
  return changed.flatMap(({ chain, sequence, positions }) => positions.map((position) => ({ chain, sequence, position })))
}
