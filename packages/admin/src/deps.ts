/** The dependencies of admin functions. */

import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'

export interface HasDatabase {
  readonly db: Database
}

/** For what only the owner of the database may do. */
export interface HasOwner extends HasDatabase {
  /** The same database as its owner; `db` where one role does both. */
  readonly owner?: Database
}

export interface HasVault extends HasDatabase {
  /** Opened for the first value to encrypt or decrypt: most calls need no master key. */
  readonly vault: () => Promise<Vault>
}

/** For changes of records, which are events. */
export interface HasRecording extends HasDatabase {
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
  /** Default: the time it is. */
  readonly now?: () => Date
}
