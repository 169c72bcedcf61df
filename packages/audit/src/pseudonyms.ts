/** Makes pseudonyms of persons for use outside of the audit log. They equal those in it, in all registries. */
import type { KeyObject } from 'node:crypto'
import type { Pseudonyms } from '@rollcall/core/model/audit-entry'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { loadAuditKeys } from './keys.ts'
import { pseudonymOf } from './persons.ts'

/** Creates the maker of pseudonyms. @param vault is opened for the first pseudonym */
export function createPseudonyms(db: Database, vault: () => Promise<Vault>): Pseudonyms {
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
