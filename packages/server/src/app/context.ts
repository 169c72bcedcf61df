/** The one place where the server's parts are made and put together. */
import type { Context } from '../context.ts'
import { createLog, type Log } from '../observe/log.ts'
import { createMetrics } from '../observe/metrics.ts'
import { createDirectory } from '../participants/directory.ts'
import { createTokens } from '../participants/tokens.ts'
import type { Database } from '../store/database.ts'
import type { Config } from './config.ts'

/** @param parts.log where the server logs; by default standard error */
export function createContext(config: Config, db: Database, parts: { log?: Log } = {}): Context {
  return {
    db,
    directory: createDirectory(db),
    tokens: createTokens(db, { lifetime: config.limits.token_lifetime }),
    limits: config.limits,
    log: parts.log ?? createLog({ level: config.logLevel }),
    metrics: createMetrics(() => ({
      total: db.pool.totalCount,
      idle: db.pool.idleCount,
      waiting: db.pool.waitingCount,
    })),
  }
}
