/** The dependencies of admin functions. */
import type { Vault } from '../keys/vault.ts'
import type { Database } from '../store/db/database.ts'

export interface HasDatabase {
  readonly db: Database
}

export interface HasVault extends HasDatabase {
  /** Opened for the first value to encrypt or decrypt: most calls need no master key. */
  readonly vault: () => Promise<Vault>
}
