/**
 * Persons in the audit log. The row of an entry has the pseudonym of each identifier; the entry has a commitment to it. When the
 * pseudonym is erased, the commitment says nothing about the person, and the chain still verifies.
 */
import { createHmac, type KeyObject, randomBytes } from 'node:crypto'
import { type AuditedPerson, identifierKey, type PersonIdentifier } from '@rollcall/core/model/audit-entry'
import { type PackedPerson, SALT_BYTES } from './store/packed-persons.ts'

/** HMAC-SHA-256 of type and value with the secret of the audit log: the same for all registries. */
export const pseudonymOf = (secret: KeyObject, identifier: PersonIdentifier): Buffer =>
  createHmac('sha256', secret).update(identifierKey(identifier)).digest()

/** The persons of an entry: one for each role and identifier. */
export function packedPersonsOf(secret: KeyObject, persons: readonly AuditedPerson[]): readonly PackedPerson[] {
  const pseudonyms = new Map<string, Buffer>()
  const packed = new Map<string, PackedPerson>()
  for (const { role, identifiers } of persons) {
    for (const identifier of identifiers) {
      const name = identifierKey(identifier)
      const key = `${role}\0${name}`
      if (packed.has(key)) continue
      let pseudonym = pseudonyms.get(name)
      if (pseudonym === undefined) {
        pseudonym = pseudonymOf(secret, identifier)
        pseudonyms.set(name, pseudonym)
      }
      packed.set(key, { role, pseudonym, salt: newSalt() })
    }
  }
  return [...packed.values()]
}

/** Asking for random bytes takes as long for many as for few. */
const SALTS = 4_096
let salts = Buffer.alloc(0)

function newSalt(): Buffer {
  if (salts.length === 0) salts = randomBytes(SALTS)
  const salt = salts.subarray(0, SALT_BYTES)
  salts = salts.subarray(SALT_BYTES)
  return salt
}
