/** What a request needs of the server, as types; `app/context.ts` makes the values, once. */
import type { Bodies } from './keys/bodies.ts'
import type { Keys } from './keys/own-keys.ts'
import type { Limits } from './limits.ts'
import type { Log } from './observe/log.ts'
import type { Metrics } from './observe/metrics.ts'
import type { Directory } from './participants/directory.ts'
import type { Tokens } from './participants/tokens.ts'
import type { Database } from './store/database.ts'

export interface Context {
  readonly db: Database
  readonly directory: Directory
  readonly tokens: Tokens
  readonly keys: Keys
  readonly bodies: Bodies
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Metrics
}
