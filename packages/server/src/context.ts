/** What a request needs of the server, as types; `app/context.ts` makes the values, once. */
import type { Bodies } from './keys/bodies.ts'
import type { Keys } from './keys/own-keys.ts'
import type { Limits } from './limits.ts'
import type { Log } from './observe/log.ts'
import type { Metrics } from './observe/metrics.ts'
import type { SlowSearchNotes } from './observe/slow-searches.ts'
import type { Guards } from './outbound/guards.ts'
import type { Directory } from './participants/directory.ts'
import type { PeerKeys } from './participants/peer-keys.ts'
import type { Quota } from './participants/quota.ts'
import type { SearchPlaces } from './participants/search-places.ts'
import type { Tokens } from './participants/tokens.ts'
import type { Database } from './store/database.ts'
import type { ExchangeMemory } from './store/exchanges.ts'
import type { CiphertextMemory } from './store/sealed-messages.ts'

export interface Context {
  readonly db: Database
  readonly directory: Directory
  readonly tokens: Tokens
  readonly quota: Quota
  /** Every search that takes one of the connections of searches goes through them. */
  readonly searchPlaces: SearchPlaces
  /** Our own keys. */
  readonly keys: Keys
  /** The participants' keys. */
  readonly peerKeys: PeerKeys
  /** The `namespace` of signatures: the one we write, and those we read (D17). */
  readonly signatureNamespaces: { readonly written: string; readonly read: readonly string[] }
  /** Through these alone does anything go out. */
  readonly guards: Guards
  readonly exchanges: ExchangeMemory
  readonly ciphertexts: CiphertextMemory
  readonly bodies: Bodies
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Metrics
  /** What `rollcall index plan` learns from. */
  readonly slowSearches: SlowSearchNotes
}
