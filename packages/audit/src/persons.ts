/**
 * The persons in the audit log. The row of an entry has the pseudonym of each identifier; the hash of the entry covers
 * a commitment to it. After the pseudonym is erased, the commitment says nothing about the person, and the chain still
 * verifies.
 */
import { type KeyObject, randomBytes } from 'node:crypto'
import { hmacSha256 } from '@rollcall/base/shared/sha256'
import {
  type AuditedPerson,
  identifierKey,
  type PersonIdentifier,
  type Pseudonyms,
} from '@rollcall/core/model/audit-entry'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { loadAuditKeys } from './keys.ts'
import { type PackedPerson, SALT_BYTES } from './store/packed-persons.ts'

/** The pseudonym of an identifier, the same in all registries: HMAC-SHA-256 of type and value with a secret key. */
export const pseudonymOf = (secret: KeyObject, identifier: PersonIdentifier): Buffer =>
  hmacSha256(secret, identifierKey(identifier))

/**
 * Creates the maker of pseudonyms for use outside of the audit log. They equal those in it.
 * @param vault is opened for the first pseudonym
 */
export function createPseudonymMaker(db: Database, vault: () => Promise<Vault>): Pseudonyms {
  let secret: Promise<KeyObject> | undefined
  const loaded = (): Promise<KeyObject> => {
    secret ??= vault()
      .then((opened) => loadAuditKeys(db, opened))
      .then(({ pseudonyms }) => pseudonyms)
      .catch((error: unknown) => {
        secret = undefined
        throw error
      })
    return secret
  }
  return async (identifiers) => {
    const key = await loaded()
    return identifiers.map((identifier) => pseudonymOf(key, identifier))
  }
}

/** The persons of an entry: one for each pair of role and identifier. */
export function packedPersonsOf(secret: KeyObject, persons: readonly AuditedPerson[]): readonly PackedPerson[] {
  const packed = new Map<string, PackedPerson>()
  for (const { role, identifiers } of persons) {
    for (const identifier of identifiers) {
      const name = identifierKey(identifier)
      const key = `${role}\0${name}`
      if (!packed.has(key)) packed.set(key, { role, pseudonym: hmacSha256(secret, name), salt: newSalt() })
    }
  }
  return [...packed.values()]
}

/** The random bytes for salts that are fetched at once: fetching many takes as long as few. */
const SALTS = 4_096
let salts = Buffer.alloc(0)
let used = 0

function newSalt(): Buffer {
  if (used === salts.length) {
    salts = randomBytes(SALTS)
    used = 0
  }
  used += SALT_BYTES
  return salts.subarray(used - SALT_BYTES, used)
}
