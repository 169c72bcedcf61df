/**
 * The persons in the audit log. The row of an entry has the pseudonym of each identifier; the hash of the entry covers a
 * commitment to it. After the pseudonym is erased, the commitment says nothing about the person, and the chain still verifies.
 */
import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { type AuditedPerson, identifierKey, type MakePseudonyms, type PersonIdentifier } from '@rollcall/core/model/audit-entry'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { createAuditKeyLoader } from './keys.ts'
import { type PackedPerson, SALT_BYTES } from './store/packed-persons.ts'

/** The pseudonym of an identifier, the same in all registries: HMAC-SHA-256 of type and value with a secret key. */
export const pseudonymOf = (secret: KeyObject, identifier: PersonIdentifier): Buffer =>
  createHmac('sha256', secret).update(identifierKey(identifier)).digest()

/**
 * Creates the maker of pseudonyms for use outside of the audit log. They equal the pseudonyms in the audit log.
 * @param vault is opened for the first pseudonym
 */
export function createPseudonymMaker(db: Database, vault: () => Promise<Vault>): MakePseudonyms {
  const keys = createAuditKeyLoader(db, vault)
  return async (identifiers) => {
    const { pseudonyms } = await keys()
    return identifiers.map((identifier) => pseudonymOf(pseudonyms, identifier))
  }
}

/** Replaces the identifiers of an entry's persons by pseudonyms: one, with a new salt, for each pair of role and identifier. */
export function packedPersonsOf(secret: KeyObject, persons: readonly AuditedPerson[]): readonly PackedPerson[] {
  const packed = new Map<string, PackedPerson>()
  for (const { role, identifiers } of persons) {
    for (const identifier of identifiers) {
      const key = `${role}\0${identifierKey(identifier)}`
      if (!packed.has(key)) packed.set(key, { role, pseudonym: pseudonymOf(secret, identifier), salt: newSalt() })
    }
  }
  return [...packed.values()]
}

/** The random bytes for salts that are fetched at once: fetching many takes as long as fetching few. */
const SALT_BATCH_BYTES = 4_096
let salts = Buffer.alloc(0)
let used = 0

function newSalt(): Buffer {
  if (used === salts.length) {
    salts = randomBytes(SALT_BATCH_BYTES)
    used = 0
  }
  used += SALT_BYTES
  return salts.subarray(used - SALT_BYTES, used)
}
