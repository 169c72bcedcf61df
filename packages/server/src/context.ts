/** What a request needs of the server, as types; `app/context.ts` makes the values, once. */

import type { DayUses } from './admission/day-uses.ts'
import type { Quota } from './admission/quota.ts'
import type { Turns } from './admission/turns.ts'
import type { Breakers } from './delivery/breaker.ts'
import type { Credentials } from './delivery/credentials.ts'
import type { Dispatcher } from './delivery/dispatcher.ts'
import type { Limiter } from './delivery/limiter.ts'
import type { Callbacks, Directory } from './directory/directory.ts'
import type { Tokens } from './directory/tokens.ts'
import type { Guards } from './egress/address-guard.ts'
import type { Gate } from './http/gate.ts'
import type { Bodies } from './keys/bodies.ts'
import type { Keys } from './keys/own-keys.ts'
import type { Limits } from './limits.ts'
import type { RecordSource } from './model/record-source.ts'
import type { DatabaseHealth } from './observe/health.ts'
import type { Log } from './observe/log.ts'
import type { Metrics } from './observe/metrics.ts'
import type { SlowSearchNotes } from './observe/slow-searches.ts'
import type { Modes } from './operations/mode.ts'
import type { ReadingThreads } from './reading/threads.ts'
import type { Wake } from './shared/wake.ts'
import type { Database } from './store/db/database.ts'
import type { ExchangeMemory } from './store/exchanges/exchanges.ts'
import type { Inbox } from './store/exchanges/inbox.ts'
import type { CiphertextMemory } from './store/exchanges/sealed-messages.ts'
import type { PeerKeys } from './trust/peer-keys.ts'

export interface Context {
  readonly db: Database
  readonly records: RecordSource
  readonly directory: Directory
  readonly tokens: Tokens
  readonly quota: Quota
  /** What differs between the searches of the two modes. */
  readonly modes: Modes
  readonly turns: Turns
  /** Our own keys. */
  readonly keys: Keys
  /** The participants' keys. */
  readonly peerKeys: PeerKeys
  /** The `namespace` of signatures: the one we write, and those we read (D17). */
  readonly signatureNamespaces: { readonly written: string; readonly read: readonly string[] }
  /** Where participants take what is sent to them. */
  readonly callbacks: Callbacks
  /** What they want to see before they take it. */
  readonly credentials: Credentials
  readonly breakers: Breakers
  readonly limiter: Limiter
  readonly dispatcher: Dispatcher
  /** Tells the dispatcher of this node that a delivery of a participant is due so many seconds from now. */
  readonly deliveryDue: (participant: number, seconds: number) => void
  /** Tells the queue of this node that an exchange was accepted. */
  readonly exchangeAccepted: () => void
  readonly exchangesWake: Wake
  readonly deliveriesWake: Wake
  /** Seconds from one attempt at a delivery to the next, for participants without a schedule of their own. */
  readonly retrySchedule: readonly number[]
  /** Through these alone does anything go out. */
  readonly guards: Guards
  readonly exchanges: ExchangeMemory
  readonly ciphertexts: CiphertextMemory
  /** What other systems sent to our callback paths. */
  readonly inbox: Inbox
  /** How much of what is kept a participant has sent today. */
  readonly dayUses: DayUses
  readonly bodies: Bodies
  /** Where large bodies are read. */
  readonly reading: ReadingThreads
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Metrics
  readonly databaseHealth: DatabaseHealth
  /** What is known of requests that are refused. */
  readonly gate: Gate
  /** What `rollcall index plan` learns from. */
  readonly slowSearches: SlowSearchNotes
}
