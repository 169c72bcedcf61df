/** Removing a registry or a participant, with what is stored of it. Accounts of access and public keys stay. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  closeForRemoval,
  countPending,
  countStored,
  holdsOf,
  type Pending,
  type Removable,
  removeParticipantRow,
  removeRegistryRow,
  removeRows,
} from '@rollcall/database/removal'
import { countRecords } from '@rollcall/records/records/record-counts'
import { registryAt } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { accountOperator } from './accounts/operator-looks.ts'
import { closed, flag, Namespace, SenderId, wholeNumber } from './members.ts'
import type { HasAccounts } from './needs.ts'
import { participantNamed } from './participants/participants.ts'
import { AdminRefusal, useCase } from './use-case.ts'

const OPTIONS = {
  end: Type.Optional(flag('End what is pending, instead of refusing.')),
  dry_run: Type.Optional(flag('Only count.')),
} as const

const RESULT = {
  dry_run: flag('Whether nothing was removed.'),
  pending: closed({
    subscriptions: wholeNumber('Subscriptions that have not ended.'),
    requests: wholeNumber('Accepted requests that are not answered.'),
    deliveries: wholeNumber('Deliveries that are not delivered.'),
    outbox: wholeNumber('Rows of the outbox that are to be published.'),
  }),
  stored: Type.Record(Type.String(), Type.Integer(), {
    description:
      'How much of it is stored: grants, secrets, subscriptions, messages, deliveries and so on. All of it goes, but public keys stay.',
  }),
} as const

export interface RemovalNeeds extends HasAccounts {
  /** How running servers are given time to follow. */
  readonly pause?: (milliseconds: number) => Promise<unknown>
}

/** Milliseconds after which every running server knows that nobody asks any more. */
const FOLLOWING = 2_000

/** Removes a registry with its records. Nobody is notified of it. When it is cut short, it is called again. */
export const removeRegistry = useCase(
  {
    input: closed({ namespace: Namespace, ...OPTIONS }),
    result: closed({
      namespace: Namespace,
      ...RESULT,
      records: Type.Record(Type.String(), Type.Integer(), { description: 'How many there were, by record type.' }),
    }),
  },
  async (needs: RemovalNeeds, { namespace, end = false, dry_run = false }) => {
    const registry = await registryAt(needs.db, namespace)
    const records = await countRecords(needs.db, registry)
    const what = { removable: 'registry', id: registry.id, name: namespace } as const
    const stored = await countStored(needs.db, 'registry', registry.id)
    const pending = await remove(needs, what, { end, dry_run, row: removeRegistryRow })
    return { namespace, dry_run, pending, stored, records }
  },
)

/** Removes a participant with its grants, keys and secrets. When it is cut short, it is called again. */
export const removeParticipant = useCase(
  { input: closed({ sender_id: SenderId, ...OPTIONS }), result: closed({ sender_id: SenderId, ...RESULT }) },
  async (needs: RemovalNeeds, { sender_id, end = false, dry_run = false }) => {
    const { id } = await participantNamed(needs.db, sender_id)
    const what = { removable: 'participant', id, name: sender_id } as const
    const stored = await countStored(needs.db, 'participant', id)
    const pending = await remove(needs, what, { end, dry_run, row: removeParticipantRow })
    return { sender_id, dry_run, pending, stored }
  },
)

/** What the journal says was removed is removed again, before a server runs on the restored database. */
export async function removeAgain(db: RemovalNeeds['db'], removable: Removable, id: number): Promise<void> {
  await closeForRemoval(db, removable, id)
  await removeRows(db, removable, id)
  await ROWS[removable](db, id)
}

const ROWS = { registry: removeRegistryRow, participant: removeParticipantRow } as const

async function remove(
  needs: RemovalNeeds,
  { removable, id, name }: { readonly removable: Removable; readonly id: number; readonly name: string },
  how: { readonly end: boolean; readonly dry_run: boolean; readonly row: typeof removeRegistryRow },
): Promise<Pending> {
  const { db, pause = sleep } = needs
  const pending = await countPending(db, removable, id)
  if (how.dry_run) return pending
  const [hold] = await holdsOf(db, removable, name)
  if (hold !== undefined) {
    throw new AdminRefusal(`hold ${hold} is in force: nothing of ${name} is removed until it ends`, {
      reason: 'conflict',
    })
  }
  if (!how.end) refusePending(name, pending)
  await accountOperator(needs, { note: `${removable} remove`, registry: removable === 'registry' ? name : undefined })
  const reopen = await closeForRemoval(db, removable, id)
  await pause(FOLLOWING)
  try {
    // What came until every server knew.
    if (!how.end) refusePending(name, await countPending(db, removable, id))
  } catch (error) {
    await reopen()
    throw error
  }
  // Behind the last check: a restore does again what the journal names.
  await db.journal.write({ kind: 'removed', removable, name }, async () => {
    await removeRows(db, removable, id)
    await how.row(db, id)
  })
  return pending
}

/** @throws AdminRefusal somebody waits for something */
function refusePending(name: string, pending: Pending): void {
  const waiting = Object.entries(pending).filter(([, count]) => count > 0)
  if (waiting.length === 0) return
  const counts = waiting.map(([what, count]) => `${what} ${count}`).join(', ')
  throw new AdminRefusal(`${name} is still in use (${counts}): let it end, or end it with --end (end in the input)`, {
    reason: 'conflict',
  })
}
