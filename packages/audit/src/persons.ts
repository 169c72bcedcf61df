/**
 * Persons in accounts. A row has the pseudonym of one identifier; the entry has a commitment to it. When the row is erased, the
 * commitment says nothing about the person, and the chain still verifies.
 */
import { createHmac, hash, type KeyObject, randomBytes } from 'node:crypto'
import type { AccountedPerson, PersonIdentifier } from '@rollcall/core/model/account'
import type { NewAccountPerson } from './store/write-accounts.ts'

export const COMMITMENT_BYTES = 32
export const SALT_BYTES = 16

/** HMAC-SHA-256 of type and value with the secret of the accounts: the same for all registries. */
export const pseudonymOf = (secret: KeyObject, identifier: PersonIdentifier): Buffer =>
  createHmac('sha256', secret).update(textOf(identifier)).digest()

/** A type has no NUL: no two identifiers have one text. */
const textOf = ({ type, value }: PersonIdentifier): string => `${type}\0${value}`

/** SHA-256 of salt, pseudonym and role. */
export const commitmentOf = (salt: Buffer, pseudonym: Buffer, role: string): Buffer =>
  hash('sha256', Buffer.concat([salt, pseudonym, Buffer.from(role)]), 'buffer')

/** The rows of an entry: one for each role and identifier. */
export function personRows(secret: KeyObject, persons: readonly AccountedPerson[]): readonly NewAccountPerson[] {
  const pseudonyms = new Map<string, Buffer>()
  const rows = new Map<string, NewAccountPerson>()
  for (const { role, identifiers } of persons) {
    for (const identifier of identifiers) {
      const name = textOf(identifier)
      const key = `${role}\0${name}`
      if (rows.has(key)) continue
      let pseudonym = pseudonyms.get(name)
      if (pseudonym === undefined) {
        pseudonym = pseudonymOf(secret, identifier)
        pseudonyms.set(name, pseudonym)
      }
      rows.set(key, { role, pseudonym, salt: newSalt() })
    }
  }
  return [...rows.values()]
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
