/** The one place where the server's parts are made and put together. */
import type { Context } from '../context.ts'
import { createBodies } from '../keys/bodies.ts'
import { createKeys } from '../keys/own-keys.ts'
import { createLog, type Log } from '../observe/log.ts'
import { createMetrics } from '../observe/metrics.ts'
import { createDirectory } from '../participants/directory.ts'
import { createTokens } from '../participants/tokens.ts'
import type { Database } from '../store/database.ts'
import type { Config } from './config.ts'
import { openVault } from './vault.ts'

/**
 * The keys that are missing are made, which takes a second or so.
 * @param parts.log where the server logs; by default standard error
 * @throws MasterKeyError the master key is missing or wrong, or an own key does not open
 */
export async function createContext(
  config: Config,
  db: Database,
  parts: { log?: Log } = {},
): Promise<Context> {
  const log = parts.log ?? createLog({ level: config.logLevel })
  const vault = await openVault(config, db)
  const keys = await createKeys(db, vault, log)
  return {
    db,
    directory: createDirectory(db),
    tokens: createTokens(keys.tokens, { lifetime: config.limits.token_lifetime }),
    keys,
    bodies: createBodies(db, vault),
    limits: config.limits,
    log,
    metrics: createMetrics(() => ({
      total: db.pool.totalCount,
      idle: db.pool.idleCount,
      waiting: db.pool.waitingCount,
    })),
  }
}
