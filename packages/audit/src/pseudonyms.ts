/** Pseudonyms of persons outside of accounts: the same as in them, of all registries. */
import type { KeyObject } from 'node:crypto'
import type { Pseudonyms } from '@rollcall/core/model/account'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { loadAccountKeys } from './keys.ts'
import { pseudonymOf } from './persons.ts'

/** @param vault is opened for the first pseudonym */
export function createPseudonyms(db: Database, vault: () => Promise<Vault>): Pseudonyms {
  let secret: Promise<KeyObject> | undefined
  const loaded = (): Promise<KeyObject> => {
    secret ??= vault()
      .then((opened) => loadAccountKeys(db, opened))
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
