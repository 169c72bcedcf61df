/** What admin functions work with. */
import type { Vault } from '../keys/vault.ts'
import type { Database } from '../store/db/database.ts'

export interface HasDatabase {
  readonly db: Database
}

export interface HasVault extends HasDatabase {
  /** Opened when something is to be sealed or opened: most calls need no master key. */
  readonly vault: () => Promise<Vault>
}
