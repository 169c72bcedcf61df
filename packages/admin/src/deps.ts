/** The dependencies of admin functions. */

import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'

export interface HasDatabase {
  readonly db: Database
}

/** Dependencies of functions that act as the owner of the database. */
export interface HasOwner extends HasDatabase {
  /** The database as its owner sees it (default: `db`, where one role is owner and application). */
  readonly owner?: Database
}

export interface HasVault extends HasDatabase {
  /** Opens the vault. It is called only by functions that need it, because most calls need no master key. */
  readonly vault: () => Promise<Vault>
}

export interface HasClock {
  /** The clock (default: that of the system). */
  readonly now?: () => Date
}

/** Dependencies of functions that change records, and so record events. */
export interface HasEventRecording extends HasDatabase, HasClock {
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
}
