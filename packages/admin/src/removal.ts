/** Removes a registry or a participant with its stored data. The audit log and public keys stay. */

import { setTimeout as sleep } from 'node:timers/promises'
import { CONSENT_ROWS_TO_REMOVE, storeSenderIdInWithdrawals } from '@rollcall/consents/store/removed-consents'
import type { Database } from '@rollcall/database/database'
import { holdIdsAgainstRemoval } from '@rollcall/database/holds'
import { countRowsOfPackages, type Removable, type RowsStoredByPackage, removeRows } from '@rollcall/database/removal'
import { withTransaction } from '@rollcall/database/transaction'
import {
  deliveryRowsToRemove,
  EVENT_ROWS_TO_REMOVE,
  subscriptionRowsToRemove,
} from '@rollcall/delivery/store/events/removed-deliveries'
import { exchangeRowsToRemove } from '@rollcall/engine/store/exchanges/removed-exchanges'
import { closeRegistryOrParticipant } from '@rollcall/participants/store/closing-for-removal'
import { PARTICIPANT_ROWS_TO_REMOVE, removeParticipantRow } from '@rollcall/participants/store/removed-participants'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { RECORD_ROWS_TO_REMOVE, removeRegistryAndRecords } from '@rollcall/records/registries/removed-registries'
import { SOURCE_ROWS_TO_REMOVE } from '@rollcall/source/store/mirrors'
import Type, { type Static } from 'typebox'
import { defineAct } from './act.ts'
import { AdminRefusal } from './admin-function.ts'
import type { HasDatabase } from './deps.ts'
import { closed, flag, Namespace, SenderId, wholeNumber } from './members.ts'
import { requireParticipant } from './participants/participants.ts'
import { countStoredRecords } from './registries/registries.ts'

const REMOVAL_INPUT = {
  end: Type.Optional(flag('End what is pending, instead of refusing.')),
  dry_run: Type.Optional(flag('Only count.')),
} as const

/** The unfinished work of the registry or participant that is to be removed. */
const PendingWork = closed({
  subscriptions: wholeNumber('Subscriptions that have not ended.'),
  requests: wholeNumber('Accepted requests that are not answered.'),
  deliveries: wholeNumber('Deliveries that are not delivered.'),
  outbox: wholeNumber('Rows of the outbox that are to be published.'),
})
type PendingWork = Static<typeof PendingWork>

const REMOVAL_RESULT = {
  dry_run: flag('Whether nothing was removed.'),
  pending: PendingWork,
  stored: Type.Record(Type.String(), Type.Integer(), {
    description:
      'How much of it is stored: grants, secrets, subscriptions, messages, deliveries and so on. All of it goes, but public keys stay.',
  }),
} as const

export interface RemovalDeps extends HasDatabase {
  /** Waits until running servers know of the removal. Tests pass a function of their own. */
  readonly pause?: (milliseconds: number) => Promise<unknown>
}

const messageRowsToRemove = (removable: Removable): readonly RowsStoredByPackage[] => [
  deliveryRowsToRemove(removable),
  exchangeRowsToRemove(removable),
  subscriptionRowsToRemove(removable),
]

/**
 * The rows that are deleted, package by package, in this order. After them the row of the registry or participant is deleted,
 * with the rows that depend on it. Audit entries, holds, withdrawals of consent and public keys stay.
 */
export const PACKAGE_ROWS_TO_REMOVE: Readonly<Record<Removable, readonly RowsStoredByPackage[]>> = {
  registry: [
    ...messageRowsToRemove('registry'),
    EVENT_ROWS_TO_REMOVE,
    PARTICIPANT_ROWS_TO_REMOVE.registry,
    SOURCE_ROWS_TO_REMOVE,
    RECORD_ROWS_TO_REMOVE,
  ],
  participant: [...messageRowsToRemove('participant'), CONSENT_ROWS_TO_REMOVE, PARTICIPANT_ROWS_TO_REMOVE.participant],
}

/** The names of the counts in the result of a removal, in this order. */
const REMOVAL_COUNT_NAMES = ['grants', 'secrets', 'keys', 'subscriptions', 'messages', 'deliveries', 'events']

interface RemovalTarget {
  readonly removable: Removable
  readonly id: number
}

/** Counts the stored rows of a registry or a participant, by `REMOVAL_COUNT_NAMES`. */
async function countRowsOfRemovalTarget(
  db: Pick<Database, 'pool'>,
  { removable, id }: RemovalTarget,
): Promise<Readonly<Record<string, number>>> {
  const counts = await countRowsOfPackages(db, PACKAGE_ROWS_TO_REMOVE[removable], 'counted', id)
  return Object.fromEntries(REMOVAL_COUNT_NAMES.flatMap((name) => (counts[name] === undefined ? [] : [[name, counts[name]]])))
}

async function countPendingWork(db: Pick<Database, 'pool'>, { removable, id }: RemovalTarget): Promise<PendingWork> {
  const counts = await countRowsOfPackages(db, PACKAGE_ROWS_TO_REMOVE[removable], 'pending', id)
  const { subscriptions = 0, requests = 0, deliveries = 0, outbox = 0 } = counts
  return { subscriptions, requests, deliveries, outbox }
}

/** Milliseconds after which every running server knows of the removal. */
const NODES_LEARN_REMOVAL_MS = 2_000

/** Removes a registry with its records. Nobody is notified. After an interruption, call it again. */
export const removeRegistry = defineAct(
  {
    name: 'registry remove',
    approval: 'never',
    input: closed({ namespace: Namespace, ...REMOVAL_INPUT }),
    result: closed({
      namespace: Namespace,
      ...REMOVAL_RESULT,
      records: Type.Record(Type.String(), Type.Integer(), { description: 'How many there were, by record type.' }),
    }),
  },
  async (deps: RemovalDeps, { namespace, end = false, dry_run = false }) => {
    const registry = await requireRegistry(deps.db, namespace)
    const records = await countStoredRecords(deps.db, registry)
    const what = { removable: 'registry', id: registry.id, name: namespace } as const
    const stored = await countRowsOfRemovalTarget(deps.db, what)
    const pending = await checkAndRemove(deps, what, { end, dry_run })
    return { namespace, dry_run, pending, stored, records }
  },
)

/** Removes a participant with its grants and secrets; its public keys stay. After an interruption, call it again. */
export const removeParticipant = defineAct(
  {
    name: 'participant remove',
    approval: 'never',
    input: closed({ sender_id: SenderId, ...REMOVAL_INPUT }),
    result: closed({ sender_id: SenderId, ...REMOVAL_RESULT }),
  },
  async (deps: RemovalDeps, { sender_id, end = false, dry_run = false }) => {
    const { id } = await requireParticipant(deps.db, sender_id)
    const what = { removable: 'participant', id, name: sender_id } as const
    const stored = await countRowsOfRemovalTarget(deps.db, what)
    const pending = await checkAndRemove(deps, what, { end, dry_run })
    return { sender_id, dry_run, pending, stored }
  },
)

/** Repeats a removal that the journal names, before a server runs on the restored database. */
export async function repeatRemoval(db: RemovalDeps['db'], removable: Removable, id: number): Promise<void> {
  await closeRegistryOrParticipant(db, removable, id)
  await removeStoredRows(db, { removable, id })
}

async function removeStoredRows(db: Pick<Database, 'pool'>, { removable, id }: RemovalTarget): Promise<void> {
  for (const { removed } of PACKAGE_ROWS_TO_REMOVE[removable]) await removeRows(db, removed, id)
  if (removable === 'registry') return removeRegistryAndRecords(db, id)
  await withTransaction(db.pool, async (client) => {
    await storeSenderIdInWithdrawals(client, id)
    await removeParticipantRow(client, id)
  })
}

async function checkAndRemove(
  deps: RemovalDeps,
  what: RemovalTarget & { readonly name: string },
  how: { readonly end: boolean; readonly dry_run: boolean },
): Promise<PendingWork> {
  const { db, pause = sleep } = deps
  const { removable, id, name } = what
  const pending = await countPendingWork(db, what)
  if (how.dry_run) return pending
  const [hold] = await holdIdsAgainstRemoval(db, removable, name)
  if (hold !== undefined) {
    throw new AdminRefusal(`hold ${hold} is in force: nothing of ${name} is removed until it ends`, { reason: 'conflict' })
  }
  if (!how.end) refusePendingWork(name, pending)
  const reopen = await closeRegistryOrParticipant(db, removable, id)
  await pause(NODES_LEARN_REMOVAL_MS)
  try {
    // New work may have come before every server knew of the removal.
    if (!how.end) refusePendingWork(name, await countPendingWork(db, what))
  } catch (error) {
    await reopen()
    throw error
  }
  // The journal is written after the last check, because a restore repeats what the journal says.
  await db.journal.write({ kind: 'removed', removable, name }, () => removeStoredRows(db, what))
  return pending
}

/** Refuses a removal while work is pending. @throws AdminRefusal */
function refusePendingWork(name: string, pending: PendingWork): void {
  const waiting = Object.entries(pending).filter(([, count]) => count > 0)
  if (waiting.length === 0) return
  const counts = waiting.map(([what, count]) => `${what} ${count}`).join(', ')
  throw new AdminRefusal(`${name} is still in use (${counts}): let it end, or end it with --end (end in the input)`, {
    reason: 'conflict',
  })
}
