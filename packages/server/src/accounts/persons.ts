/**
 * Persons in accounts. A row has the pseudonym of one identifier; the entry has a commitment to it. When the row is erased, the
 * commitment says nothing about the person, and the chain still verifies.
 */
import { createHmac, hash, type KeyObject, randomBytes } from 'node:crypto'
import type { AccountedPerson, PersonIdentifier, PersonRole } from '../model/account.ts'
import type { NewAccountPerson } from '../store/accounts/write-accounts.ts'

export const COMMITMENT_BYTES = 32
const SALT_BYTES = 16

/** HMAC-SHA-256 of type and value with the secret of the accounts: the same for all registries. */
export const pseudonymOf = (secret: KeyObject, { type, value }: PersonIdentifier): Buffer =>
  createHmac('sha256', secret).update(`${type}\0${value}`).digest()

export const commitmentOf = ({ salt, pseudonym, role }: NewAccountPerson): Buffer =>
  hash('sha256', Buffer.concat([salt, pseudonym, ROLES[role]]), 'buffer')

const ROLES: Readonly<Record<PersonRole, Buffer>> = {
  seen: Buffer.from('seen'),
  asked: Buffer.from('asked'),
  written: Buffer.from('written'),
}

/** The rows of an entry: one for each role and identifier. */
export function personRows(
  secret: KeyObject,
  persons: readonly AccountedPerson[],
): readonly NewAccountPerson[] {
  const found = new Map<string, { readonly role: PersonRole; readonly identifier: PersonIdentifier }>()
  for (const { role, identifiers } of persons) {
    for (const identifier of identifiers)
      found.set(`${role}\0${identifier.type}\0${identifier.value}`, { role, identifier })
  }
  if (found.size === 0) return []
  const salts = randomBytes(found.size * SALT_BYTES)
  return [...found.values()].map(({ role, identifier }, index) => ({
    role,
    pseudonym: pseudonymOf(secret, identifier),
    salt: salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES),
  }))
}
