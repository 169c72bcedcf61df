/** Makes the parts of a server and connects them. */

import { createVerificationTask } from '@rollcall/admin/audit/verification'
import { EXPIRING_DAYS } from '@rollcall/admin/grants/health'
import { createIndexBuilder } from '@rollcall/admin/registries/index-build'
import type { HasSamples } from '@rollcall/admin/registries/samples'
import { createAuditLog } from '@rollcall/audit/audit-log'
import { failClosed } from '@rollcall/audit/fail-closed'
import { createPseudonymMaker } from '@rollcall/audit/persons'
import { createRefusalEntryWriter } from '@rollcall/audit/refusal-entries'
import { readNewestEntryTime } from '@rollcall/audit/store/open-chains'
import { refuseDatabaseBehindJournal } from '@rollcall/backup/journal/journal'
import { refuseUnfinishedRestore } from '@rollcall/backup/store/restorations'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { createLoopWake } from '@rollcall/base/shared/wake'
import { createAuthorityKeyFinder } from '@rollcall/consents/authority-keys'
import { createConsentChecks } from '@rollcall/consents/consents'
import type { Limits } from '@rollcall/core/limits'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { readSchemaVersions } from '@rollcall/database/schema-version'
import { createBreakerReader } from '@rollcall/delivery/delivery/breaker'
import { createCredentialsFinder } from '@rollcall/delivery/delivery/credentials'
import { createDispatcher } from '@rollcall/delivery/delivery/dispatcher'
import { createLimiter } from '@rollcall/delivery/delivery/limiter'
import { callbackNamed, hasCallbackTarget } from '@rollcall/delivery/delivery/targets'
import { createMailboxDrainer } from '@rollcall/delivery/notify/drain-mailboxes'
import { readDeliveryHealth } from '@rollcall/delivery/store/deliveries/breakers'
import { outboxHealth } from '@rollcall/delivery/store/events/outbox'
import { createAcceptanceSlots } from '@rollcall/engine/exchange/acceptance-slots'
import type { SearchLimitsByMode } from '@rollcall/engine/operations/item'
import { ANSWERED_REQUESTS_SQL } from '@rollcall/engine/store/exchanges/accepted-exchanges'
import { countWaitingExchanges } from '@rollcall/engine/store/exchanges/claims'
import { createReceivedMessageStore } from '@rollcall/engine/store/exchanges/exchanges'
import { createInbox } from '@rollcall/engine/store/exchanges/inbox'
import { createReceivedCiphertextStore } from '@rollcall/engine/store/exchanges/sealed-messages'
import { createBodyEncryption } from '@rollcall/keys/bodies'
import { ensureAndLoadOwnKeys, type OwnKeys } from '@rollcall/keys/own-keys'
import type { Vault } from '@rollcall/keys/vault'
import { createDatabaseHealth } from '@rollcall/observe/health'
import { createLog, type Log } from '@rollcall/observe/log'
import { createMetrics, type Metrics } from '@rollcall/observe/metrics'
import { createRefusalRecorder } from '@rollcall/observe/refusals'
import { createSchemaVersionWatch } from '@rollcall/observe/schema'
import { createDayStorageUseReader } from '@rollcall/participants/admission/day-limits'
import { createGrantQuota } from '@rollcall/participants/admission/grant-quota'
import { createQuota } from '@rollcall/participants/admission/quota'
import { createSearchSlots } from '@rollcall/participants/admission/search-slots'
import { createThrottle } from '@rollcall/participants/admission/throttle'
import { createCallbackSettingsReader, createDirectory } from '@rollcall/participants/directory/directory'
import { createGrantReader } from '@rollcall/participants/directory/grants'
import { createOpenIdProvider } from '@rollcall/participants/directory/openid-provider'
import { createOperatorTokenChecker } from '@rollcall/participants/directory/operators'
import { createOperatorSessionStore, createPartnerSessionStore } from '@rollcall/participants/directory/sessions'
import { createAccessTokenIssuer } from '@rollcall/participants/directory/tokens'
import { createParticipantGuards } from '@rollcall/participants/egress/address-guard'
import { createReadingThreads } from '@rollcall/participants/reading/threads'
import { findGrantsAndKeysEndingSoon } from '@rollcall/participants/store/ends'
import { MOST_CALLBACK_CONCURRENCY } from '@rollcall/participants/store/participant-callbacks'
import { takeTokens } from '@rollcall/participants/store/quotas'
import { createKeySetFetcher } from '@rollcall/participants/trust/key-sets'
import { createPeerKeys } from '@rollcall/participants/trust/peer-keys'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { baseUrl } from '@rollcall/settings/addresses'
import type { Config, NodeRole } from '@rollcall/settings/config'
import { listNodeSettings } from '@rollcall/settings/settings'
import { filesCheckedByDoctor, openVault } from '@rollcall/settings/storage'
import { readMirrorsHealth } from '@rollcall/source/store/mirrors'
import { createCookieGuessLimiter } from '../http/cookie-failures.ts'
import { clientAddressReader, createRequestGate } from '../http/request-gate.ts'
import { createPeersListenerClient, type PeersListenerClientWithAddress } from './own-listener.ts'

/**
 * Makes all parts of a server. Makes own keys that are missing, which takes about a second at the first start.
 * @param deps.log the server's log; by default standard error
 * @param deps.clock the clock of most parts; by default that of the system
 * @param deps.samples synthetic records of a kind, for previews of grants and examples of records; none by default
 * @throws MasterKeyError the master key is missing or wrong, or an own key cannot be decrypted; StoreRefusal a restore of the
 * database is unfinished, the database is older than its journal, or the journal is unreadable or belongs to another database
 */
export async function createContext(
  config: Config,
  db: Database,
  deps: { log?: Log; clock?: Clock; samples?: HasSamples['samples'] } = {},
) {
  const { log = createLog({ level: config.logLevel }), clock = SYSTEM_CLOCK, samples = () => [] } = deps
  // This check comes first: a server writes nothing into a database that is being restored.
  await refuseUnfinishedRestore(db)
  if (config.journal !== undefined) await refuseDatabaseBehindJournal(db, config.journal, await readNewestEntryTime(db.pool))
  const vault = await openVault(config, db)
  const keys = await ensureAndLoadOwnKeys(db, vault, log, clock)
  const base: ContextBaseDeps = { config, db, log, clock, limits: config.limits, vault }
  const observing = createMonitoringParts(base)
  const delivering = createDeliveryParts(base, keys, observing.metrics)
  const ownListener = createPeersListenerClient()
  return {
    ...delivering,
    ...createWorkerParts(config, delivering),
    ...observing,
    ...createAdminParts(base),
    ...createPartnerPageParts(base, ownListener),
    ...createRequestParts(base, delivering),
    samples,
    settings: listNodeSettings(config),
    ownListener,
    judged: { config, files: filesCheckedByDoctor(config) },
    vault: () => Promise.resolve(vault),
    tokens: createAccessTokenIssuer(keys.tokens, { lifetime: ACCESS_TOKEN_LIFETIME_SECONDS }, clock),
    limits: config.limits,
  }
}

/** The parts from which all other parts of a server are made. */
interface ContextBaseDeps {
  readonly config: Config
  readonly db: Database
  readonly log: Log
  readonly clock: Clock
  readonly limits: Limits
  readonly vault: Vault
}

/** Makes the metrics, and the health of the database and of its schema. */
function createMonitoringParts({ db, log, clock }: ContextBaseDeps) {
  const databaseHealth = createDatabaseHealth({
    log,
    read: () => db.pool.query('SELECT 1'),
    write: () => takeTokens(db, { bucket: 'ready', rate: 1, capacity: 1, wanted: 1 }),
  })
  const schema = createSchemaVersionWatch({ log, read: () => readSchemaVersions(db.kysely) })
  const connections = () => ({ total: db.pool.totalCount, idle: db.pool.idleCount, waiting: db.pool.waitingCount })
  const stored = {
    deliveries: () => readDeliveryHealth(db),
    outbox: () => outboxHealth(db),
    exchanges: () => countWaitingExchanges(db),
    ends: () => findGrantsAndKeysEndingSoon(db, EXPIRING_DAYS),
    mirrors: () => readMirrorsHealth(db),
    schema: schema.check,
  }
  return { databaseHealth, schema, metrics: createMetrics(connections, databaseHealth.breaker, stored, clock) }
}

/** Makes the parts that create answers and send them to peers. */
function createDeliveryParts({ config, db, log, clock, limits, vault }: ContextBaseDeps, keys: OwnKeys, metrics: Metrics) {
  // A guard gets as many connections as its participant may have delivery attempts at the same time.
  const guards = createParticipantGuards({ connections: MOST_CALLBACK_CONCURRENCY })
  const keySets = createKeySetFetcher({ guardOf: guards.of, log, clock })
  const { witness } = config
  const auditLog = createAuditLog({ db, clock, limits, log, metrics, witness, vault: async () => vault })
  return {
    db,
    log,
    metrics,
    keys,
    clock,
    guards,
    auditLog: failClosed(auditLog, { log }),
    directory: createDirectory(db, log, clock),
    grants: createGrantReader(db, log, clock),
    callbacks: createCallbackSettingsReader(db, clock),
    bodies: createBodyEncryption(db, vault),
    grantQuota: createGrantQuota(db, metrics),
    breakers: createBreakerReader(db),
    limiter: createLimiter(clock.now),
    credentials: createCredentialsFinder(vault, guards, clock),
    peerKeys: createPeerKeys(db, { fetchKeySet: keySets.get, log, clock }),
    signatureNamespaces: config.signatureNamespaces,
    retrySchedule: config.retrySchedule,
    requests: ANSWERED_REQUESTS_SQL,
  }
}

type DeliveryParts = ReturnType<typeof createDeliveryParts>

/**
 * Makes the loops that send deliveries and notifications, the signals that wake the worker's loops, and `acceptanceSlots`, by
 * which this node reserves a slot of its worker for a request that it accepts.
 */
function createWorkerParts({ limits, role }: Config, delivering: DeliveryParts) {
  const exchangesWake = createLoopWake()
  const deliveriesWake = createLoopWake()
  const mailboxesWake = createLoopWake()
  const dispatcher = createDispatcher(
    { ...delivering, mailboxDue: (mailbox) => mailboxes.due([mailbox]) },
    { slots: Math.ceil(limits.worker_concurrency / 2), wake: deliveriesWake.raise },
  )
  const mailboxes = createMailboxDrainer(
    { ...delivering, deliveryDue: dispatcher.due, envelopeBytes: createSemaphore(MOST_TOTAL_NOTIFICATION_BYTES) },
    { slots: Math.max(1, Math.ceil(limits.worker_concurrency * MAILBOX_CONCURRENCY_SHARES[role])), wake: mailboxesWake.raise },
  )
  return {
    exchangesWake,
    acceptanceSlots: createAcceptanceSlots(),
    deliveriesWake,
    mailboxesWake,
    outboxWake: createLoopWake(),
    sourcesWake: createLoopWake(),
    dispatcher,
    mailboxes,
    exchangeAccepted: exchangesWake.raise,
    deliveryDue: dispatcher.due,
    mailboxDue: (mailbox: number) => mailboxes.due([mailbox]),
  }
}

/** Makes the parts that the admin API needs. */
function createAdminParts({ config, db, log, clock, limits, vault }: ContextBaseDeps) {
  return {
    operators: createOperatorTokenChecker(db, clock),
    indexing: createIndexBuilder({ db, log }),
    verifying: createVerificationTask({ db, log, vault: () => Promise.resolve(vault) }),
    sessions: createOperatorSessionStore(db, { limits, clock, issuer: config.openId?.issuer ?? null }),
    openId: config.openId === null ? null : createOpenIdProvider(config.openId, { log }),
    twoPerson: config.twoPerson,
    signInFailures: createThrottle(MOST_SIGN_IN_FAILURES, clock.now),
    cookieFailures: createCookieGuessLimiter(createThrottle(limits.address_failures, clock.now)),
  }
}

/** Makes the parts that the partner page and its API need. */
function createPartnerPageParts({ config, db, clock, limits }: ContextBaseDeps, ownListener: PeersListenerClientWithAddress) {
  return {
    partnerPage: {
      isOn: config.partnerPage,
      base: () => config.publicUrl ?? ownListener.address() ?? baseUrl(config, config.port),
    },
    partnerSessions: createPartnerSessionStore(db, { limits, clock }),
    partnerCalls: createThrottle(MOST_PARTNER_PAGE_CALLS, clock.now),
    partnerReplays: createThrottle(MOST_PARTNER_DELIVERY_REPLAYS, clock.now),
  }
}

/** Makes the parts that receive requests of peers and answer them. */
function createRequestParts({ config, db, log, clock, limits, vault }: ContextBaseDeps, delivering: DeliveryParts) {
  const { metrics, auditLog } = delivering
  const waiting = MOST_MESSAGES_TO_STORE
  const turns = createSemaphore(1)
  const authorityGuards = createParticipantGuards()
  const pseudonyms = createPseudonymMaker(db, () => Promise.resolve(vault))
  const refusals = createRefusalRecorder({ log, metrics, auditLog: createRefusalEntryWriter(auditLog, clock.date) })
  return {
    recordsOf: (registry: { readonly id: number }) => recordsOf(db, registry).source,
    canNotify: async (participant: Participant, sender_uri: string | null) =>
      hasCallbackTarget(await delivering.callbacks.of(participant), sender_uri, callbackNamed('notify')),
    authorityGuards,
    pseudonyms,
    consents: createConsentChecks(db, {
      keys: createAuthorityKeyFinder({ guardOf: authorityGuards.of, log, clock }),
      pseudonyms,
      clock,
    }),
    quota: createQuota({ limits, metrics, turns, take: (asked) => takeTokens(db, asked) }),
    modes: createSearchLimitsByMode(db, limits),
    turns,
    exchanges: createReceivedMessageStore(db, { waiting }),
    ciphertexts: createReceivedCiphertextStore(db, { waiting }),
    inbox: createInbox(db, { waiting }),
    dayUses: createDayStorageUseReader(db, clock),
    reading: createReadingThreads(),
    refusals,
    requestGate: createRequestGate({
      refusals,
      metrics,
      failures: createThrottle(limits.address_failures),
      clientAddress: clientAddressReader({ behindProxy: config.behindTlsProxy, proxies: config.proxies }),
    }),
  }
}

/** The most failed sign-ins a minute from one address (IPv6: one /64): a person mistypes a token or code a few times. */
const MOST_SIGN_IN_FAILURES = 10

/** The most calls of the partner page a minute for one participant: its people have pages that reload themselves. */
const MOST_PARTNER_PAGE_CALLS = 300

/** The most deliveries that a participant may have sent again in a minute: as many as one page lists. */
const MOST_PARTNER_DELIVERY_REPLAYS = 100

/** Seconds for which an access token is valid (15 minutes). */
const ACCESS_TOKEN_LIFETIME_SECONDS = 900

/**
 * The most exchanges that wait on this node until they are stored. The same number, counted apart, limits the received callbacks,
 * and the fingerprints (digests) of received ciphertexts, that wait to be stored. Beyond a limit, peers must try again.
 */
const MOST_MESSAGES_TO_STORE = 10_000

/**
 * The most mailboxes that a node drains at a time, as a share of `worker_concurrency`, rounded up. A node with the role `http`
 * drains none.
 */
const MAILBOX_CONCURRENCY_SHARES: Readonly<Record<NodeRole, number>> = { http: 0, all: 1 / 12, worker: 1 / 2 }

/** The most bytes of records in all notifications that this node makes at a time. */
const MOST_TOTAL_NOTIFICATION_BYTES = 33_554_432

/** Makes the limits of searches in each mode. Each mode has slots and connections of its own, so none waits for the other. */
const createSearchLimitsByMode = ({ searches, asyncSearches }: Database, limits: Limits): SearchLimitsByMode => ({
  sync: {
    name: 'sync',
    searchSlots: createSearchSlots({ slots: searches.options.max, timeout: limits.search_timeout }),
    searchTime: limits.batch_search_time,
  },
  async: {
    name: 'async',
    searchSlots: createSearchSlots({ slots: asyncSearches.options.max, timeout: null }),
    searchTime: limits.snapshot_search_time,
  },
})

/** All parts of a server. */
export type Context = Awaited<ReturnType<typeof createContext>>
