/** The regular background tasks of every node. Several nodes may do them at the same time. */
import { hostname } from 'node:os'
import { deleteExpiredConsents } from '@rollcall/consents/store/consent-uses'
import { bodyKeyRetentionSeconds, eventRetentionSeconds, OPERATOR_TOKEN_RETENTION_DAYS } from '@rollcall/core/model/retention'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import { storeJournalReport } from '@rollcall/database/journal-reports'
import { StoreUnavailable } from '@rollcall/database/refusal'
import { withTransaction } from '@rollcall/database/transaction'
import { deleteIdleBreakers } from '@rollcall/delivery/store/deliveries/breakers'
import { closeStaleMailboxes } from '@rollcall/delivery/store/events/closing'
import { endUnconsentedSubscriptions } from '@rollcall/delivery/store/events/consent-stopping'
import { deleteSentEventDocuments, forgetEvents } from '@rollcall/delivery/store/events/forgetting'
import { expireSubscriptions, takeUnloggedSuspensions } from '@rollcall/delivery/store/events/subscription-states'
import { type StoreReferenceIdsDeps, storeMissingReferenceIds } from '@rollcall/engine/operations/references'
import { applyScheduledStatuses, type ScheduledStatusDeps } from '@rollcall/engine/operations/scheduled-statuses'
import {
  clearAnsweredRecordIds,
  countOldQueuedWork,
  forgetExchanges,
  forgetInbox,
} from '@rollcall/engine/store/exchanges/forget-exchanges'
import { destroyBodyKeys } from '@rollcall/keys/store/body-keys'
import type { SchemaVersionWatch } from '@rollcall/observe/schema'
import { sessionTimeBounds } from '@rollcall/participants/directory/sessions'
import { deleteOldQuotaUse } from '@rollcall/participants/store/grant-use'
import { forgetEndedOperatorTokens } from '@rollcall/participants/store/operator-tokens'
import { lapseAndDeleteProposals } from '@rollcall/participants/store/proposals'
import { deleteEndedSessions } from '@rollcall/participants/store/sessions'
import { closeRemovedSources } from '@rollcall/records/records/registry-records'
import { listRegistries } from '@rollcall/records/registries/registries'
import { findMirrorRemains } from '@rollcall/source/store/changed-sources'

const HOUSEKEEPING_PERIOD_MS = 60_000
type ChoreDeps = StoreReferenceIdsDeps & ScheduledStatusDeps & { readonly schema: Pick<SchemaVersionWatch, 'check'> }

/** Starts the regular tasks. The returned function stops them and waits for running ones. */
export function startHousekeeping(deps: ChoreDeps): () => Promise<void> {
  const stopping = new AbortController()
  const clean = (): Promise<void> => runHousekeeping(deps, stopping.signal)
  // All tasks run at the start: an earlier version may have accepted exchanges without storing the reference_ids of their items.
  let working = clean()
  let minutes = 0
  const timer = setInterval(() => {
    minutes += 1
    const due = CHORES.filter(({ every }) => minutes % every === 0)
    working = working.then(() => doChores(due, deps, stopping.signal))
  }, HOUSEKEEPING_PERIOD_MS)
  return () => {
    stopping.abort()
    clearInterval(timer)
    return working
  }
}

interface Chore {
  /** Minutes between two runs. Tasks for which a delay does no harm run rarely, because a run costs statements. */
  readonly every: number
  /** The log message when the task fails. */
  readonly failure: string
  readonly run: (deps: ChoreDeps, signal: AbortSignal) => Promise<void>
}

/** The tasks in order. A task that fails does not stop the next one. */
const CHORES: readonly Chore[] = [
  { every: 1, failure: 'the version of the schema could not be read', run: async ({ schema }) => void (await schema.check()) },
  { every: 1, failure: 'the state of the journal could not be reported; tried again soon', run: storeJournalProblem },
  {
    every: 1,
    failure: 'references of earlier exchanges could not be stored; tried again soon',
    run: storeAllMissingReferenceIds,
  },
  {
    every: 1,
    failure: 'subscriptions whose end has come could not be ended; tried again soon',
    run: async ({ db, clock }) => void (await expireSubscriptions(db.pool, new Date(clock.date()))),
  },
  {
    every: 1,
    failure: 'subscriptions whose consent does not hold could not be ended; tried again soon',
    run: async ({ db }) => void (await withTransaction(db.pool, endUnconsentedSubscriptions)),
  },
  {
    every: 10,
    failure: 'signed consents that ended could not be forgotten; tried again soon',
    run: async ({ db }) => void (await deleteExpiredConsents(db)),
  },
  {
    every: 10,
    failure: 'what earlier days had of quotas could not be forgotten; tried again soon',
    run: async ({ db }) => deleteOldQuotaUse(db),
  },
  {
    every: 1,
    failure: 'scheduled statuses of enrolments could not begin; tried again soon',
    run: async (deps, signal) => void (await applyScheduledStatuses(deps, signal)),
  },
  {
    every: 10,
    failure: 'breakers that nobody asks for could not be forgotten; tried again soon',
    run: async ({ db }) => void (await deleteIdleBreakers(db)),
  },
  { every: 10, failure: 'old messages could not be forgotten; tried again soon', run: forgetOldExchanges },
  { every: 1, failure: 'mailboxes that nobody empties could not be closed; tried again soon', run: closeAndLogStaleMailboxes },
  { every: 1, failure: 'suspended subscriptions could not be logged; tried again soon', run: logSuspensions },
  {
    every: 10,
    failure: 'old events could not be forgotten; tried again soon',
    run: async ({ db, limits, log }) => logDeletedMessageCount(log, await forgetEvents(db, eventRetentionSeconds(limits))),
  },
  {
    every: 10,
    failure: 'operator tokens that ended could not be deleted; tried again soon',
    run: async ({ db, clock }) =>
      void (await forgetEndedOperatorTokens(db, OPERATOR_TOKEN_RETENTION_DAYS, new Date(clock.date()))),
  },
  {
    every: 10,
    failure: 'proposals that lapsed could not be noted; tried again soon',
    run: async ({ db, clock }) => lapseAndDeleteProposals(db, OPERATOR_TOKEN_RETENTION_DAYS, new Date(clock.date())),
  },
  {
    every: 10,
    failure: 'sessions that ended could not be deleted; tried again soon',
    run: async ({ db, limits, clock }) => {
      await deleteEndedSessions(db, sessionTimeBounds(limits, clock.date()))
    },
  },
  {
    every: 1,
    failure: 'what was answered and delivered could not be cleared; tried again soon',
    run: async ({ db }) => {
      await clearAnsweredRecordIds(db)
      await deleteSentEventDocuments(db)
    },
  },
  {
    every: 10,
    failure: 'old callbacks could not be forgotten; tried again soon',
    run: async ({ db, limits, log }) => logDeletedMessageCount(log, await forgetInbox(db, limits.inbox_retention)),
  },
  { every: 1, failure: 'what sources have left could not be cleared away; tried again soon', run: clearFormerMirrorRemains },
  {
    // This task comes last: tasks above delete the messages that the destroyed keys encrypt.
    every: 10,
    failure: 'the keys of old days could not be destroyed; tried again soon',
    run: async ({ db, limits, log }) => {
      const days = await destroyBodyKeys(db, bodyKeyRetentionSeconds(limits))
      if (days > 0) log.info({ days }, 'keys of days destroyed: what is left of their messages cannot be read')
    },
  },
]

/** Runs all tasks once, until `signal` is aborted. Never rejects: a failure is logged. */
export const runHousekeeping = (deps: ChoreDeps, signal: AbortSignal): Promise<void> => doChores(CHORES, deps, signal)

async function doChores(chores: readonly Chore[], deps: ChoreDeps, signal: AbortSignal): Promise<void> {
  for (const { failure, run } of chores) {
    if (signal.aborted) return
    try {
      await run(deps, signal)
    } catch (error) {
      deps.log.warn({ database: safeDatabaseError(error) }, failure)
    }
  }
}

/** Stores what is wrong with the journal file, or null. `doctor` reads it: its user may have no right to open the file. */
async function storeJournalProblem({ db, log }: ChoreDeps): Promise<void> {
  const { path } = db.journal
  if (path === null) return
  const problem = await db.journal.examine().then(
    () => null,
    (error: unknown) => {
      if (error instanceof StoreUnavailable) return error.message
      throw error
    },
  )
  if (problem !== null) log.error({ problem }, 'erasures and revocations are refused')
  await storeJournalReport(db, { machine: hostname(), path, problem })
}

/**
 * Closes this node's connections to the sources of removed registries. Then removes what former mirrors have left: replication
 * slots in their source databases, and copies of records that searches now read from the source.
 */
async function clearFormerMirrorRemains({ db, log }: ChoreDeps): Promise<void> {
  closeRemovedSources(db, await listRegistries(db))
  const left = await findMirrorRemains(db.pool)
  if (left.length === 0) return
  // This module is imported here because it needs the drivers of all databases.
  const { removeMirrorRemains } = await import('@rollcall/source/mirror/left-sources')
  await removeMirrorRemains({ db, log, env: process.env, registries: () => listRegistries(db) }, left)
}

/** The most exchanges whose requests one call of `storeMissingReferenceIds` decrypts. */
const MOST_OPENED_EXCHANGES = 50

async function storeAllMissingReferenceIds(deps: ChoreDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await storeMissingReferenceIds(deps, MOST_OPENED_EXCHANGES)) === MOST_OPENED_EXCHANGES);
}

/**
 * Deletes exchanges at the end of their retention. Before that, logs how many were not answered completely, and how many
 * deliveries are still pending.
 */
async function forgetOldExchanges({ db, limits, log }: ChoreDeps): Promise<void> {
  const unfinished = await countOldQueuedWork(db, limits.exchange_retention)
  if (unfinished.exchanges + unfinished.deliveries > 0) {
    log.error(unfinished, 'messages that were never answered, or never taken, are older than their retention')
  }
  logDeletedMessageCount(log, await forgetExchanges(db, limits.exchange_retention))
}

/**
 * Closes mailboxes whose notifications cannot be delivered, and logs each: the operator should ask the participant what is wrong.
 */
async function closeAndLogStaleMailboxes({ db, limits, log }: ChoreDeps): Promise<void> {
  for (const closed of await closeStaleMailboxes(db, limits.notification_retention)) {
    log.error(closed, 'a mailbox is closed: its notifications could not be delivered; its subscriptions are suspended')
  }
}

/** Logs suspended subscriptions, each once, except those of closed mailboxes, which `closeAndLogStaleMailboxes` logs. */
async function logSuspensions({ db, log }: ChoreDeps): Promise<void> {
  for (;;) {
    const found = await takeUnloggedSuspensions(db.pool)
    if (found.length === 0) return
    for (const suspended of found) log.error(suspended, 'subscriptions are suspended')
  }
}

function logDeletedMessageCount(log: ChoreDeps['log'], forgotten: number): void {
  if (forgotten > 0) log.info({ forgotten }, 'old messages forgotten')
}
