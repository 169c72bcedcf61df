/**
 * The persons of an entry, packed in its row: for each a run of one byte for the role, 32 of pseudonym and 16 of salt. An erased
 * run has the role 0, the commitment in place of the pseudonym, and zeros as the salt. Entries of earlier versions have rows of
 * `account_person` instead.
 */
import { sha256 } from '@rollcall/base/shared/sha256'
import { PERSON_ROLES, type PersonRole } from '@rollcall/core/model/audit-entry'

export const COMMITMENT_BYTES = 32
export const SALT_BYTES = 16
const PSEUDONYM_BYTES = 32
const PERSON_BYTES = 1 + PSEUDONYM_BYTES + SALT_BYTES
const ERASED_ROLE = 0
const NO_SALT = Buffer.alloc(SALT_BYTES)

/** The commitment to a person: SHA-256 of salt, pseudonym and role. */
export const commitmentOf = ({ salt, pseudonym, role }: Omit<PackedPerson, 'role'> & { readonly role: string }): Buffer =>
  sha256(Buffer.concat([salt, pseudonym, textBytesByRole.get(role) ?? Buffer.from(role)]))

const textBytesByRole = new Map<string, Buffer>(PERSON_ROLES.map((role) => [role, Buffer.from(role)]))

export interface PackedPerson {
  readonly role: PersonRole
  readonly pseudonym: Buffer
  readonly salt: Buffer
}

export function packPersons(persons: readonly PackedPerson[]): Buffer {
  const packed = Buffer.alloc(persons.length * PERSON_BYTES)
  for (const [index, { role, pseudonym, salt }] of persons.entries()) {
    const start = index * PERSON_BYTES
    packed[start] = PERSON_ROLES.indexOf(role) + 1
    pseudonym.copy(packed, start + 1)
    salt.copy(packed, start + 1 + PSEUDONYM_BYTES)
  }
  return packed
}

/** One person of an entry, read from the packed bytes. Of an erased person only the commitment is left. */
export interface UnpackedPerson {
  /** The person; null when the person was erased. */
  readonly person: PackedPerson | null
  readonly commitment: Buffer
}

/** Divides packed bytes into runs. @returns null: the bytes are no runs of persons */
export function unpackPersons(packed: Buffer): readonly UnpackedPerson[] | null {
  const runs: UnpackedPerson[] = []
  for (let start = 0; start < packed.length; start += PERSON_BYTES) {
    const number = packed[start]
    const value = packed.subarray(start + 1, start + 1 + PSEUDONYM_BYTES)
    const salt = packed.subarray(start + 1 + PSEUDONYM_BYTES, start + PERSON_BYTES)
    const role = PERSON_ROLES[(number ?? 0) - 1]
    if (salt.length < SALT_BYTES) return null
    const person = role === undefined ? null : { role, pseudonym: value, salt }
    if (person !== null) runs.push({ person, commitment: commitmentOf(person) })
    else if (number === ERASED_ROLE && salt.equals(NO_SALT)) runs.push({ person: null, commitment: value })
    else return null
  }
  return runs
}

/**
 * Replaces persons in packed bytes by their commitments.
 * @returns the new bytes, and the positions of the erased persons
 */
export function erasePackedPersons(
  packed: Buffer,
  isErased: (pseudonym: Buffer, position: number) => boolean,
): { readonly packed: Buffer; readonly positions: readonly number[] } {
  const erased = Buffer.from(packed)
  const positions: number[] = []
  for (const [position, { person, commitment }] of (unpackPersons(packed) ?? []).entries()) {
    if (person === null || !isErased(person.pseudonym, position)) continue
    const start = position * PERSON_BYTES
    erased.fill(ERASED_ROLE, start, start + PERSON_BYTES)
    commitment.copy(erased, start + 1)
    positions.push(position)
  }
  return { packed: erased, positions }
}

/** How many bytes of a value make its key. Values may share a key, so the whole values are compared after a look-up. */
const ENTRY_SEARCH_KEY_BYTES = 6

/** The key of a pseudonym or of a correlation_id: a number by which an index finds entries. */
export const entrySearchKeyOf = (value: Buffer | string): number =>
  (typeof value === 'string' ? sha256(value) : value).readUIntBE(0, ENTRY_SEARCH_KEY_BYTES)

/**
 * The numbers by which an index finds an entry, in ascending order: one for each person, and one for each exchange whose stored
 * answer is sent or shown again. @param repeats the correlation_ids of these exchanges
 */
export function entrySearchKeysOf(persons: readonly PackedPerson[], repeats: readonly string[] = []): readonly number[] {
  const found = new Set(repeats.map(entrySearchKeyOf))
  for (const { pseudonym } of persons) found.add(entrySearchKeyOf(pseudonym))
  return [...found].sort((one, other) => one - other)
}

/**
 * SQL for a `from` clause: the persons in entries of all versions, without erased ones, each with chain, sequence, position,
 * role, pseudonym and salt. Functions are named with their schema: the application may make functions of these names.
 * @param keys SQL of the keys to which persons packed in entries are limited; left out: all. Persons in rows of their own are not
 * limited.
 */
export const personRowsSql = (keys?: string): string => `(
  select chain, sequence, position, role, pseudonym, salt from account_person
  union all
  select chain, sequence, position,
    (array['${PERSON_ROLES.join("', '")}'])[pg_catalog.get_byte(persons, position * ${PERSON_BYTES})],
    pg_catalog.substr(persons, position * ${PERSON_BYTES} + 2, ${PSEUDONYM_BYTES}),
    pg_catalog.substr(persons, position * ${PERSON_BYTES} + ${2 + PSEUDONYM_BYTES}, ${SALT_BYTES})
  from account_entry
    cross join lateral pg_catalog.generate_series(0, pg_catalog.length(persons) / ${PERSON_BYTES} - 1) as run (position)
  where pg_catalog.get_byte(persons, position * ${PERSON_BYTES}) > ${ERASED_ROLE}
    ${keys === undefined ? '' : `and account_entry.keys operator(pg_catalog.&&) ${keys}`}
)`
