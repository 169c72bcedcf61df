/** Releases the outgoing messages of a restored database. Servers do not send these messages before the release. */

import { areMessagesHeldByRestore, releaseMessagesHeldByRestore } from '@rollcall/backup/store/restorations'
import type { Participant } from '@rollcall/core/model/participant'
import { cancelMessagesHeldByRestore, countMessagesHeldByRestore } from '@rollcall/engine/store/exchanges/held-messages'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, SenderId, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'

/**
 * Releases the held messages, and drops those to the participants in `cancel`. A receiver recognises a message that it got before
 * the restore: its message_id is the same.
 */
export const releaseRestored = defineAct(
  {
    name: 'restore release',
    approval: 'never',
    input: closed({
      cancel: Type.Optional(Type.Array(SenderId, { description: 'Participants to whom nothing of it is sent.' })),
      dry_run: Type.Optional(flag('Only count.')),
    }),
    result: closed({
      dry_run: flag('Whether nothing was released.'),
      participants: Type.Array(
        closed({
          participant: SenderId,
          deliveries: wholeNumber('Messages that are made.'),
          attempted: wholeNumber('Of them, those that were attempted before the snapshot.'),
          notifications: wholeNumber('Items of notifications that are not in a message yet.'),
          requests: wholeNumber('Accepted requests that are to be answered.'),
          cancelled: flag('Whether nothing of it is sent.'),
        }),
      ),
    }),
  },
  async ({ db }: HasDatabase, { cancel = [], dry_run = false }) => {
    if (!(await areMessagesHeldByRestore(db))) {
      throw new AdminRefusal('nothing is held: the database was not restored, or was released before', { reason: 'conflict' })
    }
    const toCancel: Participant[] = []
    for (const sender_id of new Set(cancel)) toCancel.push(await requireParticipant(db, sender_id))
    const held = await countMessagesHeldByRestore(db)
    if (!dry_run) {
      for (const { id } of toCancel) await cancelMessagesHeldByRestore(db, id)
      await releaseMessagesHeldByRestore(db.pool)
    }
    return {
      dry_run,
      participants: held.map((one) => ({ ...one, cancelled: toCancel.some(({ sender_id }) => sender_id === one.participant) })),
    }
  },
)
