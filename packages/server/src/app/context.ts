/** The one place where the server's parts are made and put together. */

import { createDayUses } from '../admission/day-uses.ts'
import { createHeldBytes } from '../admission/held-bytes.ts'
import { createQuota } from '../admission/quota.ts'
import { createSearchPlaces } from '../admission/search-places.ts'
import { createThrottle } from '../admission/throttle.ts'
import type { Context } from '../context.ts'
import { createBreakers } from '../delivery/breaker.ts'
import { createCredentials } from '../delivery/credentials.ts'
import { createLanes } from '../delivery/lanes.ts'
import { createCallbacks, createDirectory } from '../directory/directory.ts'
import { createTokens } from '../directory/tokens.ts'
import { createGuards } from '../egress/address-guard.ts'
import { clientAddressReader, createGate } from '../http/gate.ts'
import { createBodies } from '../keys/bodies.ts'
import { createKeys } from '../keys/own-keys.ts'
import { createDatabaseHealth } from '../observe/health.ts'
import { createLog, type Log } from '../observe/log.ts'
import { createMetrics } from '../observe/metrics.ts'
import { createRefusals } from '../observe/refusals.ts'
import { createSlowSearchNotes } from '../observe/slow-searches.ts'
import { createReadingThreads } from '../reading/threads.ts'
import { CLOCK, type Clock } from '../shared/clock.ts'
import type { Database } from '../store/db/database.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import { deliveryHealth } from '../store/deliveries/delivery-health.ts'
import { MOST_CONCURRENCY } from '../store/directory/participant-callbacks.ts'
import { takeTokens } from '../store/directory/quotas.ts'
import { createExchangeMemory } from '../store/exchanges/exchanges.ts'
import { createInbox } from '../store/exchanges/inbox.ts'
import { createCiphertextMemory } from '../store/exchanges/sealed-messages.ts'
import { addSlowSearches } from '../store/records/index-plan.ts'
import { ownRecords } from '../store/records/own-records.ts'
import { createKeySets } from '../trust/key-sets.ts'
import { createPeerKeys } from '../trust/peer-keys.ts'
import type { Config } from './config.ts'
import { openVault } from './vault.ts'

/** Seconds that a search waits for its turn whose answer nobody is waiting for. */
const JOB_PATIENCE = 3_600
/** Seconds after which it counts how many of its participant wait, each in the place of another job. */
const JOB_CROWD = 1
/** The part of the jobs in work that may wait so, of one participant. */
const JOB_SHARE = 0.25

/**
 * The keys that are missing are made, which takes a second or so.
 * @param parts.log where the server logs; by default standard error
 * @param parts.clock by which keys, tokens and what is known of participants age
 * @throws MasterKeyError the master key is missing or wrong, or an own key does not open
 */
export async function createContext(
  config: Config,
  db: Database,
  parts: { log?: Log; clock?: Clock } = {},
): Promise<Context> {
  const { log = createLog({ level: config.logLevel }), clock = CLOCK } = parts
  const vault = await openVault(config, db)
  const keys = await createKeys(db, vault, log, clock)
  const { limits } = config
  const connections = () => ({
    total: db.pool.totalCount,
    idle: db.pool.idleCount,
    waiting: db.pool.waitingCount,
  })
  const databaseHealth = createDatabaseHealth({
    log,
    read: () => db.pool.query('SELECT 1'),
    write: () => takeTokens(db, { bucket: 'ready', rate: 1, capacity: 1, wanted: 1 }),
  })
  const metrics = createMetrics(connections, () => deliveryHealth(db), databaseHealth.breaker)
  // The places of participants bound it before.
  const guards = createGuards({ connections: MOST_CONCURRENCY })
  const keySets = createKeySets({ guardOf: guards.of, log, clock })
  const waiting = limits.exchanges_waiting
  return {
    db,
    records: ownRecords(db),
    directory: createDirectory(db, log, clock),
    tokens: createTokens(keys.tokens, { lifetime: limits.token_lifetime }, clock),
    quota: createQuota({ limits, metrics, take: (asked) => takeTokens(db, asked) }),
    searchPlaces: createSearchPlaces({ places: db.searches.options.max, patience: limits.search_timeout }),
    jobSearchPlaces: createSearchPlaces({
      places: Math.min(db.jobSearches.options.max, Math.max(1, Math.floor(limits.worker_concurrency / 2))),
      patience: JOB_PATIENCE,
      putOff: { after: JOB_CROWD, behind: Math.max(1, Math.floor(limits.worker_concurrency * JOB_SHARE)) },
    }),
    openRequests: createHeldBytes(limits.open_request_bytes),
    keys,
    peerKeys: createPeerKeys(db, { fetchKeySet: keySets.get, log, clock }),
    signatureNamespaces: config.signatureNamespaces,
    callbacks: createCallbacks(db, clock),
    credentials: createCredentials(vault, guards, clock),
    breakers: createBreakers(db),
    lanes: createLanes(),
    retrySchedule: config.retrySchedule,
    guards,
    exchanges: createExchangeMemory(db, { waiting }),
    ciphertexts: createCiphertextMemory(db, { waiting }),
    inbox: createInbox(db, { waiting }),
    dayUses: createDayUses(db),
    bodies: createBodies(db, vault),
    reading: createReadingThreads(),
    limits,
    log,
    metrics,
    databaseHealth,
    gate: createGate({
      refusals: createRefusals({ log, metrics }),
      metrics,
      failures: createThrottle(limits.address_failures),
      clientAddress: clientAddressReader({ behindProxy: config.behindTlsProxy, proxies: config.proxies }),
    }),
    slowSearches: createSlowSearchNotes({
      slow: limits.slow_search,
      save: (rows) => addSlowSearches(db, rows),
      onFailure: (error) =>
        log.warn(
          { database: safeDatabaseError(error) },
          'slow searches could not be noted; tried again soon',
        ),
    }),
  }
}
