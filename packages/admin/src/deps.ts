/** The dependencies of admin functions. */

import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'

export interface HasDatabase {
  readonly db: Database
}

/** Dependencies of what only the owner of the database may do. */
export interface HasOwner extends HasDatabase {
  /** The same database as its owner; `db` where one role does both. */
  readonly owner?: Database
}

export interface HasVault extends HasDatabase {
  /** Opens the vault when the first value is encrypted or decrypted: most calls need no master key. */
  readonly vault: () => Promise<Vault>
}

export interface HasClock {
  /** Default: the time it is. */
  readonly now?: () => Date
}

/** Dependencies of changes of records, which are events. */
export interface HasRecording extends HasDatabase, HasClock {
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
}
